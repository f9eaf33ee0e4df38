"""JSON and JSON-lines files as rows of text cells."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from agent.datasets.readers.lines import LONGEST, LongLineError, read_lines
from agent.datasets.readers.table import MOST_COLUMNS, Problems, Row, Table

_LONGEST_FILE = 128 * 2**20  # characters of a file that is one JSON value, and so is read as a whole
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # an escape that is half a character, if the other half does not follow


class RepeatedKeyError(ValueError):
    """An object has one key twice; which value counts is anybody's guess."""


class HalfCharacterError(ValueError):
    r"""A text holds half a character (an escape such as "\ud83d" alone), which nothing can write down."""


def read_json_lines(file: TextIO, problems: Problems) -> Table:
    """Read one JSON object a line; blank lines are skipped.

    The file is read twice, so that it need not fit the memory: for the columns, then for the rows.

    Raises:
        BenchmarkError: a line is too long; nothing after it was read.
    """
    columns: dict[str, None] = {}
    for row in _rows(_lines(file, problems), problems):
        columns.update(dict.fromkeys(row.cells))
    file.seek(0)
    told = Problems("")  # what the second reading finds was noted in the first
    return Table(tuple(columns), _rows(_lines(file, told), told))


def read_json(file: TextIO, problems: Problems) -> Table:
    """Read a list of objects, or an object that holds one such list (ACI-Bench: {"data": [...]}).

    Raises:
        BenchmarkError: not JSON, or not of that form.
    """
    value = load_json(file, problems)
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        value = lists[0] if len(lists) == 1 else None
    if not isinstance(value, list):
        raise problems.stop("the whole file", "expected a list of objects, or one object with a single list")
    return table(((f"row {i}", item) for i, item in enumerate(value, 1)), problems)


def load_json(file: TextIO, problems: Problems) -> object:
    """Read one JSON value; numbers stay the text they are written as.

    Raises:
        BenchmarkError: not JSON, or an object has a key twice.
    """
    text = file.read(_LONGEST_FILE + 1)
    if len(text) > _LONGEST_FILE:
        raise problems.stop("the whole file", f"is longer than {_LONGEST_FILE} characters; write one object a line")
    try:
        return _parse(text)
    except json.JSONDecodeError as why:
        raise problems.stop(f"line {why.lineno}", _problem(why)) from None
    except (ValueError, RecursionError) as why:
        raise problems.stop("the whole file", _problem(why)) from None


def table(items: Iterable[tuple[str, object]], problems: Problems) -> Table:
    """Make rows of objects. Inner objects become columns with dots (`options.A`), inner lists JSON text."""
    rows = list(_rows(items, problems))
    return Table(tuple(dict.fromkeys(name for row in rows for name in row.cells)), rows)


def text_of(value: object) -> str:
    """Write a JSON value as a cell: null is empty, a list its JSON text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _rows(items: Iterable[tuple[str, object]], problems: Problems) -> Iterator[Row]:
    for where, item in items:
        if not isinstance(item, dict):
            problems.add(where, "expected a JSON object")
            continue
        cells = list(_flat(item, ""))
        columns = dict(cells)
        if len(columns) != len(cells):
            problems.add(where, "one key with dots is the name of another one within an inner object")
        elif len(columns) > MOST_COLUMNS:
            problems.add(where, f"has more than {MOST_COLUMNS} keys")
        else:
            yield Row(where, columns)


def _lines(file: TextIO, problems: Problems) -> Iterator[tuple[str, object]]:
    number = 0
    try:
        for number, line in enumerate(read_lines(file), 1):
            if not line.strip():
                continue
            try:
                value = _parse(line)
            except (ValueError, RecursionError) as why:
                problems.add(f"line {number}", _problem(why))
            else:
                yield f"line {number}", value
    except LongLineError:
        raise problems.stop(f"line {number + 1}", f"is longer than {LONGEST} characters") from None


def _problem(why: ValueError | RecursionError) -> str:
    match why:
        case json.JSONDecodeError():
            return f"is not JSON from column {why.colno} on"
        case RepeatedKeyError():
            return "an object has one key twice"
        case HalfCharacterError():
            return "a text holds half a character (a lone surrogate)"
        case RecursionError():
            return "is nested too deeply"
    return "is not JSON"


def _parse(text: str) -> object:
    value: object = json.loads(
        text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_without_repeats
    )
    if _HALF.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise HalfCharacterError from None
    return value


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RepeatedKeyError
    return found


def _flat(item: dict[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in item.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", text_of(value)
