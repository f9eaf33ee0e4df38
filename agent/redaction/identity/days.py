"""The same day however it is written: 2022-03-14, 3/14/22, 14.03.2022, 20220314, March 14th, 14 de marzo de 2022."""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from agent.redaction.identity.words import Word


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


def find_days(text: str, words: Sequence[Word]) -> Iterator[tuple[int, int, frozenset[Day]]]:
    """Yield each day written in `text`, whose words are `words`: start, end, and the days that it may mean."""
    yield from _find_numeric(text)
    yield from _find_compact(text)
    yield from _find_pairs(text)
    for index, word in enumerate(words):
        if word.key in _MONTHS:
            yield from _around_month(text, words, index)


def _find_numeric(text: str) -> Iterator[tuple[int, int, frozenset[Day]]]:
    """Yield days as three numbers: 2022-03-14, 3/14/22, 14.03.2022."""
    for match in _NUMERIC.finditer(text):
        first, middle, last = match[1], int(match[3]), match[4]
        if len(first) == 3 or (len(first) == 4 and len(last) > 2):
            continue
        if len(first) > 2:
            days = _day(int(first), middle, int(last))
        else:
            days = _day(int(last), int(first), middle) | _day(int(last), middle, int(first))
        yield match.start(), match.end(), days


def _find_compact(text: str) -> Iterator[tuple[int, int, frozenset[Day]]]:
    """Yield days as eight digits, with the year first or last: 20220314, 03142022."""
    for match in _COMPACT.finditer(text):
        digits = match.group()
        days = _NONE
        if digits[:2] in ("19", "20"):
            days |= _day(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
        if digits[4:6] in ("19", "20"):
            first, second, year = int(digits[:2]), int(digits[2:4]), int(digits[4:])
            days |= _day(year, first, second) | _day(year, second, first)
        yield match.start(), match.end(), days


def _find_pairs(text: str) -> Iterator[tuple[int, int, frozenset[Day]]]:
    """Yield days without a year: 3/14, 03-01."""
    for match in _PAIR.finditer(text):
        first, second = int(match[1]), int(match[2])
        if max(first, second) > 12 or match[1][0] == "0" or match[2][0] == "0":
            yield match.start(), match.end(), _day(0, first, second) | _day(0, second, first)


_NONE: frozenset[Day] = frozenset()


def _day(year: int, month: int, day: int) -> frozenset[Day]:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return _NONE
    return frozenset({Day(year % 100 or (100 if year else 0), month, day)})


def _around_month(text: str, words: Sequence[Word], index: int) -> Iterator[tuple[int, int, frozenset[Day]]]:
    """Yield the days around the name of a month: the number before it, the number after it."""
    month = _MONTHS[words[index].key]
    before = _number_beside(text, words, index, -1)
    after = _number_beside(text, words, index, 1)
    for number in (before, after):
        if number is None or not 1 <= int(words[number].key) <= 31 or len(words[number].key) > 2:
            continue
        first, last = min(number, index), max(number, index)
        year = 0
        year_index = _number_beside(text, words, last, 1)
        is_year = year_index is not None and len(words[year_index].key) in (2, 4)
        if year_index is not None and is_year and not (year_index == after and number == after):
            year, last = int(words[year_index].key), year_index
        elif last + 1 < len(words) and words[last + 1].key in _ORDINALS and words[last + 1].start == words[last].end:
            last += 1
        yield words[first].start, words[last].end, _day(year, month, int(words[number].key))


def _number_beside(text: str, words: Sequence[Word], index: int, step: int) -> int | None:
    """Return the next word before or after `index` that is a number, past ordinals and "of"."""
    place = index + step
    while 0 <= place < len(words) and abs(place - index) <= 3:
        near, far = sorted((place, place - step))
        if text[words[near].end : words[far].start].strip(" \t\n,./'-"):
            return None
        if words[place].key.isdigit():
            return place
        if words[place].key not in _ORDINALS | _LINKS:
            return None
        place += step
    return None


def may_mean(written: frozenset[Day], known: frozenset[Day]) -> bool:
    """Tell whether a written day may be one of the known days."""
    for day, known_day in product(written, known):
        same_year = not day.year or not known_day.year or day.year == known_day.year
        if same_year and (day.month, day.day) == (known_day.month, known_day.day):
            return True
    return False
