"""The number, date or duration that an answer gives. Tolerant of units and sentences, never of two candidates.

The text is taken from the last stated result: a LaTeX box, else what follows the last "answer is", "final answer:"
or "result:", else what follows the last equals sign, else the whole text. There it must hold one value only (the
same value twice is one). Digits that belong to a unit ("mL/min/1.73 m2", "10^9/L", "kg/m2", "H2O") or to a
maximum ("7 out of 10", "7/10 points") are not values.
"""

import datetime
import re
import unicodedata
from collections.abc import Callable, Hashable
from typing import TypeVar

V = TypeVar("V", bound=Hashable)

_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_STATED = re.compile(
    r"\b(?:answer|result|total|score|value)\s*(?:is|was|of|:|=|would\s+be|equals)(?:\s*(?:approximately|about|:))?",
    re.IGNORECASE,
)
_EQUALS = re.compile(r"[=≈≅]")
_UNIT_DIGITS = re.compile(
    r"(?:/|per|×|x|\*)? ?1\.73 ?m\w*"  # body surface of a clearance
    r"|(?<=[A-Za-z])(?<!\d[eE])\d+(?:\.\d+)?(?!\d)"  # m2, H2O, but not the power of 1e9
    r"|\^ ?\{?-?\d+\}?",  # m^2; powers of ten are read before this
    re.IGNORECASE,
)
# Lengths are bounded and no match begins inside a number, so that hostile text costs no more than any other.
_OF_MAXIMUM = re.compile(
    r"(?<![\d.])(\d{1,9}(?:\.\d{1,9})?)(?: ?/ ?| out of )(\d{1,9})(?= ?(?:points?\b|$|[.)] ?$))", re.IGNORECASE
)
_POWER = re.compile(
    r"(?<![\d.,])(\d[\d,]{0,20}(?:\.\d{1,20})?) ?(?:×|x|\*|\\times|·) ?10 ?\^? ?\{? ?([-+]?\d{1,3}) ?\}?"
)
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\d])|(?<![\w.])[-+]?\.\d+"
)
_WEEKS_DAYS = re.compile(
    r"(\d{1,3})\s*(?:weeks?|wks?|w)\b['\")\s,]*(?:and|&|\+)?[\s,'\"(]*(?:(\d{1,3})\s*(?:days?|d)\b)?"
    r"|(\d{1,3})(?:weeks?|wks?|w)(\d)(?:days?|d)\b"
    r"|(?<![\d.])(\d{1,2})\s?\+\s?([0-6])(?![\d.])",
    re.IGNORECASE,
)
_DAYS = re.compile(r"(?<![\d.])(\d{1,4})\s*days?\b", re.IGNORECASE)
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})(?![\d/])")
_ISO = re.compile(r"(?<![\d-])(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b", re.IGNORECASE)
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?\s+(\d{{4}})\b", re.IGNORECASE)


def find_number(answer: str) -> float | None:
    """Return the one number an answer gives, or None."""
    return _only_value(answer, _numbers)


def find_date(answer: str) -> datetime.date | None:
    """Return the one date an answer gives, or None. 03/04/2020 is the 4th of March, as the question asks for it."""
    return _only_value(answer, _dates)


def find_days(answer: str) -> int | None:
    """Return the one duration an answer gives in weeks and days ("14 weeks, 2 days", "14w2d", "14+2"), in days."""
    return _only_value(answer, _durations)


def _only_value(answer: str, values_in: Callable[[str], list[V]]) -> V | None:
    text = unicodedata.normalize("NFKC", answer).replace("\u2212", "-").replace("\u200b", "")
    text = re.sub(r"[*`$]{1,3}(?=\S)|(?<=\S)[*`$]{1,3}(?=\W|$)|\\(?:text|mathrm|,|;|!)", "", text)
    text = re.sub(r"[^\S\n]+", " ", text)
    for passage in _passages(text):
        values = set(values_in(passage))
        if values:
            return values.pop() if len(values) == 1 else None
    return None


def _passages(text: str) -> list[str]:
    """Return the places to look, the most explicit first; each ends with its line where a later one repeats it."""
    boxed = _BOXED.findall(text)
    stated = list(_STATED.finditer(text))
    passages = [boxed[-1]] if boxed else []
    if stated:
        rest = text[stated[-1].end() :].lstrip().split("\n")[0]
        passages += [rest.rpartition("=")[2] or rest, rest]
    equals = list(_EQUALS.finditer(text))
    if equals:
        passages.append(text[equals[-1].end() :].lstrip().split("\n")[0])
    return [*passages, text]


def _numbers(text: str) -> list[float]:
    text = _POWER.sub(lambda m: f"{m[1]}e{m[2]}", text)
    # "120/80" stays two numbers: a maximum is not less than the score.
    text = _OF_MAXIMUM.sub(lambda m: m[1] if float(m[1]) <= float(m[2]) else m[0], text)
    text = _UNIT_DIGITS.sub(" ", text)
    return [float(match[0].replace(",", "")) for match in _NUMBER.finditer(text)]


def _dates(text: str) -> list[datetime.date]:
    found = [(int(m[3]), int(m[1]), int(m[2])) for m in _SLASHED.finditer(text)]
    found += [(int(m[1]), int(m[2]), int(m[3])) for m in _ISO.finditer(text)]
    found += [(int(m[3]), _MONTHS.index(m[1].lower()) + 1, int(m[2])) for m in _MONTH_FIRST.finditer(text)]
    found += [(int(m[3]), _MONTHS.index(m[2].lower()) + 1, int(m[1])) for m in _DAY_FIRST.finditer(text)]
    return [date for parts in found if (date := _date(*parts)) is not None]


def _date(year: int, month: int, day: int) -> datetime.date | None:
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None


def _durations(text: str) -> list[int]:
    found = []
    for m in _WEEKS_DAYS.finditer(text):
        weeks, days = m[1] or m[3] or m[5], m[2] or m[4] or m[6]
        found.append(int(weeks) * 7 + int(days or 0))
    return found or [int(m[1]) for m in _DAYS.finditer(text)]
