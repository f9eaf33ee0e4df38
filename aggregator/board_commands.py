"""Commands about the public side: publishing a board, and checking one."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregator.command import format_option, open_home, say
from aggregator.errors import AggregatorError, SettingsError, UnauditedBoardError

if TYPE_CHECKING:
    from protocol.registry import Registry


@click.command()
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the board; replaced as a whole.",
)
@format_option
@click.pass_context
def publish(context: click.Context, out: Path, form: str) -> None:
    """Write the board as plain files, with the public log that it is recomputed from."""
    from aggregator.board.publish import publish as write_board

    published = write_board(open_home(context), out.absolute())
    page = out.absolute() / "index.html"
    log = published.log
    results = 0 if log.federation is None else len(log.federation.results)
    cells = published.audited.cells
    needed = log.registry.auditors.threshold
    note = ""
    if cells and (published.audits < needed or not needed):
        note = (
            f"\n{cells} cells rest on auditors: {published.audits} of {needed} signatures are there. "
            "Send them the archive and the board (docs/verifying.md)."
        )
    say(
        form,
        f"Published {results} results of registry version {log.registry.version}: {page}{note}",
        {
            "page": str(page),
            "results": results,
            "log_size": log.checkpoint.size,
            "board": published.digest,
            "audited_cells": cells,
            "audits": published.audits,
        },
    )


_as_of_option = click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Day on which the registry must have been in force [default: today].",
)


@click.command()
@click.option("--board", type=click.Path(path_type=Path, file_okay=False), help="Folder of a published board.")
@click.option("--log", "source", metavar="URL|DIR", help="Instead of a board: a log, by URL or folder.")
@click.option(
    "--since",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="With --log: file with an earlier checkpoint, which the log must continue.",
)
@click.option(
    "--save",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --log: file to write the checkpoint to, for --since the next time.",
)
@click.option(
    "--root-key",
    "root_keys",
    multiple=True,
    metavar="FINGERPRINT",
    help="Root key that must have signed; may be repeated.",
)
@_as_of_option
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
    """Recompute a board from its public log, or check a log. Needs no aggregator's directory.

    A board: every byte is compared. Leaves with 0 only if everything is as the log says, and either no cell rests on
    auditors or enough of them have signed this very board; with 7 if only their signatures are missing.

    A log (--log): every public entry, the whole registry, and with --since that it continues an earlier checkpoint.
    """
    if (board is None) == (source is None):
        raise click.UsageError("give either --board or --log")
    if board is not None and (since is not None or save is not None):
        raise click.UsageError("--since and --save go with --log")
    try:
        if board is not None:
            _verify_board(board, root_keys, _day_of(as_of), form)
        elif source is not None:
            _verify_log(source, since, save, root_keys, _day_of(as_of), form)
    except AggregatorError as error:
        if form != "json":
            raise
        if not isinstance(error, UnauditedBoardError):
            say(form, "", {"identical": False, "differs": str(error)})
        sys.exit(error.exit_code)


def _verify_log(
    source: str, since: Path | None, save: Path | None, root_keys: tuple[str, ...], today_day: int, form: str
) -> None:
    from aggregator.watching.mirror import check_log

    checked = check_log(source, since, root_keys, today_day=today_day)
    if save is not None:
        _save_checkpoint(save, checked.note, checked.log.registry.log_name)
    log = checked.log
    registry = log.registry
    continues = "" if checked.continues is None else f" It continues the checkpoint of {checked.continues} entries."
    lines = [
        f"Everything public holds: {registry.deployment}, {log.checkpoint.size} log entries, {log.hidden} of them "
        f"hidden, registry version {registry.version}.{continues}",
        f"Cosigned by: {', '.join(checked.witnesses) or 'no witness'} (wanted: {registry.witnesses.threshold}).",
    ]
    if not root_keys:
        lines += _name_roots(registry)
    say(
        form,
        "\n".join(lines),
        {
            "identical": True,
            "deployment": registry.deployment,
            "log_size": log.checkpoint.size,
            "hidden_entries": log.hidden,
            "registry": registry.version,
            "continues": checked.continues,
            "witnesses": list(checked.witnesses),
            "witnesses_wanted": registry.witnesses.threshold,
            "pinned": bool(root_keys),
        },
    )


def _save_checkpoint(path: Path, note: str, origin: str) -> None:
    """Write a checkpoint over nothing, or over an earlier one of the same log. Raises SettingsError."""
    try:
        if path.exists() and not path.read_bytes().startswith(f"{origin}\n".encode()):
            raise SettingsError(
                f"{path.name} exists and is no checkpoint of {origin}",
                "Nothing was written. Name another file with --save.",
            )
        path.write_text(note, "utf-8")
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be written: {error.strerror}") from None


def _name_roots(registry: "Registry") -> list[str]:
    heading = "No --root-key was given: compare its root keys with those you know:"
    return [heading, *(f"  {key.fingerprint}" for key in registry.roots)]


def _verify_board(board: Path, root_keys: tuple[str, ...], today_day: int, form: str) -> None:
    from aggregator.board.verification import verify as verify_board

    verified = verify_board(board, root_keys, today_day=today_day)
    log = verified.log
    registry = log.registry
    lines = [
        f"Identical: {registry.deployment}, {log.checkpoint.size} log entries, registry version {registry.version}.",
        f"{verified.audited_cells} cells rest on auditors; signed by: {', '.join(verified.auditors) or 'none'} "
        f"(needed: {registry.auditors.threshold}).",
    ]
    if not root_keys:
        lines += _name_roots(registry)
    say(
        form,
        "\n".join(lines),
        {
            "identical": True,
            "deployment": registry.deployment,
            "log_size": log.checkpoint.size,
            "hidden_entries": log.hidden,
            "registry": registry.version,
            "root_keys": [key.keyid for key in registry.roots],
            "pinned": bool(root_keys),
            "board": verified.digest,
            "audited_cells": verified.audited_cells,
            "auditors": list(verified.auditors),
            "auditors_needed": registry.auditors.threshold,
        },
    )
    verified.check_audited()


def _day_of(given: datetime | None) -> int:
    from aggregator.home import today_day

    return today_day() if given is None else (given.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days


@click.command()
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="New file to write.")
@click.pass_context
def archive(context: click.Context, out: Path) -> None:
    """Write the whole log to a file that only the registry's auditors can open."""
    from aggregator.board.auditing import archive as write_archive

    count = write_archive(open_home(context), out)
    click.echo(f"Wrote {count} log entries to {out}, sealed to the auditors. Send it to them with the board.")


