"""The `accept` command, for submissions delivered as files by sites without a network connection."""

import sys
from pathlib import Path

import click

from aggregator.command import open_home
from aggregator.errors import SettingsError


@click.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="FILE...",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
)
@click.option(
    "--receipts",
    "folder",
    required=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder for the answers to return to the sites: DIGEST.receipt or DIGEST.refusal.",
)
@click.pass_context
def accept(context: click.Context, files: tuple[Path, ...], folder: Path) -> None:
    """Accept submissions delivered as files, and write their receipts to files.

    Submissions are processed as by `serve`, in the order of the sites' chains. Submitting a file
    again gives the same receipt. If a file is refused, the others are still processed and the exit
    code is 1.
    """
    from aggregator.home import today_day
    from aggregator.intake import accept as take
    from aggregator.refusals import SignedRefusalError
    from aggregator.small_file import read_small
    from protocol.envelope import decode
    from protocol.errors import ProtocolError

    home = open_home(context)
    submissions = [(path, read_small(path)) for path in files]
    submissions.sort(key=lambda submission: _place_in_chain(submission[1]))
    refused = 0
    for path, data in submissions:
        try:
            done = take(home, data, today_day=today_day())
        except ProtocolError as error:
            refused += 1
            click.echo(f"refused {path.name}: {error.code}")
            if isinstance(error, SignedRefusalError):
                _write(folder / f"{decode(data).digest}.refusal", error.note)
            continue
        _write(folder / f"{done.digest}.receipt", done.receipt)
        click.echo(f"accepted {done.digest}")
    if refused:
        sys.exit(1)


def _place_in_chain(data: bytes) -> tuple[int, int]:
    """Return the epoch and link number of a submission. The position of unreadable data does not matter, because such
    data is refused.
    """
    from protocol.envelope import decode
    from protocol.errors import ProtocolError
    from protocol.statements import parse_statement

    try:
        header = parse_statement(decode(data).payload).header
    except ProtocolError:
        return (0, 0)
    return (header.epoch, header.seq)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be written: {error.strerror}") from None
