"""Dates as written in notes: parse them, move them by a number of days, and write them in the same format."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import regex

_MONTHS = {
    "en": ("january february march april may june july august september october november december",
           "jan feb mar apr may jun jul aug sep oct nov dec"),
    "es": ("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
           "ene feb mar abr may jun jul ago sep oct nov dic"),
}  # fmt: skip
_TABLES = {
    language: tuple(tuple(names.split()) for names in tables)
    for language, tables in _MONTHS.items()
}
_NUMBER = {
    name: number
    for tables in _TABLES.values()
    for names in tables
    for number, name in enumerate(names, 1)
} | {"sept": 9}
_MONTH = r"(?P<month>" + "|".join(sorted(_NUMBER, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])"
_ORDINAL = r"(?:(?:st|nd|rd|th)\b|[ºª°])?"
_YEAR = r"(?P<year>(?:1[89]|20)\d\d|'?\d\d)(?!\d)"
_GAP = r"[\s,./-]{1,3}(?:(?:of|de|del|the)\s){0,2}"

_FORMS = tuple(
    regex.compile(pattern, regex.IGNORECASE)
    for pattern in (
        r"(?<!\d)(?P<year>(?:1[89]|20)\d\d)(?P<joint>[-/.])(?P<month>1[0-2]|0?[1-9])(?P=joint)"
        r"(?P<day>3[01]|[12]\d|0?[1-9])(?!\d)",
        r"(?<!\d)(?P<first>3[01]|[12]\d|0?[1-9])(?P<joint>[-/.])(?P<second>3[01]|[12]\d|0?[1-9])(?P=joint)"
        r"(?P<year>(?:1[89]|20)?\d\d)(?!\d)",
        rf"(?<![\d\p{{L}}]){_MONTH}{_GAP}{_DAY}{_ORDINAL}[\s,./-]{{1,3}}(?:(?:of|de|del)\s)?{_YEAR}",
        rf"(?<!\d){_DAY}{_ORDINAL}{_GAP}{_MONTH}{_GAP}{_YEAR}",
        rf"(?<![\d\p{{L}}]){_MONTH}{_GAP}(?P<year>(?:1[89]|20)\d\d)(?!\d)",
        r"(?<![\d/.-])(?P<month>1[0-2]|0?[1-9])[-/](?P<year>(?:1[89]|20)\d\d)(?!\d)",
        r"(?<![\d/.-])(?P<year>(?:1[89]|20)\d\d)-(?P<month>1[0-2]|0[1-9])(?![\d-])",
    )
)
_ANY_YEAR = regex.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")
_CLOCK = regex.compile(r"(?<!\d)\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?")
_WORD = regex.compile(r"[\p{L}\d]+")
_LINKS = frozenset({"at", "t", "am", "pm", "a", "p", "m", "on", "of", "the", "de", "del", "el"})
_WEEKDAY = regex.compile(
    r"(?i)\b(?:mon|tues?|wed|wednes|thu|thurs?|fri|sat|satur|sun)(?:day)?\b|\b(?:lunes|martes|miércoles|miercoles"
    r"|jueves|viernes|sábado|sabado|domingo)\b"
)


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date as written in a text.

    Attributes:
        date: the day; the fifteenth if only the month is written.
        text: the whole text that was parsed.
        positions: for each part ("year", "month", "day"), its position in `text`.
        language: the language, "en" or "es", of a month's name that exists in both languages ("mar").
    """

    date: date
    text: str
    positions: dict[str, tuple[int, int]]
    language: str

    def move(self, days: int) -> str | None:
        """Return the text with the date moved by `days`, or None if that exceeds the calendar's range."""
        try:
            moved = self.date + timedelta(days)
        except OverflowError:
            return None
        numbers = {"year": moved.year, "month": moved.month, "day": moved.day}
        text = self.text
        # Replace the last part first, so that the positions of the others stay valid.
        last_first = sorted(self.positions.items(), key=lambda item: -item[1][0])
        for part, (start, end) in last_first:
            text = (
                text[:start]
                + _write_like(text[start:end], numbers[part], self.language)
                + text[end:]
            )
        return text


