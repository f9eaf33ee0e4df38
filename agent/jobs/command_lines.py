"""Read a command line that is to be queued, with the real commands, so that a wrong option is refused at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from agent.catalog.arguments import FILE_ARGUMENTS
from agent.catalog.run_entries import collect_run_entries
from agent.errors import ConfigError
from agent.site.directory import Site

# The commands whose output names no text of a record, and which may be run twice: a job that was interrupted starts
# again from its beginning. Whether a command changes or reads all runs of its suite.
_ON_WHOLE_SUITE: Mapping[tuple[str, ...], bool] = {
    ("run",): False,
    ("judge",): True,
    ("rescore",): True,
    ("datasets", "fetch"): False,
}
QUEUEABLE = tuple(" ".join(words) for words in _ON_WHOLE_SUITE)
_HELP = "--help"
# Options that belong to a person at a terminal.
_REFUSED = {
    "queue": "it queues the command line again",
    "reveal": "original texts are shown only to a person who asks for them",
}


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line that may be queued.

    Attributes:
        words: the command, such as ("datasets", "fetch").
        options: the values of its options and arguments, by the names that the command's function uses.
    """

    words: tuple[str, ...]
    options: Mapping[str, Any]

    @property
    def suite(self) -> str:
        """The suite that the command works on; empty if it works on none."""
        return str(self.options.get("suite") or "")

    @property
    def takes_whole_suite(self) -> bool:
        """Whether no other job may change the suite's runs meanwhile."""
        return _ON_WHOLE_SUITE[self.words]


def read_command_line(
    site: Site, commands: click.Group, arguments: Sequence[str], *, files_allowed: bool
) -> CommandLine:
    """Parse a command line.

    Args:
        site: the site that the command is for.
        commands: the group of all commands.
        arguments: the command line after `--site DIR`.
        files_allowed: whether it may name files and servers; not if it comes from someone without an account on this
            machine.

    Raises:
        ConfigError: the command may not be queued, an option is wrong or missing, or a file is named.
    """
    words = _find_command(arguments)
    if _HELP in arguments:  # click would print the help text
        raise ConfigError("a job shows no help", f"Leave out {_HELP}.")
    context = click.Context(commands, info_name="intramural", obj=site)
    command: click.Command = commands
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(context, word)
        assert found is not None  # a name of the table above
        command = found
    try:
        parsed = command.make_context(
            " ".join(words), list(arguments[len(words) :]), parent=context
        )
    except click.UsageError as error:
        raise ConfigError(
            f"{' '.join(words)}: {error.format_message()}", "Correct the command line."
        ) from None
    for name, reason in _REFUSED.items():
        if parsed.params.get(name):
            raise ConfigError(f"--{name} cannot be queued: {reason}", f"Leave out --{name}.")
    if not files_allowed:
        _refuse_files(command, parsed)
        _refuse_server(parsed)
    return CommandLine(words, parsed.params)


def _find_command(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the command of a command line. Raises ConfigError if it may not be queued."""
    for words in _ON_WHOLE_SUITE:
        if tuple(arguments[: len(words)]) == words:
            return words
    named: list[str] = []
    for argument in arguments[:2]:
        if argument.startswith("-"):
            break
        named.append(argument)
    shown = " ".join(named) or "a command line without a command"
    raise ConfigError(
        f"{shown[:100]} cannot be queued",
        f"These commands can: {', '.join(QUEUEABLE)}. Options stand behind the command.",
    )


def _refuse_files(command: click.Command, parsed: click.Context) -> None:
    """Refuse options and run entries that name a file of this machine."""
    for parameter in command.params:
        is_path = isinstance(parameter.type, click.Path)
        if is_path and parameter.name and parsed.params.get(parameter.name):
            raise ConfigError(
                f"{parameter.opts[-1]} names a file, and files can be named only on this machine",
                "Queue it on the site's machine: `intramural run --queue`.",
            )
    descriptions = parsed.params.get("descriptions")
    if not descriptions:
        return
    # Entries as they will be run: another option completes them.
    models = parsed.params["models_to_run"]
    for entry in collect_run_entries(descriptions, (), models_to_run=models):
        for name in FILE_ARGUMENTS & entry.arguments.keys():
            raise ConfigError(
                f"a run entry names a file with {name}, and files can be named only on this machine",
                "Queue it on the site's machine: `intramural run --queue`.",
            )


def _refuse_server(parsed: click.Context) -> None:
    """Refuse an address: prompts of records go to servers that the site lists, whoever asks for it from elsewhere."""
    if parsed.params.get("server"):
        raise ConfigError(
            "--server names an address, and addresses can be named only on this machine",
            "Name a deployment of model_deployments.yaml in the run entry: model_deployment=...",
        )
