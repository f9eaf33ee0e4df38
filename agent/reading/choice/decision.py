"""Decide from an answer's claims which option it names. Pure."""

import re
from collections.abc import Sequence

from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.rules import STATED_ANSWER
from agent.reading.statements import find_last_retraction

_OPENING = 40  # characters in which an answer that is one line states its first answer
_CLOSING = 100  # characters behind the last answer: the text of its option, marks
_REACH = 40  # characters before the last answer in which words of a conclusion may stand
_CONCLUDES = re.compile(r"(?i)\b(?:answer|option|choice|therefore|thus|hence)\b|(?:^|\n)\W*$")
_ANSWER = re.compile(r"answer", re.IGNORECASE)
_MIN_SENTENCES = 2  # of working between the two answers
_ANSWER_LINE = re.compile(r"\W{0,3}(?:(?:final|correct)\s)?answer\s?:", re.IGNORECASE)
# "Final: A" as the last line
_FINAL_LINE = re.compile(
    r"\W{0,3}(?:(?:my\s)?final(?:\s(?:answer|choice|pick|verdict|decision))?|(?:correct\s)?answer)\s?:",
    re.IGNORECASE,
)
_QUESTION_MARK = re.compile(r"[)\]\"']?\s?\?")
_SENTENCE_END = re.compile(r"[.!?:](?=\s)|\n\s*\n")


def choose_claim(claims: Sequence[OptionClaim], text: str) -> OptionClaim | None:
    """Return the claim that decides, or None if there is none or the claims contradict each other.

    After a retraction ("Wait, no, ..."), only the claims behind it count, and they must be plain.
    """
    retraction = find_last_retraction(text)
    if retraction is not None and any(claim.end <= retraction for claim in claims):
        kept = [claim for claim in claims if claim.end > retraction]
        plain = any(claim.strength >= ClaimStrength.CALLED_CORRECT for claim in kept)
        claims = kept if plain else []
    claims = _drop_opening_question(claims, text)
    if not claims:
        return None
    strongest = max(claim.strength for claim in claims)
    deciding = [claim for claim in claims if claim.strength == strongest]
    if strongest >= ClaimStrength.ANSWER:
        last = max(deciding, key=lambda claim: claim.end)
        opening = _find_other_opening(claims, last, text)
        if opening is not None:
            if not _ends_working(opening, last, text):
                return None
            deciding = [claim for claim in deciding if claim.start > opening.end]
    options = {claim.option for claim in deciding}
    if len(options) > 1 and strongest >= ClaimStrength.ANSWER and _returns_to_first(deciding, text):
        return max(deciding, key=lambda claim: claim.end)
    if len(options) > 1 or deciding[0].option < 0:
        return None
    if strongest == ClaimStrength.ANSWER:
        # "Option A is correct. The statement that is not true is option D." contradicts itself; but if several
        # options are called correct, the question asks for something else.
        called_correct = {
            claim.option for claim in claims if claim.strength == ClaimStrength.CALLED_CORRECT
        }
        if len(called_correct) == 1 and called_correct != options:
            return None
    return deciding[0]


def _drop_opening_question(claims: Sequence[OptionClaim], text: str) -> Sequence[OptionClaim]:
    """Return the claims without an option that the answer asks about first, if its last line is "Final: A"."""
    if len(claims) < 2 or not _FINAL_LINE.match(text, text.rstrip().rfind("\n") + 1):
        return claims
    first = min(claims, key=lambda claim: claim.start)
    is_asked = first.start == 0 and _QUESTION_MARK.match(text, first.end) is not None
    return [claim for claim in claims if claim is not first] if is_asked else claims


def _find_other_opening(
    claims: Sequence[OptionClaim], last: OptionClaim, text: str
) -> OptionClaim | None:
    """Return the answer in the first line, or the first words, if it differs from the last one: "A. Aspirin"."""
    opening_end = max(text.find("\n"), _OPENING)
    for claim in claims:
        is_opening = claim.end <= opening_end and claim.start <= _OPENING
        if is_opening and claim.strength >= ClaimStrength.ANSWER and claim.option != last.option:
            return claim
    return None


def _returns_to_first(claims: Sequence[OptionClaim], text: str) -> bool:
    """Return whether the last line is "Answer: A", and A was the first answer too, whatever stands between."""
    first = min(claims, key=lambda claim: claim.start)
    last = max(claims, key=lambda claim: claim.end)
    if first.option != last.option or first.option < 0 or text[last.end :].strip(" .)*"):
        return False
    last_line = text[text.rstrip().rfind("\n") + 1 :]
    sentences = _SENTENCE_END.findall(text[first.end : last.start])
    return _ANSWER_LINE.match(last_line) is not None and len(sentences) >= _MIN_SENTENCES


def _ends_working(opening: OptionClaim, last: OptionClaim, text: str) -> bool:
    """Return whether working leads from an answer in the opening to another one at the end.

    "D. Aspirin\n\nThe drug is given once a week. It lowers uric acid. The answer is C." answers C: some models answer
    first and think afterwards. "The answer is D. ... Hence the drug is C." answers nothing.
    """
    is_called_answer = _ANSWER.search(text, last.start, last.end) is not None
    if opening.rule is STATED_ANSWER and not is_called_answer:
        return False
    is_at_end = len(text[last.end :].strip()) <= _CLOSING
    is_conclusion = _CONCLUDES.search(text, max(0, last.start - _REACH), last.end) is not None
    sentences = _SENTENCE_END.findall(text[opening.end : last.start])
    return is_at_end and is_conclusion and len(sentences) >= _MIN_SENTENCES
