"""What the commands share: opening the directory, and printing for people or for machines."""

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
    help="How to print.",
)


def open_home(context: click.Context, *, alone: bool = False) -> "Home":
    """Open the directory that the command line names, and hold a lock on it until the command ends.

    Args:
        context: of the command.
        alone: whether no other command may work on the directory meanwhile.

    Raises:
        SettingsError: it is not an aggregator's directory, or another command is in the way.
        StoreError: its database is not one of this version.
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
    """Return a number with its noun."""
    return f"{number} {singular if number == 1 else plural}"


def say(form: str, text: str, data: object) -> None:
    """Print `text`, or `data` as JSON."""
    click.echo(json.dumps(data, indent=2, sort_keys=True) if form == "json" else text)


def say_error(message: str, advice: str) -> None:
    """Print an error and what to do about it on standard error."""
    click.secho(f"error: {printable(message)}", fg="red", err=True)
    click.echo(f"  {printable(advice)}", err=True)


def printable(text: str) -> str:
    """Return text without control characters, which could take over a terminal, or lone surrogates."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def show_rows(rows: Sequence[Mapping[str, object]]) -> None:
    """Print rows, which all have the same keys, as a table under those names."""
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
    # Lines stay whole: a terminal wraps a long one better than columns fold.
    width = Console(width=10_000).measure(table).maximum
    Console(width=width, soft_wrap=True).print(table, crop=False, end="")
