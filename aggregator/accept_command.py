"""The command that takes submissions which came as files: `accept`, for sites without a connection."""

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
    help="Folder for the answers to carry back: DIGEST.receipt, or DIGEST.refusal.",
)
@click.pass_context
def accept(context: click.Context, files: tuple[Path, ...], folder: Path) -> None:
    """Take submissions that came as files, and write their receipts as files.

    Does with each what `serve` does, in the order of the sites' chains. The same file again gets the same receipt.
    Leaves with exit code 1 where a file is refused; the others are taken all the same.
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
    """Return epoch and link of a submission; what cannot be read is refused wherever it comes."""
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
