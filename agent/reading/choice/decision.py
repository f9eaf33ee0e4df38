"""Decide from an answer's claims which option it names. Pure."""

import re
from collections.abc import Sequence

from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.statements import find_last_retraction

_OPENING = 40  # characters in which an answer that is one line states its first answer
_CLOSING = 100  # characters behind the last answer: the text of its option, marks
_MIN_SENTENCES = 2  # of working between the two answers
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
    if not claims:
        return None
    strongest = max(claim.strength for claim in claims)
    deciding = [claim for claim in claims if claim.strength == strongest]
    if strongest >= ClaimStrength.ANSWER:
        deciding = _drop_answer_before_working(deciding, text)
    options = {claim.option for claim in deciding}
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


def _drop_answer_before_working(deciding: list[OptionClaim], text: str) -> list[OptionClaim]:
    """Return the claims without those of the opening, if working leads to another answer at the end.

    "D. Aspirin\n\nThe drug is given once a week. It lowers uric acid. The answer is C." answers C: such models answer
    first and think afterwards.
    """
    last = max(deciding, key=lambda claim: claim.end)
    others = [claim for claim in deciding if claim.option != last.option]
    opening_end = max(text.find("\n"), _OPENING)
    if not others or any(claim.end > opening_end for claim in others) or last.option < 0:
        return deciding
    working = text[max(claim.end for claim in others) : last.start]
    is_at_end = len(text[last.end :].strip()) <= _CLOSING
    if not is_at_end or len(_SENTENCE_END.findall(working)) < _MIN_SENTENCES:
        return deciding
    return [claim for claim in deciding if claim.option == last.option]