def read_date(text: str, *, language: str = "en", this_year: int = 2099) -> WrittenDate | None:
    """Return the date in `text`, or None if there is not exactly one or if it lacks a year or a month.

    Args:
        text: the text as detected: "03/14/2022 14:30", "14 de marzo de 2022", "Mar 2022".
        language: "en" or "es", which determines what 03/04/2022 means. A number above twelve is always the day.
        this_year: years of two digits are within the hundred years up to this year.
    """
    if _WEEKDAY.search(text):
        return None  # the unchanged weekday would reveal how far the date was moved
    for form in _FORMS:
        matches = list(form.finditer(text))
        if not matches:
            continue
        if len(matches) > 1:
            return None
        match = matches[0]
        beside = _CLOCK.sub("", text[: match.start()] + " " + text[match.end() :])
        if any(word.casefold() not in _LINKS for word in _WORD.findall(beside)):
            return None  # a range of days, a day in words, or an unrelated number
        return _read_match(match, text, language, this_year)
    return None


def read_year(text: str, *, this_year: int) -> int | None:
    """Return the year in `text`, written in full or as the end of a date; None if there is not exactly one."""
    whole = {int(year) for year in _ANY_YEAR.findall(text)}
    if whole:
        return whole.pop() if len(whole) == 1 else None
    written = read_date(_WEEKDAY.sub("", text), this_year=this_year)
    return None if written is None else written.date.year


def _read_match(
    match: "regex.Match[str]", text: str, language: str, this_year: int
) -> WrittenDate | None:
    positions = _locate_parts(match, language)
    values = {part: text[start:end] for part, (start, end) in positions.items()}
    year = _complete_year(values["year"], this_year)
    month = values["month"].casefold().rstrip(".")
    month_number = int(month) if month.isdecimal() else _NUMBER[month]
    try:
        day = date(year, month_number, int(values.get("day", "15")))
    except ValueError:
        return None  # not a valid calendar date
    return WrittenDate(day, text, positions, language)


def _locate_parts(match: "regex.Match[str]", language: str) -> dict[str, tuple[int, int]]:
    """Return the positions of year, month and day. The language decides which of two numbers is the day."""
    groups = match.groupdict()
    positions = {
        part: match.span(part) for part in ("year", "month", "day") if groups.get(part) is not None
    }
    if groups.get("first") is not None:
        first, second = match.span("first"), match.span("second")
        is_day_first = int(groups["first"]) > 12 or (
            language == "es" and int(groups["second"]) <= 12
        )
        positions["day"] = first if is_day_first else second
        positions["month"] = second if is_day_first else first
    return positions


def _complete_year(written: str, this_year: int) -> int:
    """Return the latest year up to this one that ends in the two digits."""
    digits = written.lstrip("'")
    year = int(digits)
    if len(digits) > 2:
        return year
    year += this_year - this_year % 100
    return year if year <= this_year else year - 100


def _write_like(written: str, number: int, language: str) -> str:
    """Write `number` in the format of `written`: with as many digits, or as a month's name in the same case."""
    if written.startswith("'"):
        return f"'{number % 100:02d}"
    if written.isdecimal():
        return str(number).zfill(len(written))[-max(len(written), 2) :]
    name = _find_month_names(written.casefold(), language)[number - 1]
    if written.isupper():
        return name.upper()
    return name.capitalize() if written[0].isupper() else name


def _find_month_names(name: str, language: str) -> Sequence[str]:
    """Return the list of month names that contains `name`, preferring that of `language`."""
    for table_language in (language, "en", "es"):
        for names in _TABLES[table_language]:
            if name in names or name.replace("sept", "sep") in names:
                return names
    raise ValueError("not the name of a month")  # read_date accepts only names from these tables
