"""Data and tables in which the word for a value is no part of a sentence: keys, attributes, the heads of columns.

Read as forms are written, "word: value", one a line, so that what a value is called tells what it is. Only words for
what identifies are read so: a table of laboratory values has no second reading.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.redaction.views.decoding import Substitution

_IDENTIFYING_WORDS = (
    "name names patient surname forename firstname lastname fullname physician provider doctor attending surgeon "
    "author dictated signed referring consultant pcp gp kin contact guardian spouse mother father city town "
    "county country birth birthplace birthdate birthday hometown residence address street zip zipcode postal "
    "postcode hospital facility clinic employer dob age phone telephone tel mobile cell fax pager email mail ssn "
    "social mrn record id identifier account acct card iban policy member subscriber insurance medicare medicaid "
    "license licence npi dea plate vin vehicle registration serial device udi url website link ip fingerprint "
    "voiceprint retina iris biometric photo image passport encounter accession visit username login admitted "
    "admission discharge died death date number num no nr certificate caregiver client pt face template specimen "
    "badge lot"
)
# With one of these a name, a date or a number is that of a thing.
_WORDS_OF_THINGS = (
    "drug test generic brand medication medicine gene file disease diagnosis column field model product class "
    "variable procedure organism species lab dataset table function tool event metric unit units count total mean "
    "per of"
)
# Of data these may be the name, the date, the picture of anything.
_ALONE = frozenset(
    [
        "name",
        "names",
        "date",
        "image",
        "link",
        "record",
        "device",
        "death",
        "country",
        "number",
        "num",
        "no",
        "nr",
        "lot",
        "client",
        "face",
        "template",
    ]
)
_IDENTIFYING, _OF_THINGS = frozenset(_IDENTIFYING_WORDS.split()), frozenset(_WORDS_OF_THINGS.split())

_KEY = r"[A-Za-z][\w .-]{0,38}\w"
_PAIR = re.compile(
    rf"\\{{0,3}}(?P<by>[\"'])(?P<key>{_KEY})\\{{0,3}}(?P=by)\s{{0,3}}:\s{{0,3}}(?:\[\s{{0,3}})?"
    rf"(?:\\{{0,3}}(?P<open>[\"'])(?P<value>[^\"\\\n]{{1,300}})\\{{0,3}}(?P=open)|(?P<number>\d[\w.-]{{0,40}}))"
)
_ELEMENT = re.compile(
    r"<(?P<key>[A-Za-z][\w:.-]{1,40})(?:\s[^<>]{0,100})?>\s{0,3}(?P<value>[^<>]{1,300}?)\s{0,3}</(?P=key)>"
)
_ROW_OF_HTML = re.compile(
    r"<t[dh](?:\s[^<>]{0,80})?>\s{0,3}(?P<key>[^<>\n]{2,40}?)\s{0,3}:?</t[dh]>\s{0,9}<t[dh](?:\s[^<>]{0,80})?>\s{0,3}"
    r"(?P<value>[^<>]{1,300}?)\s{0,3}</t[dh]>"
)
_ASSIGNED = re.compile(
    r"(?<![\w.-])(?P<key>[A-Za-z]{2,20}(?:[_-][A-Za-z]{1,20}){1,4}(?:=|[\"']?: ?)"
    r"|[a-z]{2,20}(?:[A-Z][a-z]{1,20}){1,3}(?:=|: ?)|[A-Za-z]{2,20}=)"
    r"(?P<open>[\"']?)(?P<value>(?=\S)[^\"'\n;&|<>]{1,300})"
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SEPARATORS = ("\t", "|", ",", ";")
_RULE_OF_TABLE = re.compile(r"[\s|:+=-]+")
_MOST_CELLS = 60
_MOST_WORDS = 5  # of a label
_LONGEST_LABEL = 40  # characters


@dataclass(frozen=True, slots=True)
class _Cell:
    """Where the content of a cell stands, without what surrounds it."""

    start: int
    end: int


def labelled(text: str) -> Iterator[Substitution]:
    """Yield what stands around values that are told by a key, an attribute or the head of a column."""
    if '":' in text or "':" in text or '" :' in text:
        for match in _PAIR.finditer(text):
            yield from _value(match, "value" if match.group("value") else "number", _of_data(match.group("key")))
    if "</" in text:
        for match in _ROW_OF_HTML.finditer(text):
            yield from _value(match, "value", _label(match.group("key")))
        for match in _ELEMENT.finditer(text):
            yield from _value(match, "value", _of_data(match.group("key")))
    if "=" in text or "_" in text or ": " in text:
        for match in _ASSIGNED.finditer(text):
            if label := _of_data(match.group("key").rstrip("=:\"' ")):
                yield Substitution(match.start(), match.start("value"), f"\n{label}: ")
    for separator in _SEPARATORS:
        if separator in text and (separator == "|" or "\n" in text):
            yield from _table(text, separator)


def _value(match: re.Match[str], group: str, label: str) -> Iterator[Substitution]:
    if label:
        start, end = match.span(group)
        yield Substitution(match.start(), start, f"\n{label}: ")
        yield Substitution(end, match.end(), "\n") if match.end() > end else Substitution(end, end, "\n")


def _label(written: str) -> str:
    """Return `written` as a form would say it; empty when it is no word for what identifies."""
    if len(written) > _LONGEST_LABEL:
        return ""
    said = [word.lower() for word in _WORDS.findall(written)]
    known = not _IDENTIFYING.isdisjoint([*said, "".join(said)])  # "post code"
    if not (known and len(said) <= _MOST_WORDS and (_OF_THINGS.isdisjoint(said) or "birth" in said or "kin" in said)):
        return ""
    return " ".join(said)


def _word_for(cell: str) -> str:
    """Return the label that the first cell of a row of two is."""
    return "" if any(character.isdigit() or character in "<>=" for character in cell) else _label(cell)


def _of_data(key: str) -> str:
    """Return the label that a key of data is; a key that may be of anything is none."""
    label = _label(key.rpartition(":")[2])
    return "" if label in _ALONE else label


def _table(text: str, separator: str) -> Iterator[Substitution]:
    """Yield what stands around cells below the head of their column, or beside the word for them in a row of two."""
    head: Sequence[str] = ()
    for start, end in _lines(text):
        if separator not in text[start:end]:
            head = ()
            continue
        cells = _cells(text, start, end, separator)
        if separator == "|" and _RULE_OF_TABLE.fullmatch(text, start, end):
            continue
        written = [text[cell.start : cell.end] for cell in cells]
        if len(cells) == 2 and separator in "\t|" and (label := _word_for(written[0].rstrip(": "))):
            yield Substitution(cells[0].start, cells[1].start, f"\n{label}: ")
            yield Substitution(cells[1].end, end, "\n")
        elif len(head) == len(cells) > 1:
            for column, cell in enumerate(cells):
                if head[column] and cell.end > cell.start:
                    before = cells[column - 1].end if column and not head[column - 1] else cell.start
                    follows = cells[column + 1].start if column + 1 < len(cells) else end
                    yield Substitution(before, cell.start, f"\n{head[column]}: ")
                    yield Substitution(cell.end, follows, "\n")
        else:
            head = _head(written)


def _head(written: Sequence[str]) -> Sequence[str]:
    """Return the labels of a row that is the head of a table, empty where one is no word for what identifies."""
    plain = all(len(cell) <= _LONGEST_LABEL and not any(map(str.isdigit, cell)) for cell in written)
    labels = [_label(cell) for cell in written]
    return labels if len(written) > 1 and plain and any(labels) else ()


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _cells(text: str, start: int, end: int, separator: str) -> list[_Cell]:
    """Return the cells of a line; none when there are too many."""
    if text.count(separator, start, end) >= _MOST_CELLS:
        return []
    cells, place = [], start
    while place <= end:
        quoted = separator != "|" and text.startswith('"', place)
        closing = text.find('"', place + 1, end) if quoted else -1
        stop = text.find(separator, max(place, closing), end)
        stop = end if stop < 0 else stop
        first, last = place, stop
        while first < last and text[first] in ' \t\r"':
            first += 1
        while last > first and text[last - 1] in ' \t\r"':
            last -= 1
        cells.append(_Cell(first, last))
        place = stop + 1
    if separator == "|":  # the line begins and ends with it
        while cells and cells[0].start == cells[0].end:
            cells.pop(0)
        while cells and cells[-1].start == cells[-1].end:
            cells.pop()
    return cells
