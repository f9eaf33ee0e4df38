"""Cells of JSON and of JSON lines."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from agent.redaction.formats.cells import Cell, DecodedText, Quoting, chain_quoting
from agent.redaction.formats.labels import Owner, find_meaning, is_telling_key, read_cue

_TOKEN = re.compile(
    r'"(?P<string>(?:[^"\\]|\\.)*)"|(?P<number>-?\d[\d.eE+-]*)|(?P<mark>[{}\[\],:\n])', re.DOTALL
)
_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\.", re.DOTALL)
_BEGINNING = re.compile(r'\{\s{0,40}"|\[\s{0,40}\{\s{0,40}"')
_DECODER = json.JSONDecoder()
_MAX_ATTEMPTS = 50  # beginnings of objects that are tried; each may read the rest of the text
_NEAREST = 30  # levels around a value that may say what it is


def is_json(text: str) -> bool:
    """Return whether `text` is an object or array of JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict | list)


def are_json_lines(text: str) -> bool:
    """Return whether each line of `text` is an object or array of JSON."""
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) > 1 and all(line.lstrip()[0] in "{[" and is_json(line) for line in lines)


def find_json(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each object or array of objects that stands within other text."""
    stretches: list[tuple[int, int]] = []
    attempts = 0
    end_of_last = 0
    for match in _BEGINNING.finditer(text):
        if match.start() < end_of_last:
            continue
        attempts += 1
        if attempts > _MAX_ATTEMPTS:
            break
        with suppress(ValueError, RecursionError):
            _, end_of_last = _DECODER.raw_decode(text, match.start())
            stretches.append((match.start(), end_of_last))
    return stretches


@dataclass(slots=True)
class _Level:
    """An object or array that is being read.

    Attributes:
        owner: the scalar values of the object, by key.
        key: the key that was read last.
        items: the strings of the array so far.
    """

    is_object: bool
    path: tuple[str, ...]
    owner: Owner = field(default_factory=dict)
    key: str | None = None
    items: list[str] = field(default_factory=list)
    awaits_key: bool = True


@dataclass(slots=True)
class _Leaf:
    """A scalar, the labels above it, and the objects around it, the innermost last."""

    value: DecodedText
    path: tuple[str, ...]
    owners: tuple[Owner, ...]
    is_number: bool = False
    is_key: bool = False


def read_json(text: DecodedText, quoting: Quoting) -> Iterator[Cell]:
    """Yield the cells of a JSON text, or of JSON lines: its strings, numbers and telling keys.

    Args:
        text: valid JSON.
        quoting: the quoting of the text itself, if it is a value of another text.
    """
    in_string = chain_quoting(_quote_in_string, quoting)
    as_string = chain_quoting(_quote_as_string, quoting)
    for leaf in _read_leaves(text):
        if leaf.is_key:
            if is_telling_key(leaf.value.text):
                yield Cell(leaf.value, "", "", in_string)
            continue
        meaning = find_meaning(leaf.path, leaf.owners, leaf.value.text)
        cue = read_cue(leaf.path)
        yield Cell(
            leaf.value, cue, meaning, as_string if leaf.is_number else in_string, leaf.is_number
        )


def _quote_in_string(replacement: str) -> str:
    return json.dumps(replacement, ensure_ascii=False)[1:-1]


def _quote_as_string(replacement: str) -> str:
    return json.dumps(replacement, ensure_ascii=False)


def _read_leaves(text: DecodedText) -> Iterator[_Leaf]:
    """Yield all strings, numbers and keys. Owners are complete only after the last of them."""
    levels = [_Level(is_object=False, path=())]
    leaves: list[_Leaf] = []
    for token in _TOKEN.finditer(text.text):
        level = levels[-1]
        mark = token.group("mark")
        if mark in ("{", "["):
            levels.append(_Level(is_object=mark == "{", path=_extend_path(level)))
        elif mark in ("}", "]"):
            levels.pop()
        elif mark == ",":
            level.awaits_key = True
        elif mark is None:
            leaves += _read_scalar(text, token, levels)
    return iter(leaves)


def _extend_path(level: _Level) -> tuple[str, ...]:
    if level.is_object and level.key is not None:
        return (*level.path, level.key)[-_NEAREST:]
    return level.path


def _read_scalar(text: DecodedText, token: re.Match[str], levels: list[_Level]) -> Iterator[_Leaf]:
    level = levels[-1]
    is_number = token.group("number") is not None
    written = text.cut(*token.span("number" if is_number else "string"))
    value = written if is_number else written.decode(_ESCAPE, _read_escape)
    if level.is_object and level.awaits_key:
        level.key, level.awaits_key = value.text, False
        level.owner.setdefault(value.text, "")
        if value.text:
            yield _Leaf(value, level.path, (), is_key=True)
        return
    path = _extend_path(level)
    if level.is_object:
        level.owner[level.key or ""] = value.text
    else:
        level.items.append(value.text)
        if len(level.items) == 2:  # perhaps a pair: ["MRN", "00451234"]
            path = (*path, level.items[0])
    if value.text:
        owners = tuple(above.owner for above in levels[-_NEAREST:] if above.is_object)
        yield _Leaf(value, path, owners, is_number)


def _read_escape(escape: str) -> str:
    try:
        return str(json.loads(f'"{escape}"'))
    except ValueError:
        return escape
