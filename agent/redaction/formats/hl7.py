"""Cells of HL7 v2 messages: components of fields, with the meaning that the standard gives them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agent.redaction.formats.cells import FREE, KEEP, Cell, DecodedText, Quoting, chain_quoting
from agent.redaction.formats.labels import judge_value

_MEANINGS = Path(__file__).parent / "meanings"
_BEGINNING = re.compile(r"(?:MSH|FHS|BHS)(?P<field>[^\w\s])(?P<encoding>[^\w\s]{2,5})")
_SEGMENT = re.compile(r"[^\r\n]+")
_NAME_OF_SEGMENT = re.compile(r"[A-Z][A-Z0-9]{2}")
# Types of OBX-5 whose values are figures or codes.
_CODED = frozenset({"NM", "SN", "CE", "CWE", "CNE", "CF", "IS", "ID", "SI", "NA", "MA"})
_TYPE_OF_RESULT = 2
_RESULT = 5


@dataclass(frozen=True, slots=True)
class _Separators:
    """The separators that the header of a message declares."""

    field: str
    component: str
    repetition: str
    escape: str
    subcomponent: str

    def quote(self, replacement: str) -> str:
        """Write a replacement with HL7's escapes."""
        letters = {
            self.escape: "E",
            self.field: "F",
            self.component: "S",
            self.repetition: "R",
            self.subcomponent: "T",
        }
        written = [
            f"{self.escape}{letters[character]}{self.escape}" if character in letters else character
            for character in replacement
        ]
        return "".join(written).replace("\r", " ").replace("\n", " ")

    def read_escape(self, escape: str) -> str:
        """Return the text of one escape, such as ``\\T\\``."""
        code = escape[1:-1]
        plain = {
            "F": self.field,
            "S": self.component,
            "T": self.subcomponent,
            "R": self.repetition,
            "E": self.escape,
            ".br": "\n",
            ".sp": "\n",
        }
        if code[:1] == "X":
            return bytes.fromhex(code[1:]).decode("latin-1") if _is_hex(code[1:]) else ""
        return plain.get(code, "")


@cache
def _read_fields() -> Mapping[str, tuple[str, str]]:
    """Return the data type and the name of each field, by segment and number: "PID-5"."""
    fields: dict[str, tuple[str, str]] = {}
    for line in (_MEANINGS / "hl7v2_fields.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            field, kind, name = line.split(maxsplit=2)
            fields[field] = kind, name
    return fields


@cache
def _read_types() -> Mapping[str, Sequence[str]]:
    """Return the meaning of each component, by data type."""
    types: dict[str, Sequence[str]] = {}
    for line in (_MEANINGS / "hl7v2_types.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, *meanings = line.split()
            types[kind] = [FREE if meaning == "FREE" else meaning for meaning in meanings]
    return types


def is_hl7(text: str) -> bool:
    """Return whether `text` is an HL7 v2 message: a header, and segments only."""
    header = _BEGINNING.match(text)
    if header is None:
        return False
    separator = header.group("field")
    return all(
        _NAME_OF_SEGMENT.fullmatch(segment.group()[:3]) and segment.group()[3:4] in ("", separator)
        for segment in _SEGMENT.finditer(text)
    )


def read_hl7(text: DecodedText, quoting: Quoting) -> Iterator[Cell]:
    """Yield the cells of an HL7 v2 message."""
    header = _BEGINNING.match(text.text)
    if header is None:
        return
    encoding = header.group("encoding").ljust(4, "\0")
    separators = _Separators(header.group("field"), *encoding[:4])
    for segment in _SEGMENT.finditer(text.text):
        yield from _read_segment(text.cut(*segment.span()), separators, quoting)


def _read_segment(
    segment: DecodedText, separators: _Separators, quoting: Quoting
) -> Iterator[Cell]:
    fields = list(_split(segment, separators.field))
    name = fields[0].text
    is_header = name in ("MSH", "FHS", "BHS")
    for index, field in enumerate(fields[1:], start=1):
        number = index + is_header  # the separator itself is the first field of a header
        if is_header and number == 2:
            continue
        kind, cue = _read_fields().get(f"{name}-{number}", ("", ""))
        if name == "OBX" and number == _RESULT:
            kind = fields[_TYPE_OF_RESULT].text
            kind = "KEEP" if kind in _CODED else kind
        for repetition in _split(field, separators.repetition):
            yield from _read_repetition(repetition, kind, cue, separators, quoting)


def _read_repetition(
    repetition: DecodedText, kind: str, cue: str, separators: _Separators, quoting: Quoting
) -> Iterator[Cell]:
    escape = re.compile(
        rf"{re.escape(separators.escape)}[^\r\n]{{1,40}}?{re.escape(separators.escape)}"
    )
    quote = chain_quoting(separators.quote, quoting)
    meanings = _read_types().get(kind, (KEEP,) * 30 if kind == KEEP else ())
    for index, component in enumerate(_split(repetition, separators.component)):
        meaning = meanings[index] if index < len(meanings) else FREE
        for part in _split(component, separators.subcomponent):
            value = part.decode(escape, separators.read_escape)
            if value.text and value.text != '""':
                yield Cell(value, cue, judge_value(meaning, value.text), quote)


def _split(text: DecodedText, separator: str) -> Iterator[DecodedText]:
    start = 0
    while True:
        end = text.text.find(separator, start)
        if end < 0:
            yield text.cut(start, len(text.text))
            return
        yield text.cut(start, end)
        start = end + 1


def _is_hex(text: str) -> bool:
    return len(text) % 2 == 0 and re.fullmatch(r"[0-9A-Fa-f]+", text) is not None
