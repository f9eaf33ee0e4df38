"""The options `--format parquet|xlsx` and `--output`: the rows of a command as a file for other programs."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from agent.cli.options import FILE
from agent.errors import ConfigError
from agent.io.new_file import check_new
from agent.io.wording import format_count

if TYPE_CHECKING:
    from pandas import DataFrame

    from agent.notebook.files import FrameForm

FILE_FORMS = ("parquet", "xlsx")


def table_output_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option `--output` to a command with the formats parquet and xlsx."""
    words = "New file for --format parquet or xlsx."
    return click.option("--output", "--out", "output", type=FILE, metavar="FILE", help=words)(
        command
    )


def check_output(form: str, output: Path | None) -> None:
    """Check the destination of the rows before anything is computed.

    Raises:
        ConfigError: the format needs a file and none is named, or the reverse; the file exists; or Parquet's library
            is not installed.
    """
    from agent.exchange.tables.files import check_writable

    if form not in FILE_FORMS:
        if output is not None:
            raise ConfigError(
                f"--output is for --format {' or '.join(FILE_FORMS)}; {form} is written to standard output",
                "Leave out --output, or choose one of these formats.",
            )
        return
    if output is None:
        raise ConfigError(f"--format {form} needs a file", f"Name it: --output FILE.{form}.")
    check_writable(form)
    check_new(output)


def write_table(frame: "DataFrame", output: Path, form: str) -> None:
    """Write a table to the file of `--output`, and say so. Raises ConfigError if it cannot be written."""
    from agent.notebook.files import write_frame

    write_frame(frame, output, cast("FrameForm", form))
    click.echo(f"{format_count(len(frame), 'row')} written to {output.name}", err=True)
