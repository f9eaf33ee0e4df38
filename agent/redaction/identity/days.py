"""The same day however it is written: 2022-03-14, 3/14/22, 14.03.2022, 20220314, March 14th, 14 de marzo de 2022."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agent.redaction.identity.words_of import Word


class Day(NamedTuple):
    """A day; without a year (0) that day of any year. Years are kept to their last two digits."""

    year: int
    month: int
    day: int


_MONTHS = {
    word: number
    for number, names in enumerate(
        (
            "january jan enero ene", "february feb febrero", "march mar marzo", "april apr abril abr", "may mayo",
            "june jun junio", "july jul julio", "august aug agosto ago", "september sep sept septiembre setiembre",
            "october oct octubre", "november nov noviembre", "december dec diciembre dic",
        ),
        1,
    )
    for word in names.split()
}  # fmt: skip
_NUMERIC = re.compile(r"(?<![\d.])(\d{1,4})([-/. ])(\d{1,2})\2(\d{4}|\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(?<!\d)\d{8}(?!\d)")
# Two numbers alone are a day only where they cannot be a fraction or a score.
_PAIR = re.compile(r"(?<![\w./-])(\d{1,2})[/-](\d{1,2})(?![\w/-]|\.\d)(?! ?(?:mm|scale|strength|points?|pain|%))")
_ORDINALS = frozenset({"st", "nd", "rd", "th"})
_LINKS = frozenset({"of", "the", "de", "del"})


def days_in(text: str, words: Sequence[Word]) -> Iterator[tuple[int, int, frozenset[Day]]]:
    """Yield each day written in `text`, whose words are `words`: start, end, and the days that it may mean."""
    for found in _NUMERIC.finditer(text):
        first, middle, last = found[1], int(found[3]), found[4]
        readings = (
            _day(int(first), middle, int(last))
            if len(first) > 2
            else _day(int(last), int(first), middle) | _day(int(last), middle, int(first))
        )
        if not (len(first) == 3 or (len(first) == 4 and len(last) > 2)):
            yield found.start(), found.end(), readings
    for found in _COMPACT.finditer(text):
        digits = found.group()
        a, b, c = int(digits[:2]), int(digits[2:4]), int(digits[4:])
        readings = _day(int(digits[:4]), int(digits[4:6]), int(digits[6:])) if digits[:2] in ("19", "20") else _NONE
        if digits[4:6] in ("19", "20"):
            readings |= _day(c, a, b) | _day(c, b, a)
        yield found.start(), found.end(), readings
    for found in _PAIR.finditer(text):
        a, b = int(found[1]), int(found[2])
        if max(a, b) > 12 or found[1][0] == "0" or found[2][0] == "0":
            yield found.start(), found.end(), _day(0, a, b) | _day(0, b, a)
    for index, (key, _, _) in enumerate(words):
        if key in _MONTHS:
            yield from _around_month(text, words, index)


_NONE: frozenset[Day] = frozenset()


def _day(year: int, month: int, day: int) -> frozenset[Day]:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return _NONE
    return frozenset({Day(year % 100 or (100 if year else 0), month, day)})


def _around_month(text: str, words: Sequence[Word], index: int) -> Iterator[tuple[int, int, frozenset[Day]]]:
    month = _MONTHS[words[index][0]]
    before = _number_beside(text, words, index, -1)
    after = _number_beside(text, words, index, 1)
    for place in (before, after):
        if place is None or not 1 <= int(words[place][0]) <= 31 or len(words[place][0]) > 2:
            continue
        start, last = min(place, index), max(place, index)
        year = _number_beside(text, words, last, 1)
        value = 0
        if year is not None and len(words[year][0]) in (2, 4) and not (year == after and place == after):
            value, last = int(words[year][0]), year
        elif words[last + 1 : last + 2] and words[last + 1][0] in _ORDINALS and words[last + 1][1] == words[last][2]:
            last += 1
        yield words[start][1], words[last][2], _day(value, month, int(words[place][0]))


def _number_beside(text: str, words: Sequence[Word], index: int, step: int) -> int | None:
    """Return the next word before or after `index` that is a number, past ordinals and "of"."""
    place = index + step
    while 0 <= place < len(words) and abs(place - index) <= 3:
        near, far = sorted((place, place - step))
        if text[words[near][2] : words[far][1]].strip(" \t\n,./'-"):
            return None
        if words[place][0].isdigit():
            return place
        if words[place][0] not in _ORDINALS | _LINKS:
            return None
        place += step
    return None


def means(written: frozenset[Day], known: frozenset[Day]) -> bool:
    """Tell whether a day as it is written may be one of those known."""
    return any(
        (day.month, day.day) == (one.month, one.day) and (not day.year or not one.year or day.year == one.year)
        for day in written
        for one in known
    )
