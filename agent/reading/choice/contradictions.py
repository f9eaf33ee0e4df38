"""Decide whether the text around a claim contradicts it, so that a careful person would ask back. Pure.

Each rule stands in a function of its own:

| rule | example that names no option |
|---|---|
| another option stands beside it | C. Amoxicillin D. Vitamin K |
| it is joined to another one later | C ... so both A and C are correct |
| its reason is another option | B, because it is amoxicillin. |
| lines that are options and differ | A (new line) B (new line) A |
| no option is right | B ... None of the options is correct. |
| another one is called right after all | C. Heparin. However, D. Warfarin is the correct answer. |
| a sentence and its opposite | No. X does not help. X does help. |
"""

import re
from itertools import islice, pairwise

from agent.reading.choice import cues
from agent.reading.choice.claims import OptionClaim
from agent.reading.choice.line_beginnings import BARE
from agent.reading.choice.lists import find_listings
from agent.reading.choice.marked_answer import Line, MarkedAnswer, OptionReference
from agent.reading.choice.references import BOTH_SIGNS, PADDING, SIGNS, UNKNOWN
from agent.reading.choice.rules import FIRST_LINE, LAST_LINE, WHOLE_ANSWER

_MAX_LINES = 60
_WORDS_OF_JOINING = (" and ", " & ", " or ", " as well as ")
_MAX_SENTENCES = 100
_MIN_LISTED = 3  # items of a list that merely repeats the options
_MIN_SENTENCE = 3  # words of a sentence that is compared with its opposite
# "C. Amoxicillin D. Vitamin K", where nothing is said of the second option
_BESIDE = re.compile(
    rf"[)\]\"']?[.;,]?[ ]{{1,2}}(?P<sign>[{BOTH_SIGNS}]){PADDING}*(?=[.;,]?\s{{0,2}}(?:$|\n|[{BOTH_SIGNS}]))"
)
_NAME = rf"(?i:{cues.CALLED})?[(\[\"']?(?:[{SIGNS}]{PADDING}*|[A-J](?![\w'-]))[)\]\"']?"
_FIRST_NAME = (
    rf"(?i:{cues.CALLED})?[(\[\"']?(?:{cues.MARKED}|(?P<capital>[A-J])(?![\w'-]))[)\]\"']?"
)
# "so both A and C are correct"
_BOTH = re.compile(
    rf"\s(?:and|&|as\swell\sas)\s(?P<second>{_NAME})\s"
    r"(?:are|could\sbe|can\sbe|would\sbe|may\sbe|might\sbe|seem|is)\s(?:(?:both|also|equally|all)\s)?"
    r"(?:correct|right|possible|plausible|acceptable|valid|suitable|defensible|(?:the\s)?(?:correct|right)?\s?(?:answers?|options?))\b"
)
# "However, the best answer is A and C."
_ANSWERS = re.compile(
    rf"(?i:\b(?:answers?|options?|choices?)\s(?:is|are|would\sbe)\s(?:both\s|either\s)?)(?P<first>{_NAME})"
    rf"\s(?:and|&|or)\s(?P<second>{_NAME})(?=\s?(?:[.,;!]|$|\n))"
)
_BEFORE_DENIED = re.compile(r"\b(?:not|neither|nor|if|unless)\b[^.!?\n]{0,40}\Z")
_NAME_BEFORE = re.compile(rf"(?:{cues.MARKED}|(?<![\w'-])(?P<capital>[A-J]))[)\]\"']?\Z")
_LONGEST_NAME = 300  # characters of an option's text
_ONE_NAME = re.compile(_FIRST_NAME)
# "B, because it is amoxicillin"
_REASON = re.compile(
    r"[)\]\"']?[,.]?\s(?i:because|since|as|which\sis|that\sis,?|i\.e\.,?)\s(?:(?:it|this|that)(?:'s|\sis)\s)?(?:the\s|an?\s)?"
    rf"(?:{cues.MARKED})(?=\s?(?:[.!]|$|\n))"
)
_NONE_RIGHT = re.compile(
    r"(?:^|(?<=\n)|(?<=[.!?]\s))(?:however,?\s|but\s)?"
    r"(?:none\sof\s(?:the|these|those)\s(?:\w{1,12}\s){0,2}?(?:options|answers|choices|above|alternatives)\s(?:given\s|listed\s|provided\s)?"
    r"(?:is|are|seems?|fits?)\b(?:\s(?:actually|really|strictly|entirely))?\s?(?:correct|right|true|applicable|appropriate|suitable)?"
    r"|the\s(?:correct|right|true|actual)\s(?:answer|option|choice|diagnosis)\s(?:is\snot|isn't)\s(?:listed|among|given|included|provided|there|in\sthe))\b",
)
# "However, D. Warfarin is the correct answer according to the key."
_RIGHT_AFTER_ALL = re.compile(
    rf"(?i:\b(?:however|but|yet|in\sfact|actually),?\s){_FIRST_NAME}\s(?:is|would\sbe)\s(?:actually\s|really\s)?"
    r"the\s(?:correct|right|best|actual)\s(?:answer|option|choice)\b"
)
_SENTENCE_BREAK = re.compile(r"[.!?]\s+|\n+")
_NEGATION = re.compile(
    r"\b(?:do|does|did)\snot\s|\b(?:do|does|did)n't\s|\b(?:do|does|did)\s|\bnot\s|n't\b|\bcannot\b|\bno\s"
)
_ENDING = re.compile(r"s\b")
_HAS_NEGATION = re.compile(r"\bnot\b|n't\b|\bcannot\b|\bno\b")
_WORDS_OF_YES = re.compile(
    r"(?:^|(?<=\n)|(?<=[.!]\s)(?<!\b[a-j]\.\s))(?P<word>yes|no|maybe)(?=[,.]\s|\.$|$|\n)"
)


