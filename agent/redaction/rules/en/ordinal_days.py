"""Days of a month written as an ordinal number alone, as in haste: "the 9th", "thurs the 12th", "eeg from 11th"."""

from collections.abc import Iterator

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.word_lists import compile_pattern

_DAY = r"(?:[12]?1st|2?2nd|2?3rd|3[01](?:st|th)|[12]?\dth)"
_WEEKDAY = r"(?:\L<weekdays>|\L<weekdays_in_short>)\.?,?"
_CUE = (
    r"(?:since|until|till|til|from|on|by|before|after|to|for|due|dated|and|between|seen|booked|expected"
    r"|appt|rv|r/v|review|back|d/c'?d?|dc'?d|discharged|admitted|adm|readmit(?:ted)?|readmitted|clinic|theatre|op)"
)
_ORDINAL = compile_pattern(
    rf"(?i)(?<![\p{{L}}\d])(?:(?P<weekday>{_WEEKDAY}) (?:the )?|{_CUE} (?:the )?)"
    rf"\K(?P<day>{_DAY})(?![\p{{L}}\d-])",
    "en",
)
# What follows a day, and not a part of the body, a count or a floor
_END = regex.compile(
    r"(?i)\s{0,2}(?:[.,;:)!?]|$|\n)| {2}| ?(?:->|&|-|–|/)"
    r"| (?:at|@|and|but|when|w/|with|she|he|they|pt|by|to|then|until|till|because|where|due|for|in|am|pm|if|or|via|per"
    r"|of (?:this|last|next|the) month|onwards?|morning|afternoon|evening|night|eve|\d{1,2}[:.]\d\d|\d{4}|as|was|has"
    r"|is|inst|ult|prox)(?!\p{L})"
)
# Words of ordinal numbers that count something else, in the same clause before or after
_COUNTED = compile_pattern(r"(?i)(?<!\p{L})\L<counted_by_ordinals>s?(?!\p{L})", "en")
_CLAUSE = regex.compile(r"[.;\n!?]")
_REACH = 40  # characters of a clause that are examined on each side


def find_ordinal_days(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield days of a month after a preposition or a weekday, if nothing else is counted beside them.

    Raises:
        TimeoutError: the deadline passed.
    """
    for match in _ORDINAL.finditer(text, timeout=deadline.left()):
        if match["weekday"] or _is_day(text, match):
            yield "DATE", *match.span("day")


def _is_day(text: str, match: "regex.Match[str]") -> bool:
    if _END.match(text, match.end()) is None:
        return False
    before = _CLAUSE.split(text[max(0, match.start("day") - _REACH) : match.start("day")])[-1]
    after = _CLAUSE.split(text[match.end() : match.end() + _REACH])[0]
    return _COUNTED.search(before) is None and _COUNTED.search(after) is None
