"""Cells of lines of keys and values: forms, settings files, exports in lines."""

import re
from collections.abc import Iterator

from agent.redaction.formats.cells import FREE, KEEP, Cell, DecodedText, Quoting, trim
from agent.redaction.formats.labels import find_meaning, is_identifying_label, is_known_label

_LINE = re.compile(
    r"(?m)^[ \t]{0,40}(?P<key>[^\W\d_][\w .()/'&-]{0,39}?)[ \t]*(?P<mark>[:=])(?P<value>[^\n]*)"
)
_LEAST_LINES = 4
_LEAST_LABELS = 3  # labels of identifiers
_LONGEST_KEPT = 80  # characters


def are_key_values(text: str) -> bool:
    """Return whether most lines of `text` are keys with values, and several of the keys denote identifiers."""
    first = text.find("\n")
    if first < 0 or (":" not in text[:400] and "=" not in text[:400]):
        return False
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < _LEAST_LINES:
        return False
    matches = [match for line in lines if (match := _LINE.match(line)) is not None]
    if 10 * len(matches) < 7 * len(lines):
        return False
    keys = {match.group("key").strip().lower() for match in matches}
    if 10 * len(keys) < 7 * len(matches):
        return False  # a dialogue, whose speakers take turns
    known = sum(map(is_known_label, keys))
    return sum(map(is_identifying_label, keys)) >= _LEAST_LABELS and 2 * known >= len(keys)


def read_key_values(text: DecodedText, quoting: Quoting) -> Iterator[Cell]:
    """Yield the values of known keys, and the text between them."""
    start = 0
    for match in _LINE.finditer(text.text):
        key = match.group("key")
        value = trim(text.cut(*match.span("value")))
        meaning = find_meaning((key,), (), value.text)
        if not is_known_label(key) and meaning != KEEP:
            continue
        if meaning == KEEP and len(value.text) > _LONGEST_KEPT:
            meaning = FREE
        yield from _read_between(text.cut(start, match.start()), quoting)
        if value.text:
            yield Cell(value, "", meaning, quoting)
        start = match.end()
    yield from _read_between(text.cut(start, len(text.text)), quoting)


def _read_between(text: DecodedText, quoting: Quoting) -> Iterator[Cell]:
    if text.text.strip():
        yield Cell(text, "", FREE, quoting)
