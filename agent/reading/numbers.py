"""Find the number, date or duration that an answer gives.

Units and the words around a value are ignored. Two different candidates give no value.

The value is read from the last stated result: a LaTeX box, or else the text after the last "answer is", "final answer:"
or "result:", or else the text after the last equals sign, or else the whole text. That passage must contain a single
value, which may be repeated. Digits that belong to a unit ("mL/min/1.73 m2", "10^9/L", "kg/m2", "H2O") or to a maximum
("7 out of 10", "7/10 points") are not values.

An explanation in brackets is not a value either: "5 (2 for age, 3 for stroke)", where the parts add up to the value,
and "106.2 (using a weight of 75 kg)". In contrast, "5 (or 6)", "5 (6 with albumin)" and "20 (18-22)" contain several
values.

A bound is not a value ("< 5", "at least 5", "5 or more", "before 09/03/2014"), nor is a denied value ("not 5").
"About 5", "~5" and "\u2248 5" give the value 5: the metric's limits decide whether that is close enough. A hyphen, dash
or minus sign directly before a digit is a minus; between two numbers it is a range, which contains two values.
"""

import datetime
import math
import re
import unicodedata
from collections.abc import Callable, Hashable
from typing import TypeVar

from agent.reading.statements import is_denied
from agent.reading.words import ASCII_MARKS

V = TypeVar("V", bound=Hashable)

_COMMAND = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s?\{([^{}]{0,500})\}")
_BOXED = re.compile(r"\\boxed\s?\{((?:[^{}]|\{[^{}]{0,50}\}){0,500})\}")
_STATED = re.compile(
    r"\b(?:answer|result|total|score|value)\s?(?:is|was|of|:|=|would\sbe|equals)(?:\s?(?:approximately|about|:))?",
    re.IGNORECASE,
)
# "The maximum score is 9", "a total of 9 is possible": these describe the scale, not the patient's result.
_OF_THE_SCALE = re.compile(
    r"\b(?:maximum|minimum|max|min|possible|highest|lowest|cut-?off|threshold|normal|reference)\b",
    re.I,
)
_EQUALS = re.compile(r"(?<![<>!=])[=≈≅]")
_UNIT_DIGITS = re.compile(
    r"(?:/|per|×|x|\*)? ?1\.73 ?m\w*"  # the body surface area to which a clearance refers
    r"|(?<=[A-Za-z])(?<!\d[eE])\d+(?:\.\d+)?(?!\d)"  # m2, H2O, but not the power of 1e9
    r"|\^ ?\{?-?\d+\}?",  # m^2; powers of ten are read before this
    re.IGNORECASE,
)
# Lengths are bounded and no match begins inside a number, so that hostile text takes no longer than any other text.
# "7/10" is a score, but "1/2" and "3/4" may be fractions unless the text mentions points.
_OF_MAXIMUM = re.compile(
    r"(?<![\d.])(\d{1,9}(?:\.\d{1,9})?)(?:(?: ?/ ?| out of )(\d{1,9})(?= ?points?\b)"
    r"| out of (\d{1,9})(?= ?(?:$|[.)] ?$))| ?/ ?([5-9]|\d{2,9})(?= ?(?:$|[.)] ?$)))",
    re.IGNORECASE,
)
_POWER = re.compile(
    r"(?<![\d.,])(?:(\d[\d,]{0,20}(?:\.\d{1,20})?) ?(?:×|x|\*|\\times|·) ?)?\b10 ?(?:\^|\*\*) ?\{? ?([-+]?\d{1,3}) ?\}?"
)
_VALUE = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\.?\d)"
_NUMBER = re.compile(rf"(?<![\w.])[-+]?{_VALUE}|(?<![\w.])[-+]?\.\d+(?!\.?\d)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_BOUND = re.compile(
    r"(?:(?:(?<![-=])[<>]=?|=<|[≤≥≦≧≠]|!=|\b(?:than|at (?:least|most)|up to|under|over|below|above|beyond|exceed\w*"
    r"|equal to or|(?:minimum|maximum) of|before|after|by|until|since|not|isn't|never|no)) ?"
    rf"(?:or equal to |about |approximately |around |~ ?|\()?(?:[-+$]?\.?\d|{_MONTH}\s\d)"
    r"|\d ?(?:\+(?![\d ])|\+ (?:points?|years?|weeks?|days?)\b|[^\s\d]{0,20} ?(?:or|and) (?:more|less|fewer|greater"
    r"|higher|lower|above|below|over|under|later|earlier|longer)\b))",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\(([^()\n]{1,300})\)")
_EXPLAINS = re.compile(
    r"(?:using|based on|calculated|computed|derived|given|assuming|where|from|as|since|because|rounded (?:from|to)"
    r"|(?:ideal |actual |adjusted |lean )?(?:body )?weight|(?:aged?|height|creatinine|albumin|sodium) (?:of )?\d)\b",
    re.IGNORECASE,
)
_RIVAL = re.compile(
    r"\b(?:or|if|else|versus|vs|not|instead|otherwise|alternativ\w*|correct\w*|range|between|to|rather|but|up|down)\b|\d-\d|[<>=±]",
    re.IGNORECASE,
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_WEEKS_DAYS = re.compile(
    r"(?<![\d.,])(\d{1,3})\s?(?:weeks?|wks?|w)\b['\")\s,]{0,6}(?:and|&|\+)?[\s,'\"(]{0,6}(?:(\d{1,3})\s?(?:days?|d)\b)?"
    r"|(?<![\d.,])(\d{1,3})(?:weeks?|wks?|w)(\d)(?:days?|d)\b"
    r"|(?<![\d.])(\d{1,2})\s?\+\s?([0-6])(?![\d.])",
    re.IGNORECASE,
)
_DAYS = re.compile(r"(?<![\d.,])(\d{1,4})\s?days?\b", re.IGNORECASE)
# "14.5 weeks", "14 to 15 weeks", "-3 days": not durations in whole weeks and days.
_UNCLEAR_DURATION = re.compile(
    r"(?:\d[.,]\d{1,9}|\d ?(?:-|to|or|/|⁄) ?\d{1,9}|(?:^|\s)-\d{1,9}) ?(?:weeks?|wks?|w|days?|d)\b",
    re.IGNORECASE,
)
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})(?![\d/])")
_DAY_BEFORE_MONTH = re.compile(r"\bdd ?[/.-] ?mm\b", re.IGNORECASE)
_ISO = re.compile(r"(?<![\d-])(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s(\d{{1,2}})(?:st|nd|rd|th)?,?\s(\d{{4}})\b", re.IGNORECASE)
_DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH},?\s(\d{{4}})\b", re.IGNORECASE
)


