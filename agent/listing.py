"""How every listing command prints its rows: a table for people, JSON or CSV for programs."""

import csv
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

# A spreadsheet takes cells that begin so for formulas, in full-width signs too.
FORMULA_START = re.compile(r"\s*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def format_option(*extra: str) -> Callable[[Command], Command]:
    """Return the `--format` option that all listing commands share."""
    return click.option(
        "--format", "form", type=click.Choice(["table", "json", *extra]), default="table", show_default=True
    )


def show_rows(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], form: str, *, title: str = "") -> None:
    """Print rows on standard output.

    Args:
        rows: values by key; lists and maps are shown in JSON only.
        columns: key -> heading, the columns of the table in order. JSON and CSV name columns by key.
        form: "table", "json" or "csv".
    """
    if form == "json":
        click.echo(json.dumps([dict(row) for row in rows], indent=2, ensure_ascii=False))
    elif form == "csv":
        writer = csv.writer(sys.stdout)
        writer.writerow(columns)
        for row in rows:
            writer.writerow([spreadsheet_cell(row.get(key)) for key in columns])
    else:
        _print_table(rows, columns, title)


def spreadsheet_cell(value: Any) -> str:
    """Write a value as a cell of a CSV file; a text that a spreadsheet would run begins with an apostrophe."""
    text = "" if value is None else str(value)
    if isinstance(value, str) and FORMULA_START.match(text):
        return "'" + text
    return text


def _print_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], title: str) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    numeric = {key for key in columns if rows and all(isinstance(row.get(key), int | float | None) for row in rows)}
    table = Table(
        title=Text(printable(title)) if title else None,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        collapse_padding=True,
    )
    for key, heading in columns.items():
        table.add_column(heading, justify="right" if key in numeric else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(_shown(row.get(key))) for key in columns))
    # A table keeps its lines whole: a terminal wraps or scrolls a long line better than columns fold.
    wide = Console(width=10_000)
    Console(width=max(1, wide.measure(table).maximum), soft_wrap=True).print(table, crop=False, end="")


def printable(text: str) -> str:
    """Return text without control characters, which could take over a terminal, or lone surrogates."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    return printable(str(value)).replace("\n", " ")
