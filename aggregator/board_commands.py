"""Commands for publication: publishing a board, auditing it and witnessing the log."""

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
    help="Folder of the board. It is replaced as a whole.",
)
@click.option(
    "--from-scratch",
    is_flag=True,
    help="Read every log entry again, including those already published.",
)
@format_option
@click.pass_context
def publish(context: click.Context, out: Path, from_scratch: bool, form: str) -> None:
    """Write the board as plain files, together with the public log from which it can be recomputed.

    An existing board is replaced if the log continues its log. Auditors' signatures are kept if the
    board is unchanged. A folder that contains other files is refused, so that no file is lost.
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
    """Return sentences on the auditors' signatures that the board has, lost or lacks, and the next steps."""
    lines = []
    cells, threshold = published.audited.cells, published.log.registry.auditors.threshold
    if published.lapsed_audits:
        lapsed = count(
            published.lapsed_audits,
            "auditor's signature, which does",
            "auditors' signatures, which do",
        )
        lines.append(
            f"The previous board had {lapsed} not cover this one, because its content differs."
        )
    if not cells or 0 < threshold <= published.audits:
        return lines
    rests = count(cells, "cell relies", "cells rely")
    if threshold == 0:
        return [
            *lines,
            f"{rests} on auditors, but the registry names none: these cells are not checked independently, and "
            "`verify` exits with 7. Add auditors with `registry propose` (docs/verifying.md).",
        ]
    return [
        *lines,
        f"{rests} on auditors: {published.audits} of {threshold} signatures are present. Run `archive`, send the "
        f"auditors the archive and this board, and put the files that they return into audits/ "
        "(docs/verifying.md).",
    ]


@click.command()
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write. It must not exist.",
)
@click.pass_context
def archive(context: click.Context, out: Path) -> None:
    """Write the whole log to a file that only the registry's auditors can read."""
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
    help="Fingerprint of a root key that must have signed the first registry. May be repeated.",
)
@as_of_option
def audit(
    board: Path, archived: Path, key: Path, root_keys: tuple[str, ...], as_of: datetime | None
) -> None:
    """Recompute a board from the sealed log and sign it. Run this on the auditor's computer.

    Replays every entry, compares all entries and figures with the published ones, and writes the
    signature to the folder `audits/` of the board. Nothing is signed if anything differs.
    """
    from aggregator.board.auditing import audit as audit_board

    audited = audit_board(board, archived, key, root_keys, today_day=find_day(as_of))
    verified = audited.verified
    entries = count(verified.log.checkpoint.size, "log entry", "log entries")
    cells = count(verified.audited_cells, "cell", "cells")
    click.echo(
        f"Signed board {verified.digest}: {entries}, {audited.hidden} of them hidden from the public, {cells} "
        "recomputed from them.\n"
        f"Send {audited.file} to the people who run the board. It belongs in the board's folder audits/."
    )
    for sentence in audited.releases.sentences:
        click.echo(sentence)


@click.command()
@click.option(
    "--log", "url", required=True, metavar="URL", help="URL of the aggregator whose log to witness."
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
    help="The witness's folder, which stores the last checkpoint and registry seen. Never delete it.",
)
@click.option(
    "--root-key",
    "root_keys",
    multiple=True,
    metavar="FINGERPRINT",
    help="Fingerprint of a root key that must have signed the first registry. Needed the first time. May be repeated.",
)
def witness(url: str, key: Path, state: Path, root_keys: tuple[str, ...]) -> None:
    """Cosign the newest checkpoint of a log if it continues the last one seen. Run this from a timer.

    Run this on a computer outside the control of the central team. If the log has shrunk
    or shows a different history, nothing is signed and the exit code is 1.
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