def find_number(answer: str) -> float | None:
    """Return the only number in an answer, or None."""
    return _find_only_value(answer, _find_numbers)


def find_date(answer: str) -> datetime.date | None:
    """Return the only date in an answer, or None. 03/04/2020 is 4 March, the order that the question asks for."""
    return _find_only_value(answer, _find_dates)


def find_days(answer: str) -> int | None:
    """Return the only duration in an answer in weeks and days ("14 weeks, 2 days", "14w2d", "14+2"), as days."""
    return _find_only_value(answer, _find_durations)


def _find_only_value(answer: str, find_values: Callable[[str], list[V]]) -> V | None:
    for passage in _list_passages(_simplify(answer)):
        text = passage
        values = set(find_values(text))
        if len(values) > 1:
            text = _drop_explanations(passage, find_values)
            values = set(find_values(text))
        if values:
            return values.pop() if len(values) == 1 and not _BOUND.search(text) else None
    return None


def _drop_explanations(passage: str, find_values: Callable[[str], list[V]]) -> str:
    """Return the passage without its brackets if each of them explains the single value before it; else unchanged."""
    for brackets in _BRACKETS.finditer(passage):
        values_before = find_values(passage[: brackets.start()])
        if len(set(values_before)) != 1 or _holds_rival(brackets[1]):
            return passage
        is_explanation = _EXPLAINS.match(brackets[1]) is not None
        if not is_explanation and not _adds_up(find_values(brackets[1]), values_before[0]):
            return passage
    return _BRACKETS.sub(" ", passage)


def _holds_rival(brackets: str) -> bool:
    """Return whether brackets may contain another answer: "5 (or 6)". "Rounded to" does not begin a range."""
    return _RIVAL.search(re.sub(r"^rounded to\b", "", brackets, flags=re.IGNORECASE)) is not None


def _adds_up(parts: list[V], total: V) -> bool:
    """Return whether `parts` are two or more numbers that sum to `total`: "5 (2 for age, 3 for stroke)"."""
    numbers = [part for part in parts if isinstance(part, int | float)]
    if len(numbers) < 2 or not isinstance(total, int | float):
        return False
    return math.isclose(sum(numbers), total)


