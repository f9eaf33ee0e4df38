"""Options that several commands share, and the types of their values."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

FILE: Final = click.Path(dir_okay=False, path_type=Path)
EXISTING_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


class ManyValues(click.Command):
    """A command that accepts several values after one option, like HELM's: `--run-entries A B` is `-r A -r B`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each further value."""
        repeatable: set[str] = set()
        for option in self.params:
            if isinstance(option, click.Option) and option.multiple:
                repeatable.update(option.opts)
        spelled: list[str] = []
        current = ""
        for arg in args:
            if arg.startswith("-"):
                current = arg if arg in repeatable else ""
            elif current and spelled[-1] != current:
                spelled.append(current)
            spelled.append(arg)
        return super().parse_args(ctx, spelled)


def suite_option(command: Command) -> Command:
    """Add the option that names the suite a command works on."""
    add_option = click.option(
        "--suite", default="default", show_default=True, help="Name of the collection of runs."
    )
    return add_option(command)


def max_in_flight_option(command: Command) -> Command:
    """Add the option that limits concurrent requests; HELM calls it `--num-threads`."""
    add_option = click.option(
        "-n",
        "--max-in-flight",
        "--num-threads",
        "max_in_flight",
        type=click.IntRange(1, 4096),
        help="Maximum number of concurrent requests.",
    )
    return add_option(command)


def quiet_option(command: Command) -> Command:
    """Add the option that hides progress."""
    return click.option("--quiet", is_flag=True, help="Hide progress.")(command)


def dry_run_option(description: str) -> Callable[[Command], Command]:
    """Return the option `--dry-run`, which previews a command; `description` is its help text."""
    return click.option("-d", "--dry-run", is_flag=True, help=description)


def format_option(*extra: str) -> Callable[[Command], Command]:
    """Return the option `--format` for commands that list rows."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["table", "json", *extra]),
        default="table",
        show_default=True,
        help="A table for people, or complete values for programs.",
    )
