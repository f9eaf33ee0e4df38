"""Recognition of one day in any format: 2022-03-14, 3/14/22, 14.03.2022, 20220314, March 14th, 14 de marzo de 2022."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agent.redaction.identity.words import Word


class Day(NamedTuple):
    """A day; with year 0, the same day in any year. Years are reduced to their last two digits."""

    year: int
    month: int
    day: int


class WrittenDay(NamedTuple):
    """A day as written in a text.

    Attributes:
        start: offset of its first character.
        end: offset after its last character.
        readings: the days that it may denote; 3/4/22 may be a day in March or in April.
    """

    start: int
    end: int
    readings: frozenset[Day]


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
# Two numbers alone are taken as a day only where they cannot be a fraction or a score.
_PAIR = re.compile(
    r"(?<![\w./-])(\d{1,2})[/-](\d{1,2})(?![\w/-]|\.\d)(?! ?(?:mm|scale|strength|points?|pain|%))"
)
_ORDINALS = frozenset({"st", "nd", "rd", "th"})
_LINKS = frozenset({"of", "the", "de", "del"})
_BETWEEN_PARTS = " \t\n,./'-"  # characters that may occur between the words of one day
_WORDS_BETWEEN = 3  # maximum number of words from a month's name to its number: "the 14th of March"
_CENTURIES = ("19", "20")
_NO_DAY: frozenset[Day] = frozenset()


def find_days(text: str, words: Sequence[Word]) -> Iterator[WrittenDay]:
    """Yield each day written in `text`, which consists of `words`."""
    yield from _find_numeric(text)
    yield from _find_compact(text)
    yield from _find_pairs(text)
    for index, word in enumerate(words):
        if word.key in _MONTHS:
            yield from _find_around_month(text, words, index)


def _find_numeric(text: str) -> Iterator[WrittenDay]:
    """Yield days written as three numbers: 2022-03-14, 3/14/22, 14.03.2022."""
    for match in _NUMERIC.finditer(text):
        first, middle, last = match[1], int(match[3]), match[4]
        if len(first) == 3 or (len(first) == 4 and len(last) > 2):
            continue
        if len(first) > 2:
            readings = _make_day(int(first), middle, int(last))
        else:
            readings = _read_either_order(int(first), middle, year=int(last))
        yield WrittenDay(match.start(), match.end(), readings)


def _find_compact(text: str) -> Iterator[WrittenDay]:
    """Yield days written as eight digits, with the year first or last: 20220314, 03142022."""
    for match in _COMPACT.finditer(text):
        digits = match.group()
        readings = _NO_DAY
        if digits[:2] in _CENTURIES:
            readings |= _make_day(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
        if digits[4:6] in _CENTURIES:
            readings |= _read_either_order(int(digits[:2]), int(digits[2:4]), year=int(digits[4:]))
        yield WrittenDay(match.start(), match.end(), readings)


def _find_pairs(text: str) -> Iterator[WrittenDay]:
    """Yield days written without a year: 3/14, 03-01."""
    for match in _PAIR.finditer(text):
        first, second = int(match[1]), int(match[2])
        has_leading_zero = match[1][0] == "0" or match[2][0] == "0"
        if max(first, second) > 12 or has_leading_zero:
            yield WrittenDay(match.start(), match.end(), _read_either_order(first, second, year=0))


def _read_either_order(first: int, second: int, *, year: int) -> frozenset[Day]:
    """Return the days that two numbers may denote, with the month first or the day first."""
    return _make_day(year, first, second) | _make_day(year, second, first)


def _make_day(year: int, month: int, day: int) -> frozenset[Day]:
    """Return a set with the day, or the empty set if the calendar has no such month or day."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return _NO_DAY
    # The year 2000 is stored as 100, because 0 means that no year is known.
    short_year = year % 100 or (100 if year else 0)
    return frozenset({Day(short_year, month, day)})


def _find_around_month(text: str, words: Sequence[Word], index: int) -> Iterator[WrittenDay]:
    """Yield the days written with the month's name: with the number before it and with the number after it."""
    month = _MONTHS[words[index].key]
    for step in (-1, 1):
        number = _find_number_beside(text, words, index, step)
        if number is None or not _may_be_day(words[number]):
            continue
        first, last = min(number, index), max(number, index)
        year = 0
        year_index = _find_number_beside(text, words, last, 1)
        if year_index is not None and len(words[year_index].key) in (2, 4):
            year = int(words[year_index].key)
            last = year_index
        elif _is_ordinal_of(words, last):
            last += 1
        readings = _make_day(year, month, int(words[number].key))
        yield WrittenDay(words[first].start, words[last].end, readings)


def _may_be_day(number: Word) -> bool:
    # Check the length first: Python refuses to convert numbers of thousands of digits.
    return len(number.key) <= 2 and 1 <= int(number.key) <= 31


def _is_ordinal_of(words: Sequence[Word], index: int) -> bool:
    """Return whether an ordinal ending, such as the "th" of "14th", directly follows a word."""
    if index + 1 == len(words):
        return False
    following = words[index + 1]
    return following.key in _ORDINALS and following.start == words[index].end


def _find_number_beside(text: str, words: Sequence[Word], index: int, step: int) -> int | None:
    """Return the index of the nearest number before (`step` -1) or after (1) a word, skipping ordinals and "of"."""
    for distance in range(1, _WORDS_BETWEEN + 1):
        candidate = index + distance * step
        if not 0 <= candidate < len(words):
            return None
        first, second = sorted((candidate, candidate - step))
        if text[words[first].end : words[second].start].strip(_BETWEEN_PARTS):
            return None
        key = words[candidate].key
        if key.isdigit():
            return candidate
        if key not in _ORDINALS and key not in _LINKS:
            return None
    return None


class KnownDays:
    """Days to search for, which are found in any year if their year is not known."""

    def __init__(self, days: Iterable[Day]) -> None:
        self._years: dict[tuple[int, int], set[int]] = {}  # by month and day
        for day in days:
            self._years.setdefault((day.month, day.day), set()).add(day.year)

    def __bool__(self) -> bool:
        """Return whether there is any day to search for."""
        return bool(self._years)

    def may_include(self, readings: Iterable[Day]) -> bool:
        """Return whether one of the readings of a written day matches one of the days."""
        for day in readings:
            years = self._years.get((day.month, day.day))
            if years is not None and (not day.year or 0 in years or day.year in years):
                return True
        return False
