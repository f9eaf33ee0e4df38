"""Commands about the public side: publishing a board, and checking one."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from aggregator.command import format_option, open_home, say
from aggregator.errors import AggregatorError, UnauditedBoardError


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
        f"Published {len(log.results)} results of registry version {log.registry.version}: {page}{note}",
        {
            "page": str(page),
            "results": len(log.results),
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
@click.option(
    "--board", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder of a published board."
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
def verify(board: Path, root_keys: tuple[str, ...], as_of: datetime | None, form: str) -> None:
    """Recompute a board from its public log and compare every byte. Needs no aggregator's directory.

    Leaves with 0 only if everything is as the log says, and either no cell rests on auditors or enough of them have
    signed this very board; with 7 if only their signatures are missing.
    """
    from aggregator.board.verification import verify as verify_board

    try:
        verified = verify_board(board, root_keys, today_day=_day_of(as_of))
    except AggregatorError as error:
        if form != "json":
            raise
        say(form, "", {"identical": False, "differs": str(error)})
        sys.exit(error.exit_code)
    log = verified.log
    registry = log.registry
    lines = [
        f"Identical: {registry.deployment}, {log.checkpoint.size} log entries, registry version {registry.version}.",
        f"{verified.audited_cells} cells rest on auditors; signed by: {', '.join(verified.auditors) or 'none'} "
        f"(needed: {registry.auditors.threshold}).",
    ]
    if not root_keys:
        lines.append("No --root-key was given: compare its root keys with those you know:")
        lines += [f"  {key.fingerprint}" for key in registry.roots]
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
    try:
        verified.check_audited()
    except UnauditedBoardError as error:
        if form != "json":
            raise
        sys.exit(error.exit_code)


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
