"""Read JSON and JSON-lines files as rows of text cells."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from agent.datasets.readers.lines import MAX_LENGTH, LongLineError, read_lines
from agent.datasets.readers.table import MAX_COLUMNS, Problems, Row, Table

# Maximum characters of a file with a single JSON value, which is read into memory as a whole.
_MAX_FILE = 128 * 2**20
# The escape of a surrogate, which is only half a character unless it is part of a pair.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")

_Item = tuple[
    int, str, object
]  # the number of a value in the file, its location for messages, and the value


class RepeatedKeyError(ValueError):
    """An object has a key twice, so it is ambiguous which value is meant."""


class HalfCharacterError(ValueError):
    r"""A string contains a lone surrogate (such as "\ud83d"), which cannot be encoded."""


def read_json_lines(file: TextIO, problems: Problems) -> Table:
    """Read one JSON object per line and skip blank lines.

    The file is read twice, first for the columns and then for the rows, so that it need not fit in memory.

    Raises:
        BenchmarkError: a line is too long; the rest of the file was not read.
    """
    columns: dict[str, None] = {}
    for row in _read_rows(_read_items(file, problems), problems):
        columns.update(dict.fromkeys(row.cells))
    file.seek(0)
    unused = Problems("")  # all problems were recorded by the first pass
    return Table(tuple(columns), _read_rows(_read_items(file, unused), unused))


def read_json(file: TextIO, problems: Problems) -> Table:
    """Read a list of objects, or an object that contains one such list (ACI-Bench: {"data": [...]}).

    Raises:
        BenchmarkError: the file is not JSON, or has another structure.
    """
    value = load_json(file, problems)
    if isinstance(value, dict):
        value = _find_only_list(value)
    if not isinstance(value, list):
        raise problems.stop(
            "the whole file", "expected a list of objects, or one object with a single list"
        )
    items = ((number, f"row {number}", item) for number, item in enumerate(value, 1))
    return _make_table(items, problems)


def _find_only_list(value: dict[str, object]) -> list[object] | None:
    lists = [inner for inner in value.values() if isinstance(inner, list)]
    return lists[0] if len(lists) == 1 else None


def load_json(file: TextIO, problems: Problems) -> object:
    """Read one JSON value; numbers are kept as the strings in the file.

    Raises:
        BenchmarkError: the file is not JSON, or an object has a key twice.
    """
    text = file.read(_MAX_FILE + 1)
    if len(text) > _MAX_FILE:
        raise problems.stop(
            "the whole file", f"is longer than {_MAX_FILE} characters; write one object per line"
        )
    try:
        return _parse_json(text)
    except json.JSONDecodeError as why:
        raise problems.stop(f"line {why.lineno}", _describe_error(why)) from None
    except (ValueError, RecursionError) as why:
        raise problems.stop("the whole file", _describe_error(why)) from None


def _make_table(items: Iterable[_Item], problems: Problems) -> Table:
    """Convert objects to rows. Nested objects become columns with dots (`options.A`), and lists become JSON text."""
    rows = list(_read_rows(items, problems))
    columns: dict[str, None] = {}  # an ordered set
    for row in rows:
        columns.update(dict.fromkeys(row.cells))
    return Table(tuple(columns), rows)


def format_json_value(value: object) -> str:
    """Format a JSON value as a cell: null as an empty cell, and a list as JSON text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _read_rows(items: Iterable[_Item], problems: Problems) -> Iterator[Row]:
    for kept_number, (number, where, item) in enumerate(items, 1):
        if not isinstance(item, dict):
            problems.add(where, "expected a JSON object")
            continue
        cells = list(_flatten(item, ""))
        columns = dict(cells)
        if len(columns) != len(cells):
            problems.add(
                where, "a key with dots equals the dotted path of a key in a nested object"
            )
        elif len(columns) > MAX_COLUMNS:
            problems.add(where, f"has more than {MAX_COLUMNS} keys")
        else:
            yield Row(where, columns, number, kept_number)


def _read_items(file: TextIO, problems: Problems) -> Iterator[_Item]:
    number = 0
    try:
        for number, line in enumerate(read_lines(file), 1):
            if not line.strip():
                continue
            try:
                value = _parse_json(line)
            except (ValueError, RecursionError) as why:
                problems.add(f"line {number}", _describe_error(why))
            else:
                yield number, f"line {number}", value
    except LongLineError:
        raise problems.stop(
            f"line {number + 1}", f"is longer than {MAX_LENGTH} characters"
        ) from None


def _describe_error(why: ValueError | RecursionError) -> str:
    match why:
        case json.JSONDecodeError():
            return f"is not JSON from column {why.colno} on"
        case RepeatedKeyError():
            return "an object has a key twice"
        case HalfCharacterError():
            return "a string contains a lone surrogate (half a character)"
        case RecursionError():
            return "contains values that are nested too deeply"
    return "is not JSON"


def _parse_json(text: str) -> object:
    value: object = json.loads(
        text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_refuse_repeats
    )
    if _HALF.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise HalfCharacterError from None
    return value


def _refuse_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise RepeatedKeyError
    return value


def _flatten(item: dict[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in item.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", format_json_value(value)
