"""Commands about the public side: publishing a board, and those who vouch for it."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregator.command import count, format_option, open_home, say
from aggregator.verify_command import as_of_option, find_day

if TYPE_CHECKING:
    from aggregator.board.publish import Published


@click.command()
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the board; replaced as a whole.",
)
@click.option(
    "--from-scratch", is_flag=True, help="Read every log entry again, also those published before."
)
@format_option
@click.pass_context
def publish(context: click.Context, out: Path, from_scratch: bool, form: str) -> None:
    """Write the board as plain files, with the public log that it is recomputed from.

    A board that is there is replaced, if its log is continued. Auditors' signatures stay where nothing has changed.
    Refuses a folder with files that are not the board's, so that none is lost.
    """
    from aggregator.board.publish import publish as write_board

    published = write_board(open_home(context), out.absolute(), from_scratch=from_scratch)
    page = out.absolute() / "index.html"
    log = published.log
    results = 0 if log.federation is None else len(log.federation.results)
    lines = [
        f"Published {count(results, 'result', 'results')} of registry version {log.registry.version}: {page}",
        *_explain_audits(published),
    ]
    say(
        form,
        "\n".join(lines),
        {
            "page": str(page),
            "results": results,
            "log_size": log.checkpoint.size,
            "board": published.digest,
            "audited_cells": published.audited.cells,
            "audits": published.audits,
            "lapsed_audits": published.lapsed_audits,
        },
    )


def _explain_audits(published: "Published") -> list[str]:
    """Return which auditors' signatures the board has, lost or lacks, and what to do next; nothing if it needs none."""
    lines = []
    cells, threshold = published.audited.cells, published.log.registry.auditors.threshold
    if published.lapsed_audits:
        lapsed = count(
            published.lapsed_audits,
            "auditor's signature, which does",
            "auditors' signatures, which do",
        )
        lines.append(f"The board before had {lapsed} not hold for this one: it is another board.")
    if not cells or 0 < threshold <= published.audits:
        return lines
    rests = count(cells, "cell rests", "cells rest")
    if threshold == 0:
        return [
            *lines,
            f"{rests} on auditors, but the registry names none: they are not checked independently, and `verify` exits "
            "with 7. Add auditors with `registry propose` (docs/verifying.md).",
        ]
    return [
        *lines,
        f"{rests} on auditors: {published.audits} of {threshold} signatures are there. Run `archive`, send the "
        f"auditors the archive and this board, and put the files that they send back into audits/ "
        "(docs/verifying.md).",
    ]


@click.command()
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="New file to write.",
)
@click.pass_context
def archive(context: click.Context, out: Path) -> None:
    """Write the whole log to a file that only the registry's auditors can open."""
    from aggregator.board.auditing import archive as write_archive

    entries = count(write_archive(open_home(context), out), "log entry", "log entries")
    click.echo(f"Wrote {entries} to {out}, sealed to the auditors. Send it to them with the board.")


@click.command()
@click.option(
    "--board",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of a published board.",
)
@click.option(
    "--archive",
    "archived",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Sealed log, made by `intramural-aggregator archive`.",
)
@click.option(
    "--key",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The auditor's key file.",
)
@click.option(
    "--root-key",
    "root_keys",
    multiple=True,
    metavar="FINGERPRINT",
    required=True,
    help="Root key that must have signed; may be repeated.",
)
@as_of_option
def audit(
    board: Path, archived: Path, key: Path, root_keys: tuple[str, ...], as_of: datetime | None
) -> None:
    """Recompute a board from the sealed log, and sign it. Runs on the auditor's computer.

    Replays every entry, compares every entry and every figure with those published, and writes the signature to the
    board's folder `audits/`. Nothing is signed where anything differs.
    """
    from aggregator.board.auditing import audit as audit_board

    audited = audit_board(board, archived, key, root_keys, today_day=find_day(as_of))
    verified = audited.verified
    entries = count(verified.log.checkpoint.size, "log entry", "log entries")
    cells = count(verified.audited_cells, "cell", "cells")
    click.echo(
        f"Signed board {verified.digest}: {entries}, {audited.hidden} of them hidden from the public, {cells} "
        "recomputed from them.\n"
        f"Send {audited.file} to the people who run the board; it belongs into its folder audits/."
    )
    for sentence in audited.releases.sentences:
        click.echo(sentence)


@click.command()
@click.option(
    "--log", "url", required=True, metavar="URL", help="The aggregator whose log is witnessed."
)
@click.option(
    "--key",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The witness's key file.",
)
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

    seen = watch(
        url, state, load_key(key), root_keys, unix_time=int(time.time()), today_day=today_day()
    )
    before = (
        "the first checkpoint seen"
        if seen.seen_size is None
        else f"{seen.seen_size} when last seen"
    )
    entries = count(seen.size, "entry", "entries")
    click.echo(f"Cosigned the log of {seen.origin} at {entries} ({before}). {seen.remark}".rstrip())
