"""Read an answer that says of each other option that it is wrong, or of one alone that it does not hold.

"A ✗, C ✗, B ✗. All three fail, so the remaining one holds." names D, if it says that something remains. Of a list with
one cross among ticks, the crossed option is the answer only if the answer asks for the exception.
"""

import re
from collections.abc import Iterator
from itertools import islice

from agent.reading.choice import cues
from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.lists import Listing
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.references import PADDING, SIGNS, decode
from agent.reading.choice.rules import COMMENTED_OPTIONS

_MAX_COMMENT = 300  # characters of a comment that are read
_MAX_LINES = 200
_MAX_STATEMENTS = 100
_REACH = 250  # characters at the end in which the remaining option or the exception is announced
_MIN_WRONG = 2
_REFERENCE = rf"(?:(?P<sign>[{SIGNS}]){PADDING}*|(?P<capital>[A-Z])(?![\w'-]))"
_SIGN = re.compile(f"[{SIGNS}]")
_LETTER_AT_START = re.compile(r"(?:[-•✓✗]\s?){0,2}(?P<capital>[A-J])[).:]?\s?(?=[✓✗|(-])")
# "Option A describes vasculitis, so I rule that out."
_SENTENCE = re.compile(
    rf"(?:^|(?<=\n)|(?<=[.!?]\s)){_REFERENCE}(?P<comment>[^.!?\n]{{0,{_MAX_COMMENT}}})"
)
_RULED_OUT = re.compile(r"\brul(?:e|es|ed|ing)\s(?:\w{1,12}\s){0,2}out\b")
# "A, B and C can be excluded", "All of A, C and D are wrong".
_TOGETHER = re.compile(
    rf"(?P<list>(?:(?:[{SIGNS}]{PADDING}*|[A-J])(?:,\s(?:and\s)?|\sand\s|\s?/\s?|\s?&\s?)){{1,8}}(?:[{SIGNS}]{PADDING}*|[A-J]))"
    r"\s(?:(?:can|could|may|must|should|are|have)\s(?:all\s|both\s)?(?:be\s|been\s|therefore\s)?)"
    r"(?:excluded|ruled\sout|eliminated|discarded|dismissed|wrong|incorrect|false|out)\b"
)
_MEMBER = re.compile(rf"(?P<sign>[{SIGNS}])|(?P<capital>[A-J])")
_REMAINS = re.compile(
    r"\b(?:remain\w*|left|leaves|leaving|by\s(?:elimination|exclusion)|process\sof\selimination|last\sone\sstanding)\b"
)
_ASKS_FOR_EXCEPTION = re.compile(
    r"\b(?:exception|except|odd\s(?:one|man)\sout|(?:does\snot|doesn't)\s(?:hold|belong|fit|apply)|not\strue"
    r"|(?:false|untrue|incorrect|wrong)\s(?:one|statement|option))\b|\b(?:pick|choose|take|select)\sthe\s✗"
)


def read_elimination(answer: MarkedAnswer, listings: list[Listing]) -> Iterator[OptionClaim]:
    """Yield the claim of an answer that rejects all options but one, or that marks one as the exception."""
    if not answer.lines:
        return
    right, wrong = _collect_marks(answer)
    tail = answer.lower[-_REACH:]
    end = len(answer.text)
    if len(wrong) == 1 and right >= _MIN_WRONG and _ASKS_FOR_EXCEPTION.search(tail):
        yield OptionClaim(wrong.pop(), 0, end, ClaimStrength.ANSWER, COMMENTED_OPTIONS)
        return
    if not _REMAINS.search(tail):
        return
    wrong |= _find_listed(answer, listings) | _find_rejected(answer)
    remaining = set(range(answer.options.count)) - wrong
    if len(remaining) == 1 and len(wrong) >= _MIN_WRONG:
        yield OptionClaim(remaining.pop(), 0, end, ClaimStrength.CALLED_CORRECT, COMMENTED_OPTIONS)


def _collect_marks(answer: MarkedAnswer) -> tuple[int, set[int]]:
    """Return the number of lines with a tick, and the options of lines with a cross."""
    right = 0
    wrong: set[int] = set()
    if "✗" not in answer.text:
        return right, wrong
    for line in answer.lines[:_MAX_LINES]:
        text = answer.text[line.start : line.end]
        if ("✓" in text) == ("✗" in text):
            continue
        if "✓" in text:
            right += 1
            continue
        letter = _LETTER_AT_START.match(text)
        signs = {decode(sign) for sign in _SIGN.findall(text)}
        if letter:
            wrong.add(answer.options.get_letter_option(letter["capital"]))
        elif len(signs) == 1:
            wrong |= signs
    return right, {option for option in wrong if option >= 0}


def _find_listed(answer: MarkedAnswer, listings: list[Listing]) -> set[int]:
    """Return the items of lists that are called wrong."""
    wrong: set[int] = set()
    for listing in listings:
        for item in listing.items:
            comment = answer.lower[item.text_start : item.end][:_MAX_COMMENT]
            if cues.WRONG.search(comment):
                wrong.add(item.option)
    return wrong


def _find_rejected(answer: MarkedAnswer) -> set[int]:
    """Return the options that sentences reject, one by one or together."""
    wrong: set[int] = set()
    for match in islice(_SENTENCE.finditer(answer.text), _MAX_STATEMENTS):
        comment = match["comment"].lower()
        if _RULED_OUT.search(comment) or cues.WRONG.search(comment):
            wrong.add(answer.make_reference(match).option)
    for match in islice(_TOGETHER.finditer(answer.text), _MAX_STATEMENTS):
        wrong |= {
            answer.make_reference(member).option for member in _MEMBER.finditer(match["list"])
        }
    return wrong
