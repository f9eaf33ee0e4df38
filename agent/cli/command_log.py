"""The log of a command: how it is written, and the lines about the command's start and end."""

import logging
import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from agent.errors import AgentError
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.monitoring.log import LogOptions

_SERVE = "serve"
FindExitCode = Callable[[BaseException], int]


def start_command_log(context: click.Context, site: Site) -> None:
    """Start the log of a command line: as its options say, or else as the site's settings do."""
    from agent.monitoring.log import name_account, start_log

    start_log(_choose_options(context, site))
    name_account(context.params["account"])


@contextmanager
def log_command(context: click.Context, find_exit_code: FindExitCode) -> Iterator[None]:
    """Log the start and the end of the command that follows in a context."""
    from agent.monitoring.log import is_logged, log_event

    name = _name_command(context) if is_logged(logging.INFO) else ""
    if not name:
        yield
        return
    from agent.monitoring.events import CommandEnded, CommandStarted, make_known

    make_known("command", _list_commands(context.command))
    log_event(CommandStarted(name, os.getuid() if hasattr(os, "getuid") else None))
    began = time.monotonic()
    code = 0
    try:
        yield
    except BaseException as error:
        code = find_exit_code(error)
        raise
    finally:
        log_event(CommandEnded(name, code, time.monotonic() - began))


@contextmanager
def pass_counts_on(context: click.Context, site: Site) -> Iterator[None]:
    """Pass on to the site's service what the command that follows counts, if one runs. The service counts itself."""
    if context.invoked_subcommand == _SERVE or not site.counts.is_dir():
        yield
        return
    from agent.monitoring.shared_counts import share_counts

    with share_counts(site.counts):
        yield


def _choose_options(context: click.Context, site: Site) -> "LogOptions":
    from agent.monitoring.log import FORMATS, LEVELS, LogOptions

    level, form = context.params["log_level"], context.params["log_format"]
    file = None
    if _names_log_settings(site):
        try:
            settings = site.settings
        except AgentError:  # the command reports it, or needs no site
            level = level or _read_word("INTRAMURAL_LOG_LEVEL", LEVELS)
            form = form or _read_word("INTRAMURAL_LOG_FORMAT", FORMATS)
        else:
            level, form = level or settings.log_level, form or settings.log_format
            file = settings.log_file
    descriptor = context.params["log_descriptor"]
    return LogOptions(level or "warning", form or "text", file, descriptor)


def _read_word(variable: str, words: Collection[str]) -> str | None:
    word = os.environ.get(variable)
    return word if word in words else None


def _names_log_settings(site: Site) -> bool:
    """Return whether the settings may say something of the log; most sites' do not, and reading them takes 0.1 s."""
    if any(variable.startswith("INTRAMURAL_LOG_") for variable in os.environ):
        return True
    try:
        return b"log_" in (site.directory / "site.yaml").read_bytes()
    except OSError:
        return False


def _name_command(context: click.Context) -> str:
    """Return the command that a context of the outermost group leads to; empty for one that is not for people."""
    words: list[str] = []
    command: click.Command = context.command
    for word in (*context._protected_args, *context.args):
        inner = command.commands.get(word) if isinstance(command, click.Group) else None
        if inner is None:
            break
        words.append(word)
        command = inner
    return "" if command.hidden else " ".join(words)


def _list_commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the names of all commands, with those of their groups."""
    if not isinstance(group, click.Group):
        return
    for name, command in group.commands.items():
        yield " ".join((*path, name))
        yield from _list_commands(command, (*path, name))