def is_contradicted(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether the text around a claim names another option beside it, or says the opposite."""
    return (
        _is_listed_with_next(answer, claim)
        or _is_joined_later(answer, claim)
        or _has_other_reason(answer, claim)
        or _differs_from_lines(answer, claim)
        or _is_followed_by_none(answer, claim)
        or _is_another_right_after_all(answer, claim)
        or _says_opposite(answer, claim)
    )


def _is_listed_with_next(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether another option with its letter stands directly behind, and nothing is said of it."""
    beside = _BESIDE.match(answer.text, claim.end)
    return beside is not None and answer.make_reference(beside).option != claim.option


def _is_joined_later(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether the text behind a claim calls the option and another one correct: "both A and C are correct"."""
    rest = answer.lower[claim.end :]
    if not any(map(rest.__contains__, _WORDS_OF_JOINING)):
        return False
    for match in islice(_BOTH.finditer(answer.text, claim.end), _MAX_LINES):
        start = max(claim.end, match.start() - _LONGEST_NAME)
        before = _NAME_BEFORE.search(answer.text, start, match.start())
        if before is None or _is_denied_before(answer, before.start()):
            continue
        first = answer.make_reference(before).option
        second = _find_option(answer, match["second"], match.start("second"))
        if first != second and claim.option in (first, second):
            return True
    for match in islice(_ANSWERS.finditer(answer.text, claim.end), _MAX_LINES):
        if _is_denied_before(answer, match.start()):
            continue
        joined = {
            _find_option(answer, match[group], match.start(group)) for group in ("first", "second")
        }
        if claim.option in joined and len(joined) == 2:
            return True
    return False


def _is_denied_before(answer: MarkedAnswer, position: int) -> bool:
    return _BEFORE_DENIED.search(answer.lower, max(0, position - 60), position) is not None


def _find_option(answer: MarkedAnswer, words: str, start: int) -> int:
    name = _ONE_NAME.match(answer.text, start, start + len(words))
    return answer.make_reference(name).option if name else UNKNOWN


def _has_other_reason(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether the reason for the option is the text of another one: "B, because it is amoxicillin"."""
    reason = _REASON.match(answer.text, claim.end)
    return reason is not None and answer.make_reference(reason).option not in (
        claim.option,
        UNKNOWN,
    )


def _differs_from_lines(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether a claim that was read from a line stands among lines that are other options."""
    if claim.rule not in (FIRST_LINE, LAST_LINE, WHOLE_ANSWER) or len(answer.lines) < 2:
        return False
    lone = [(line, _read_lone_option(answer, line)) for line in answer.lines[:_MAX_LINES]]
    own = next((found for line, found in lone if line.start <= claim.start < line.end), None)
    if own is None:
        return False
    others: set[int] = set()
    for line, other in lone:
        if other is None or other.by_text or other.has_text != own.has_text:
            continue  # an option's text may be a heading of the explanation
        if other.option != claim.option:
            others.add(line.start)
    if not others:
        return False
    for listing in find_listings(answer.plain, answer.options):
        if len(listing.items) >= _MIN_LISTED:
            others -= {item.start for item in listing.items}
    return bool(others)


def _read_lone_option(answer: MarkedAnswer, line: Line) -> OptionReference | None:
    """Return the option that is all of a line."""
    bare = BARE.fullmatch(answer.text, line.start, line.end)
    if bare:
        option = answer.options.get_letter_option(bare[1])
        is_letter = option >= 0 and bare[1].isupper()
        return OptionReference(option, *bare.span(1)) if is_letter else None
    name = _ONE_NAME.match(answer.text, line.start, line.end)
    if name is None or not name["sign"] or answer.text[name.end() : line.end].strip(" .)*"):
        return None
    return answer.make_reference(name)


def _is_followed_by_none(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether the text behind a claim says that no option is right, where no option means that."""
    if answer.options.has_summary:
        return False
    return _NONE_RIGHT.search(answer.lower, claim.end) is not None


def _is_another_right_after_all(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether the text behind a claim turns and calls another option the correct answer."""
    for match in islice(_RIGHT_AFTER_ALL.finditer(answer.text, claim.end), _MAX_SENTENCES):
        if answer.make_reference(match).option not in (claim.option, UNKNOWN):
            return True
    return False


def _write_affirmed(sentence: str) -> str:
    """Return a sentence without its negation: "x help" for "x helps" and "x does not help"."""
    return _ENDING.sub("", _NEGATION.sub("", sentence).rstrip("."))


def _comments_on_option(answer: MarkedAnswer, match: re.Match[str]) -> bool:
    """Return whether a word stands below its option in a list of comments: "B. no", "No, it is not altered."."""
    line_above = answer.plain[: match.start()].rstrip("\n ").rpartition("\n")[2]
    return (
        re.fullmatch(rf"\W{{0,2}}[A-J]\W{{1,3}}{match['word']}\W?", line_above, re.IGNORECASE)
        is not None
    )


def _says_opposite(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether an answer of yes or no states a sentence and its opposite, or begins anew with another word."""
    if claim.option < 0 or not answer.options.is_common_word(claim.option):
        return False
    for match in islice(_WORDS_OF_YES.finditer(answer.plain.lower(), claim.end), _MAX_SENTENCES):
        is_other = match["word"] != answer.options.plain_texts[claim.option]
        if is_other and not _comments_on_option(answer, match):
            return True
    if not _HAS_NEGATION.search(answer.lower):
        return False
    sentences = [
        sentence.strip()
        for sentence in _SENTENCE_BREAK.split(answer.plain.lower())
        if sentence.strip()
    ]
    for first, second in pairwise(sentences[:_MAX_SENTENCES]):
        if first[:2] != second[:2] or len(first.split()) < _MIN_SENTENCE:
            continue
        if bool(_HAS_NEGATION.search(first)) == bool(_HAS_NEGATION.search(second)):
            continue
        if _write_affirmed(first) == _write_affirmed(second):
            return True
    return False
