"""Helpers shared by the commands: opening the directory, and printing as text or JSON."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from aggregator.home import Home

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Output format.",
)


def open_home(context: click.Context, *, alone: bool = False) -> "Home":
    """Open the directory named on the command line, and hold a lock on it until the command ends.

    Args:
        context: The command's context.
        alone: Whether the lock must be exclusive, so that no other command can use the directory.

    Raises:
        SettingsError: the directory is not an aggregator's, or another command holds the lock.
        StoreError: the database in the directory has another version.
    """
    from aggregator.directory_lock import DirectoryLock
    from aggregator.home import Home

    directory: Path = context.obj
    if directory.is_dir():
        context.call_on_close(DirectoryLock(directory, alone=alone).close)
    home = Home(directory)
    home.database.check_version()
    return home


def count(number: int, singular: str, plural: str) -> str:
    """Return a number with its noun in the singular or plural."""
    return f"{number} {singular if number == 1 else plural}"


def say(form: str, text: str, data: object) -> None:
    """Print `text`, or `data` as JSON."""
    click.echo(json.dumps(data, indent=2, sort_keys=True) if form == "json" else text)


def say_error(message: str, advice: str) -> None:
    """Print an error and the advice for it to standard error."""
    click.secho(f"error: {printable(message)}", fg="red", err=True)
    click.echo(f"  {printable(advice)}", err=True)


def printable(text: str) -> str:
    """Return text without lone surrogates and control characters, which could manipulate a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def show_rows(rows: Sequence[Mapping[str, object]]) -> None:
    """Print rows, which must all have the same keys, as a table with the keys as headings."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, collapse_padding=True)
    for name in rows[0]:
        numeric = all(isinstance(row[name], int) for row in rows)
        heading = name.replace("_", " ").capitalize()
        table.add_column(heading, justify="right" if numeric else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(printable(str(value)).replace("\n", " ")) for value in row.values()))
    # Do not wrap cells: a long line that the terminal wraps is easier to read.
    width = Console(width=10_000).measure(table).maximum
    Console(width=width, soft_wrap=True).print(table, crop=False, end="")