@click.command()
@click.option(
    "--board", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder of a published board."
)
@click.option(
    "--archive",
    "archived",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Sealed log, made by `intramural-aggregator archive`.",
)
@click.option("--key", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The auditor's key file.")
@click.option(
    "--root-key",
    "root_keys",
    multiple=True,
    metavar="FINGERPRINT",
    required=True,
    help="Root key that must have signed; may be repeated.",
)
@_as_of_option
def audit(board: Path, archived: Path, key: Path, root_keys: tuple[str, ...], as_of: datetime | None) -> None:
    """Recompute a board from the sealed log, and sign it. Runs on the auditor's computer.

    Replays every entry, compares every entry and every figure with those published, and writes the signature to the
    board's folder `audits/`. Nothing is signed where anything differs.
    """
    from aggregator.board.auditing import audit as audit_board

    audited = audit_board(board, archived, key, root_keys, today_day=_day_of(as_of))
    verified = audited.verified
    click.echo(
        f"Signed board {verified.digest}: {verified.log.checkpoint.size} log entries, {audited.hidden} of them hidden "
        f"from the public, {verified.audited_cells} cells recomputed from them.\n"
        f"Send {audited.file} to the people who run the board; it belongs into its folder audits/."
    )


@click.command()
@click.option("--log", "url", required=True, metavar="URL", help="The aggregator whose log is witnessed.")
@click.option("--key", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The witness's key file.")
@click.option(
    "--state",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The witness's folder: the last checkpoint and registry that it has seen. Never delete it.",
)
@click.option(
    "--root-key",
    "root_keys",
    multiple=True,
    metavar="FINGERPRINT",
    help="Root key that must have signed the registry; needed the first time; may be repeated.",
)
def witness(url: str, key: Path, state: Path, root_keys: tuple[str, ...]) -> None:
    """Cosign the newest checkpoint of a log, if it continues the last one seen. Run it from a timer.

    Runs on a computer that the aggregator's people do not control. Leaves with 1, and signs nothing, where the log has
    shrunk or shows another history.
    """
    import time

    from aggregator.home import today_day
    from aggregator.key_files import load_key
    from aggregator.watching.witness import witness as watch

    seen = watch(url, state, load_key(key), root_keys, unix_time=int(time.time()), today_day=today_day())
    before = "the first checkpoint seen" if seen.seen_size is None else f"{seen.seen_size} when last seen"
    click.echo(f"Cosigned the log of {seen.origin} at {seen.size} entries ({before}).")
