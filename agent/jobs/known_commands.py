"""The commands that command lines of jobs consist of. The command line makes them known; this room cannot import it."""

import click

_groups: list[click.Group] = []


def use_commands(group: click.Group) -> None:
    """Make the group of all commands known, with which command lines are checked."""
    _groups[:] = [group]


def find_commands() -> click.Group:
    """Return the group of all commands."""
    if not _groups:
        raise RuntimeError("agent.cli.main has not been imported")
    return _groups[0]
