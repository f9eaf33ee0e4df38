"""Output of commands: rows as tables, JSON or CSV, and suggested next commands."""

import csv
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table
from agent.io.plain_text import _TERMINAL, format_cell, printable

_NARROWEST = 24  # minimum width, in characters, of a column that folds


def with_site(text: str) -> str:
    """Add this command line's --site to the `intramural` commands that a text quotes."""
    context = click.get_current_context(silent=True)
    root = context.find_root() if context else None
    if (
        root is None
        or root.get_parameter_source("directory") is not click.core.ParameterSource.COMMANDLINE
    ):
        return text
    command = f"intramural --site {shlex.quote(str(root.params['directory']))} "
    return _COMMAND.sub(lambda match: match[1] + command, text)


# Commands that need no site are excluded: `init` and the steward's `steward-key`.
_COMMAND = re.compile(r"(`|^ *|^Next: )intramural (?!--|init\b|steward-key\b)", re.MULTILINE)


def show_rows(
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, str],
    form: str,
    *,
    title: str = "",
    folds: bool = False,
) -> None:
    """Print rows on standard output.

    Args:
        rows: values by key; lists and maps are shown in JSON only.
        columns: key -> heading, in the order of the table's columns. JSON and CSV name columns by key.
        form: "table", "json" or "csv".
        title: printed above a table.
        folds: wrap the last column of a table to fit the terminal; other columns are never wrapped. In a file or a
            pipe nothing is wrapped, so that each row is one line.
    """
    if form == "json":
        shown = json.dumps([dict(row) for row in rows], indent=2, ensure_ascii=False)
        click.echo(
            "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in shown)
        )
    elif form == "csv":
        writer = csv.writer(sys.stdout)
        writer.writerow(columns)
        for row in rows:
            writer.writerow([_TERMINAL.sub("\ufffd", format_cell(row.get(key))) for key in columns])
    else:
        _print_table(rows, columns, title, folds)


def fitting(
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, str],
    spare: Sequence[str],
    *,
    folds: bool = False,
) -> dict[str, str]:
    """Return the columns of a table, dropping spare columns in order until the table fits the terminal.

    If the output is not shown on a terminal, 100 characters are assumed.
    """
    remaining = dict(columns)
    for key in spare:
        if fits(rows, remaining, folds=folds):
            break
        remaining.pop(key, None)
    return remaining


def fits(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], *, folds: bool = False
) -> bool:
    """Return whether a table with these columns fits the terminal's width."""
    return _measure_minimum(rows, columns, folds) <= _measure_terminal()


def _measure_terminal() -> int:
    return shutil.get_terminal_size((100, 24)).columns


def _measure_minimum(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], folds: bool
) -> int:
    from rich.console import Console

    return Console(width=10_000).measure(_build_table(rows, columns, "", folds)).minimum


def _build_table(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], title: str, folds: bool
) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    numeric = {
        key
        for key in columns
        if rows and all(isinstance(row.get(key), int | float | None) for row in rows)
    }
    table = Table(
        title=Text(printable(title)) if title else None,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        collapse_padding=True,
    )
    last_key = list(columns)[-1] if columns else None
    for key, heading in columns.items():
        folded = folds and key == last_key
        table.add_column(
            Text(printable(heading)),
            justify="right" if key in numeric else "left",
            no_wrap=not folded,
            overflow="fold",
            min_width=_NARROWEST if folded else None,
        )
    decimal = {key for key in columns if any(isinstance(row.get(key), float) for row in rows)}
    for row in rows:
        cells = []
        for key in columns:
            value = row.get(key)
            if key in decimal and isinstance(value, int) and not isinstance(value, bool):
                value = float(value)  # 1 among 0.280 is shown as 1.000
            cells.append(Text(_format_value(value)))
        table.add_row(*cells)
    return table


def _print_table(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], title: str, folds: bool
) -> None:
    from rich.console import Console

    table = _build_table(rows, columns, title, folds)
    # Rows stay on one line: a long line that the terminal wraps or scrolls is easier to read than folded columns.
    measured = Console(width=10_000).measure(table)
    width = measured.maximum
    if folds and _has_width():
        width = min(width, max(_measure_terminal(), measured.minimum))
    Console(width=max(1, width), soft_wrap=not folds).print(table, crop=False, end="")


def _has_width() -> bool:
    """Return whether the output has a width to fit: a terminal's, or that of the variable COLUMNS."""
    return sys.stdout.isatty() or bool(os.environ.get("COLUMNS"))


def _format_value(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    return printable(str(value)).replace("\n", " ")