def _simplify(answer: str) -> str:
    """Convert signs and powers to ASCII, remove markup, and reduce white space within a line to single spaces."""
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+", lambda match: "^" + match[0].translate(_SUPERSCRIPTS), answer)
    text = unicodedata.normalize("NFKC", text).translate(ASCII_MARKS).replace("\u200b", "")
    text = "\n".join(" ".join(line.split()) for line in text.splitlines())
    text = re.sub(r"</?[A-Za-z][^<>\n]{0,100}>", " ", text)  # <b>5</b>; "<5" is a bound
    text = re.sub(r"\\(?:,|;|!|left|right)", "", _COMMAND.sub(r"\1", text))
    # Emphasis marks are at a word's edge; in "2*3" and "10**3" the asterisks are arithmetic.
    text = re.sub(r"(?<![\w)*`$])[*`$]{1,3}(?=\S)|(?<=\S)[*`$]{1,3}(?![\w(*`$])", "", text)
    # "is - 5" within a line is minus five; at the start of a line, "- 5" is a list item.
    return re.sub(r"((?:[=:≈]|\b(?:is|of|was)) ?)- (?=\.?\d)", r"\1-", text)


def _list_passages(text: str) -> list[str]:
    """Return the passages to read, the most explicit first.

    A passage after a stated result or an equals sign ends with its line. The whole text comes last.
    """
    boxed = _BOXED.findall(text)
    passages = [boxed[-1]] if boxed else []
    for stated in reversed(list(_STATED.finditer(text))):
        result = _read_line_from(text, stated.end())
        if is_denied(text, stated.start()):
            return passages
        words_before = text[max(0, stated.start() - 20) : stated.start()]
        if not _OF_THE_SCALE.search(words_before + "\n" + result[:60]):
            passages.append(result.rpartition("=")[2] or result)
            passages.append(result)
            break
    equals_signs = list(_EQUALS.finditer(text))
    if equals_signs:
        passages.append(_read_line_from(text, equals_signs[-1].end()))
    return [*passages, text]


def _read_line_from(text: str, start: int) -> str:
    return text[start:].lstrip().partition("\n")[0]


def _find_numbers(text: str) -> list[float]:
    text = _POWER.sub(lambda match: f"{match[1] or 1}e{match[2]}", text)
    text = _OF_MAXIMUM.sub(_drop_maximum, text)
    text = _UNIT_DIGITS.sub(" ", text)
    numbers = [float(match[0].replace(",", "")) for match in _NUMBER.finditer(text)]
    return numbers if all(map(math.isfinite, numbers)) else []


def _drop_maximum(match: re.Match[str]) -> str:
    """Drop the maximum from "7/10". "120/80" remains two numbers, because a maximum is not less than the score."""
    maximum = match[2] or match[3] or match[4]
    return match[1] if float(match[1]) <= float(maximum) else match[0]


def _find_dates(text: str) -> list[datetime.date]:
    if _DAY_BEFORE_MONTH.search(text):
        return []
    dates: list[datetime.date | None] = []
    for match in _SLASHED.finditer(text):
        dates.append(_make_date(year=match[3], month=int(match[1]), day=match[2]))
    for match in _ISO.finditer(text):
        dates.append(_make_date(year=match[1], month=int(match[2]), day=match[3]))
    for match in _MONTH_FIRST.finditer(text):
        dates.append(_make_date(year=match[3], month=_read_month(match[1]), day=match[2]))
    for match in _DAY_FIRST.finditer(text):
        dates.append(_make_date(year=match[3], month=_read_month(match[2]), day=match[1]))
    return [date for date in dates if date is not None]


def _read_month(name: str) -> int:
    return _MONTHS.index(name.lower()) + 1


def _make_date(*, year: str, month: int, day: str) -> datetime.date | None:
    """Return the date, or None if it does not exist, such as 30 February."""
    try:
        return datetime.date(int(year), month, int(day))
    except ValueError:
        return None


def _find_durations(text: str) -> list[int]:
    """Return durations in weeks and days, as days; if there are none, the durations in plain days."""
    if _UNCLEAR_DURATION.search(text):
        return []
    durations: list[int] = []
    for match in _WEEKS_DAYS.finditer(text):
        weeks = match[1] or match[3] or match[5]
        days = match[2] or match[4] or match[6] or "0"
        durations.append(int(weeks) * 7 + int(days))
    return durations or [int(match[1]) for match in _DAYS.finditer(text)]
