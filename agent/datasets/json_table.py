"""JSON and JSON-lines files as rows of text cells."""

import json
from collections.abc import Iterable, Iterator
from typing import TextIO

from agent.datasets.table import Problems, Row, Table


class RepeatedKeyError(ValueError):
    """An object has one key twice; which value counts is anybody's guess."""


def read_json_lines(file: TextIO, problems: Problems) -> Table:
    """Read one JSON object a line; blank lines are skipped."""
    return table(_lines(file, problems), problems)


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
    try:
        return _parse(file.read())
    except json.JSONDecodeError as why:
        raise problems.stop(f"line {why.lineno}", f"is not JSON from column {why.colno} on") from None
    except RepeatedKeyError:
        raise problems.stop("the whole file", "an object has one key twice") from None
    except RecursionError:
        raise problems.stop("the whole file", "is nested too deeply") from None


def table(items: Iterable[tuple[str, object]], problems: Problems) -> Table:
    """Make rows of objects. Inner objects become columns with dots (`options.A`), inner lists JSON text."""
    rows: list[Row] = []
    columns: dict[str, None] = {}
    for where, item in items:
        if isinstance(item, dict):
            cells = dict(_flat(item, ""))
            columns.update(dict.fromkeys(cells))
            rows.append(Row(where, cells))
        else:
            problems.add(where, "expected a JSON object")
    return Table(tuple(columns), rows)


def text_of(value: object) -> str:
    """Write a JSON value as a cell: null is empty, a list its JSON text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _lines(file: TextIO, problems: Problems) -> Iterator[tuple[str, object]]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            yield f"line {number}", _parse(line)
        except json.JSONDecodeError as why:
            problems.add(f"line {number}", f"is not JSON from column {why.colno} on")
        except RepeatedKeyError:
            problems.add(f"line {number}", "an object has one key twice")
        except RecursionError:
            problems.add(f"line {number}", "is nested too deeply")


def _parse(text: str) -> object:
    value: object = json.loads(
        text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_without_repeats
    )
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
