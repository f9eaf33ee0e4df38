"""Write docs/commands.md: every command of the three programs with what it does and its options.

    python -m tests.commands_page

The page is made of the programs' own help, so that it says what they do; tests/test_house.py compares them.
"""

import re
from pathlib import Path
from typing import Final

import click

PAGE: Final = Path(__file__).parents[1] / "docs/commands.md"
HEAD: Final = """\
# Commands

Every command of the three programs, with its options, from their own `--help`. `make commands` writes this page.
"""


def write_page() -> None:
    """Write the page."""
    PAGE.write_text(make_page(), "utf-8")


def make_page() -> str:
    """Return the page's text."""
    from agent.cli.main import intramural
    from aggregator.cli import cli as aggregator
    from intramural_steward.cli import cli as steward

    programs = {
        "intramural": intramural,
        "intramural-steward": steward,
        "intramural-aggregator": aggregator,
    }
    parts = [HEAD]
    for name, program in programs.items():
        parts.append(f"## {name}\n")
        parts += describe_group(name, program)
    return "\n".join(parts)


def describe_group(path: str, group: click.Group) -> list[str]:
    """Return the parts of a group's page: its commands one after the other, groups within it as well."""
    parts = []
    for name in group.list_commands(click.Context(group)):
        command = group.commands[name]
        if command.hidden:
            continue
        if isinstance(command, click.Group):
            parts += describe_group(f"{path} {name}", command)
        else:
            parts.append(describe_command(f"{path} {name}", command))
    return parts


def describe_command(path: str, command: click.Command) -> str:
    """Return a command's part: its name with its arguments, the first sentence of its help, a table of its options."""
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    words = " ".join([path, *(param.make_metavar(click.Context(command)) for param in arguments)])
    sentence = tidy((command.help or "").split("\n\n")[0])
    rows = [describe_option(param) for param in command.params if isinstance(param, click.Option)]
    table = ["| option | meaning |", "|---|---|", *rows] if rows else []
    return "\n".join([f"### {path}\n", f"`{words}`. {sentence}\n", *table, ""])


def describe_option(option: click.Option) -> str:
    """Return a row of a table of options."""
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    return f"| {names} | {tidy(option.help or '')} |"


def tidy(text: str) -> str:
    """Return a text of the help as one line that a table of Markdown can hold."""
    return re.sub(r"\s+", " ", text.replace("\b", "")).strip().replace("|", "\\|")


if __name__ == "__main__":
    write_page()
