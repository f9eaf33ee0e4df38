"""Dates as they are written in notes: read, moved by days, and written again in the same form."""

from dataclasses import dataclass
from datetime import date, timedelta

import regex

_MONTHS = {
    "en": ("january february march april may june july august september october november december",
           "jan feb mar apr may jun jul aug sep oct nov dec"),
    "es": ("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
           "ene feb mar abr may jun jul ago sep oct nov dic"),
}  # fmt: skip
_TABLES = {language: tuple(tuple(names.split()) for names in tables) for language, tables in _MONTHS.items()}
_NUMBER = {name: number for tables in _TABLES.values() for names in tables for number, name in enumerate(names, 1)} | {
    "sept": 9
}
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
    """A date found in a text.

    Attributes:
        date: the day; the fifteenth where only the month is written.
        text: the whole of what was read.
        places: by part ("year", "month", "day"), where in `text` it is written.
        language: "en" or "es", of a month's name that both languages have ("mar").
    """

    date: date
    text: str
    places: dict[str, tuple[int, int]]
    language: str

    def moved(self, days: int) -> str | None:
        """Return the text with the date `days` later; None where the calendar ends."""
        try:
            then = self.date + timedelta(days)
        except OverflowError:
            return None
        parts = {"year": then.year, "month": then.month, "day": then.day}
        text = self.text
        for part, (start, end) in sorted(self.places.items(), key=lambda item: -item[1][0]):
            text = text[:start] + _like(text[start:end], parts[part], self.language) + text[end:]
        return text


def read_date(text: str, *, language: str = "en", this_year: int = 2099) -> WrittenDate | None:
    """Return the one date in `text`, or None: none is there, several are, or its year or month is not written.

    Args:
        text: as it was found: "03/14/2022 14:30", "14 de marzo de 2022", "Mar 2022".
        language: "en" or "es": what 03/04/2022 means; a number over twelve is always the day.
        this_year: years of two digits lie in the hundred years up to it.
    """
    if _WEEKDAY.search(text):
        return None  # the weekday would say by how many days the date was moved
    for form in _FORMS:
        found = list(form.finditer(text))
        if len(found) != 1:
            if found:
                return None
            continue
        rest = _CLOCK.sub("", text[: found[0].start()] + " " + text[found[0].end() :])
        if any(word.casefold() not in _LINKS for word in _WORD.findall(rest)):
            return None  # a range of days, a day in words, or a number of another kind
        return _read(found[0], text, language, this_year)
    return None


def read_year(text: str, *, this_year: int) -> int | None:
    """Return the one year in `text`, written whole or as the end of a date; None when there is none, or several."""
    whole = {int(year) for year in _ANY_YEAR.findall(text)}
    if whole:
        return whole.pop() if len(whole) == 1 else None
    written = read_date(_WEEKDAY.sub("", text), this_year=this_year)
    return None if written is None else written.date.year


def _read(found: "regex.Match[str]", text: str, language: str, this_year: int) -> WrittenDate | None:
    groups = {name: value for name, value in found.groupdict().items() if value is not None}
    places = {part: found.span(part) for part in ("year", "month", "day") if part in groups}
    if "first" in groups:
        month_second = int(groups["first"]) > 12 or (language == "es" and int(groups["second"]) <= 12)
        places["day"], places["month"] = found.span("first"), found.span("second")
        if not month_second:
            places["day"], places["month"] = places["month"], places["day"]
    values = {part: text[start:end] for part, (start, end) in places.items()}
    month = values["month"].casefold().rstrip(".")
    try:
        day = date(
            _whole_year(values["year"], this_year),
            int(month) if month.isdecimal() else _NUMBER[month],
            int(values.get("day", "15")),
        )
    except ValueError:
        return None  # no day of the calendar
    return WrittenDate(day, text, places, language)


def _whole_year(written: str, this_year: int) -> int:
    year = int(written.lstrip("'"))
    if len(written.lstrip("'")) > 2:
        return year
    century = this_year - this_year % 100
    return year + century if year + century <= this_year else year + century - 100


def _like(written: str, number: int, language: str) -> str:
    """Write `number` as its predecessor was: with as many digits, or as a month's name in the same case."""
    if written.startswith("'"):
        return f"'{number % 100:02d}"
    if written.isdecimal():
        return str(number).zfill(len(written))[-max(len(written), 2) :]
    name = written.casefold()
    table = next(
        table
        for of in (language, "en", "es")
        for table in _TABLES[of]
        if name.replace("sept", "sep") in table or name in table
    )
    name = table[number - 1]
    if written.isupper():
        return name.upper()
    return name.capitalize() if written[0].isupper() else name
