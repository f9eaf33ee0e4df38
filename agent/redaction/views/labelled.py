"""Rewrite data and tables as forms: each value on its own line, labelled with its key, attribute or column head.

The rules recognise the labels of forms. Only labels of identifying values are rewritten; a table of laboratory values
is not.
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
# A label with one of these words denotes the name, date or number of a thing rather than of a person.
_WORDS_OF_THINGS = (
    "drug test generic brand medication medicine gene file disease diagnosis column field model product class "
    "variable procedure organism species lab dataset table function tool event metric unit units count total mean "
    "per of condition criterion"
)
# As keys of data, these may denote the name, date or picture of anything.
_AMBIGUOUS_WORDS = "name names date image link record device death country number num no nr lot client face template"
_IDENTIFYING = frozenset(_IDENTIFYING_WORDS.split())
_OF_THINGS = frozenset(_WORDS_OF_THINGS.split())
_AMBIGUOUS_KEYS = frozenset(_AMBIGUOUS_WORDS.split())

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
_MAX_CELLS = 60  # maximum cells per line; longer rows are not a table of people
_MAX_WORDS = 5  # maximum words of a label
_MAX_LABEL_LENGTH = 40  # characters


@dataclass(frozen=True, slots=True)
class _Cell:
    """The position of the content of a cell, without surrounding spaces and quotes."""

    start: int
    end: int


def read_labelled(text: str) -> Iterator[Substitution]:
    """Yield substitutions that write the keys, attributes and column heads of values as labels of a form."""
    if '":' in text or "':" in text or '" :' in text:
        for match in _PAIR.finditer(text):
            group = "value" if match.group("value") else "number"
            yield from _write_as_line(match, group, _label_key(match.group("key")))
    if "</" in text:
        for match in _ROW_OF_HTML.finditer(text):
            yield from _write_as_line(match, "value", read_label(match.group("key")))
        for match in _ELEMENT.finditer(text):
            yield from _write_as_line(match, "value", _label_key(match.group("key")))
    if "=" in text or "_" in text or ": " in text:
        for match in _ASSIGNED.finditer(text):
            label = _label_key(match.group("key").rstrip("=:\"' "))
            if label:
                yield Substitution(match.start(), match.start("value"), f"\n{label}: ")
    for separator in _SEPARATORS:
        if separator in text and (separator == "|" or "\n" in text):
            yield from _read_table(text, separator)


def _write_as_line(match: re.Match[str], group: str, label: str) -> Iterator[Substitution]:
    """Write the value in `group` as a separate line, if it has a label."""
    if not label:
        return
    start, end = match.span(group)
    yield Substitution(match.start(), start, f"\n{label}: ")
    yield Substitution(end, match.end(), "\n")


def read_label(written: str) -> str:
    """Return `written` as the label of a form, or "" if it does not label an identifying value."""
    if len(written) > _MAX_LABEL_LENGTH:
        return ""
    words = [word.lower() for word in _WORDS.findall(written)]
    is_identifying = not _IDENTIFYING.isdisjoint([*words, "".join(words)])  # "post code"
    is_of_thing = not _OF_THINGS.isdisjoint(words) and "birth" not in words and "kin" not in words
    if not is_identifying or is_of_thing or len(words) > _MAX_WORDS:
        return ""
    return " ".join(words)


def _label_key(key: str) -> str:
    """Return the label for a key of data, or "" if the key may refer to a thing as well as to a person."""
    label = read_label(key.rpartition(":")[2])
    return "" if label in _AMBIGUOUS_KEYS else label


def _label_cell(cell: str) -> str:
    """Return the label in the first cell of a row with two cells."""
    is_value = any(character.isdigit() or character in "<>=" for character in cell)
    return "" if is_value else read_label(cell)


def _read_table(text: str, separator: str) -> Iterator[Substitution]:
    """Yield substitutions for the cells below an identifying column head, or next to a label in a row of two cells."""
    head: Sequence[str] = ()
    for start, end in _split_lines(text):
        if separator not in text[start:end]:
            head = ()
            continue
        cells = _split_cells(text, start, end, separator)
        if separator == "|" and _RULE_OF_TABLE.fullmatch(text, start, end):
            continue
        contents = [text[cell.start : cell.end] for cell in cells]
        label = (
            _label_cell(contents[0].rstrip(": ")) if len(cells) == 2 and separator in "\t|" else ""
        )
        if label:
            yield Substitution(cells[0].start, cells[1].start, f"\n{label}: ")
            yield Substitution(cells[1].end, end, "\n")
        elif len(head) == len(cells) > 1:
            yield from _read_row(cells, head, end)
        else:
            head = _read_head(contents)


def _read_row(cells: Sequence[_Cell], head: Sequence[str], line_end: int) -> Iterator[Substitution]:
    """Yield each cell below a label as a separate line, together with preceding cells that have no label."""
    for column, cell in enumerate(cells):
        if not head[column] or cell.end == cell.start:
            continue
        start = cells[column - 1].end if column and not head[column - 1] else cell.start
        next_start = cells[column + 1].start if column + 1 < len(cells) else line_end
        yield Substitution(start, cell.start, f"\n{head[column]}: ")
        yield Substitution(cell.end, next_start, "\n")


def _read_head(contents: Sequence[str]) -> Sequence[str]:
    """Return the label of each column, empty for non-identifying columns; no labels if this is not a table head."""
    if len(contents) < 2:
        return ()
    if any(len(cell) > _MAX_LABEL_LENGTH or any(map(str.isdigit, cell)) for cell in contents):
        return ()
    labels = [read_label(cell) for cell in contents]
    return labels if any(labels) else ()


def _split_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        if end < 0:
            end = len(text)
        yield start, end
        start = end + 1


def _split_cells(text: str, start: int, end: int, separator: str) -> list[_Cell]:
    """Return the cells of a line, or an empty list if there are too many."""
    if text.count(separator, start, end) >= _MAX_CELLS:
        return []
    cells: list[_Cell] = []
    while start <= end:
        stop = _find_separator(text, start, end, separator)
        cells.append(_trim_cell(text, start, stop))
        start = stop + 1
    if separator == "|":  # the line begins and ends with the separator
        while cells and cells[0].start == cells[0].end:
            cells.pop(0)
        while cells and cells[-1].start == cells[-1].end:
            cells.pop()
    return cells


def _find_separator(text: str, start: int, end: int, separator: str) -> int:
    """Return the end of the cell that begins at `start`. A separator within quotes is part of the cell."""
    closing_quote = -1
    if separator != "|" and text.startswith('"', start):
        closing_quote = text.find('"', start + 1, end)
    stop = text.find(separator, max(start, closing_quote), end)
    return end if stop < 0 else stop


def _trim_cell(text: str, start: int, end: int) -> _Cell:
    while start < end and text[start] in ' \t\r"':
        start += 1
    while end > start and text[end - 1] in ' \t\r"':
        end -= 1
    return _Cell(start, end)
