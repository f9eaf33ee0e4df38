"""The `verify` command, which checks a published board or a log."""

import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregator.command import count, format_option, say
from aggregator.errors import AggregatorError, SettingsError, UnauditedBoardError

if TYPE_CHECKING:
    from aggregator.board.evidence import Replayed

as_of_option = click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Day on which the registry must have been valid, such as 2026-03-01 [default: today].",
)


def find_day(as_of: datetime | None) -> int:
    """Return the day given with `--as-of`, or today, in days since 1970-01-01 UTC."""
    from aggregator.home import today_day

    return (
        today_day()
        if as_of is None
        else (as_of.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days
    )


@click.command()
@click.option(
    "--board", type=click.Path(path_type=Path, file_okay=False), help="Folder of a published board."
)
@click.option(
    "--log", "source", metavar="URL|DIR", help="Check a log instead of a board: its URL or folder."
)
@click.option(
    "--since",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="With --log: file with an earlier checkpoint, which the log must continue.",
)
@click.option(
    "--save",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --log: file to write the checkpoint to, for use with --since next time.",
)
@click.option(
    "--root-key",
    "root_keys",
    multiple=True,
    metavar="FINGERPRINT",
    help="Fingerprint of a root key that must have signed the first registry. May be repeated.",
)
@as_of_option
@format_option
def verify(
    board: Path | None,
    source: str | None,
    since: Path | None,
    save: Path | None,
    root_keys: tuple[str, ...],
    as_of: datetime | None,
    form: str,
) -> None:
    """Recompute a board from its public log, or check a log. No aggregator's directory is needed.

    A board is compared byte for byte. The exit code is 0 only if everything matches the log and
    either the log hides nothing or enough auditors have signed exactly this board. It is 7 if only
    their signatures are missing.

    With --log, every public entry and the whole registry are checked and, with --since, that the
    log continues an earlier checkpoint.
    """
    if (board is None) == (source is None):
        raise click.UsageError("specify either --board or --log")
    if board is not None and (since is not None or save is not None):
        raise click.UsageError("--since and --save require --log")
    try:
        if board is not None:
            _verify_board(board, root_keys, find_day(as_of), form)
        elif source is not None:
            _verify_log(source, since, save, root_keys, find_day(as_of), form)
    except AggregatorError as error:
        if form != "json":
            raise
        if not isinstance(error, UnauditedBoardError):
            say(form, "", {"identical": False, "differs": str(error)})
        sys.exit(error.exit_code)


@dataclass
class _Report:
    """The outcome of a verification, as lines of text and as fields for JSON."""

    lines: list[str]
    fields: dict[str, object] = field(default_factory=dict)

    def show(self, log: "Replayed", root_keys: tuple[str, ...], form: str) -> None:
        """Print the report with the details common to boards and logs. Include the root keys if no
        --root-key was given.
        """
        lines = list(self.lines)
        if not root_keys:
            lines.append("No --root-key was given. Compare the root keys with those you know:")
            lines += [f"  {key.fingerprint}" for key in log.registry.roots]
        common = {
            "identical": True,
            "deployment": log.registry.deployment,
            "log_size": log.checkpoint.size,
            "hidden_entries": log.hidden,
            "registry": log.registry.version,
            "root_keys": [key.keyid for key in log.registry.roots],
            "pinned": bool(root_keys),
        }
        say(form, "\n".join(lines), common | self.fields)


def _verify_board(board: Path, root_keys: tuple[str, ...], today_day: int, form: str) -> None:
    from aggregator.board.verification import verify as verify_board

    verified = verify_board(board, root_keys, today_day=today_day)
    log, cells = verified.log, verified.audited_cells
    needed = log.registry.auditors.threshold
    report = _Report(
        [
            f"Identical: {log.registry.deployment}, {_count_entries(log)}, registry version {log.registry.version}.",
            f"{count(cells, 'cell relies', 'cells rely')} on auditors; signed by: "
            f"{', '.join(verified.auditors) or 'none'} (needed: {needed}).",
            _name_witnesses(verified.witnesses, log),
            *verified.releases.sentences,
        ],
        {
            "board": verified.digest,
            "audited_cells": cells,
            "auditors": list(verified.auditors),
            "auditors_needed": needed,
            "witnesses": list(verified.witnesses),
            "witnesses_wanted": log.registry.witnesses.threshold,
            "releases_recomputed": list(verified.releases.recomputed),
            "releases_resting_on_auditors": list(verified.releases.unread),
            "releases_unchecked": list(verified.releases.older),
        },
    )
    report.show(log, root_keys, form)
    verified.check_audited()


def _verify_log(
    source: str,
    since: Path | None,
    save: Path | None,
    root_keys: tuple[str, ...],
    today_day: int,
    form: str,
) -> None:
    from aggregator.watching.mirror import check_log

    checked = check_log(source, since, root_keys, today_day=today_day)
    log = checked.log
    if save is not None:
        _save_checkpoint(save, checked.note, log.registry.log_name)
    line = (
        f"Every public entry is valid: {log.registry.deployment}, {_count_entries(log)}, {log.hidden} of them hidden, "
        f"registry version {log.registry.version}."
    )
    if checked.continues is not None:
        line += f" It continues the checkpoint of {count(checked.continues, 'entry', 'entries')}."
    wanted = log.registry.witnesses.threshold
    report = _Report(
        [
            line,
            _name_witnesses(checked.witnesses, log),
            *([checked.remark] if checked.remark else []),
        ],
        {
            "continues": checked.continues,
            "witnesses": list(checked.witnesses),
            "witnesses_wanted": wanted,
        },
    )
    report.show(log, root_keys, form)


def _name_witnesses(witnesses: tuple[str, ...], log: "Replayed") -> str:
    return f"Cosigned by: {', '.join(witnesses) or 'no witness'} (required: {log.registry.witnesses.threshold})."


def _count_entries(log: "Replayed") -> str:
    return count(log.checkpoint.size, "log entry", "log entries")


def _save_checkpoint(path: Path, note: str, origin: str) -> None:
    """Write a checkpoint to a new file, or over an earlier one of the same log. Raises SettingsError."""
    try:
        if path.exists() and not path.read_bytes().startswith(f"{origin}\n".encode()):
            raise SettingsError(
                f"{path.name} exists and is not a checkpoint of {origin}",
                "Nothing was written. Name another file with --save.",
            )
        path.write_text(note, "utf-8")
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be written: {error.strerror}") from None
