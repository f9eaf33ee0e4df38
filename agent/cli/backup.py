"""The commands `backup`, `restore` and `copies list|check|forget`."""

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.copy_words import say_time
from agent.cli.options import EXISTING_FILE, FILE, format_option
from agent.cli.output import show_rows
from agent.io.wording import format_count, format_size
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.backup.form import CopyHeader
    from agent.store import KnownCopy

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,39}")

PASSPHRASE_FILE = click.option(
    "--passphrase-file",
    type=FILE,
    help="Read the passphrase of the site's keys from this file (mode 0600) instead of asking for it.",
)
KEYS_FOLDER = click.option(
    "--keys",
    "keys_folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Use the site's keys in this folder instead of those in the copy.",
)


def _check_label(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if value and not _LABEL.fullmatch(value):
        raise click.BadParameter(
            "expected at most 40 letters, digits, spaces, '.', '_' and '-'", context, parameter
        )
    return value


@click.command()
@click.argument("out", metavar="FILE", type=FILE)
@PASSPHRASE_FILE
@click.option(
    "--without-keys",
    is_flag=True,
    help="Leave the site's keys out. Without them the copy cannot be read, so they must be kept elsewhere.",
)
@click.option(
    "--label",
    default="",
    callback=_check_label,
    help="What you call this copy, such as 'nightly'; it is stored at the site and shown by `copies list`.",
)
@click.option(
    "--leave-out",
    "leave_out",
    multiple=True,
    metavar="FOLDER",
    help="Leave out this folder of the site's directory, such as models that can be copied again.",
)
@click.pass_obj
def backup(
    site: Site,
    out: Path,
    passphrase_file: Path | None,
    without_keys: bool,
    label: str,
    leave_out: Sequence[str],
) -> None:
    """Copy the whole site into one sealed file.

    Runs, jobs and the service may go on meanwhile. The copy is readable with the site's keys only. They are in it too,
    sealed with a passphrase: keep the passphrase apart from the copy.
    """
    from agent.backup.passphrase import read_passphrase_file
    from agent.backup.write import check_target, write_copy
    from agent.monitoring.events import CopyWritten
    from agent.monitoring.log import log_event

    _ = site.settings  # a folder that is not a site is refused
    if without_keys and passphrase_file is not None:
        raise click.UsageError("--without-keys needs no --passphrase-file")
    check_target(site, out)
    passphrase = None
    if passphrase_file is not None:
        passphrase = read_passphrase_file(passphrase_file)
    elif not without_keys:
        passphrase = _ask_new_passphrase()
    began = time.monotonic()
    written = write_copy(site, out, passphrase=passphrase, label=label, leave_out=leave_out)
    header, seconds = written.header, time.monotonic() - began
    has_keys = passphrase is not None
    log_event(CopyWritten(header.copy_id, written.files, written.size, has_keys, seconds))
    click.echo(
        f"Copy {header.copy_id} of {say_time(header.made_at)} written: {format_count(written.files, 'file')}, "
        f"{format_size(written.size)}."
    )
    if passphrase is None:
        click.echo(
            "The site's keys are not in it. Keep a copy of keys/ elsewhere: without them it cannot be read."
        )
    else:
        click.echo("The site's keys are in it, sealed with the passphrase. Keep that elsewhere.")


@click.command()
@click.argument("copy", metavar="FILE", type=EXISTING_FILE)
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@PASSPHRASE_FILE
@KEYS_FOLDER
def restore(
    copy: Path, directory: Path, passphrase_file: Path | None, keys_folder: Path | None
) -> None:
    """Restore a site from a copy into a new directory.

    Everything in the copy is checked first. The restored site can be read and can evaluate at once; it submits nothing
    until it was compared with the aggregator's log (`intramural reset show`).
    """
    from agent.backup.restore import restore_copy
    from agent.monitoring.events import SiteRestored
    from agent.monitoring.log import log_event

    header, keys = _read_keys(copy, passphrase_file, keys_folder)
    began = time.monotonic()
    restored = restore_copy(copy, directory, keys)
    log_event(SiteRestored(header.copy_id, restored.files, time.monotonic() - began))
    click.echo(
        f"Site restored from copy {header.copy_id} of {say_time(header.made_at)}: "
        f"{format_count(restored.files, 'file')}. What was done since is not in it:"
    )
    for line in _list_consequences(restored.is_member, header.purged_at, restored.left_out):
        click.echo(f"  - {line}")
    click.echo(f"Next: intramural --site {directory} doctor")


def _list_consequences(is_member: bool, purged_at: int, left_out: Sequence[str]) -> list[str]:
    lines = []
    if is_member:
        lines.append(
            "Nothing is submitted until `intramural reset show` has compared this site with the aggregator's log. Stop "
            "the machine that ran as this site before."
        )
    purged = f" (the last one in it is of {say_time(purged_at)})" if purged_at else ""
    lines.append(f"Texts that were deleted since are here again{purged}: run `intramural purge`.")
    lines.append(
        "All sessions were ended. Lock accounts, revoke API tokens and cancel jobs again that were since."
    )
    if left_out:
        lines.append(f"Left out when the copy was made: {', '.join(left_out)}.")
    return lines


@click.group()
def copies() -> None:
    """List, check and forget copies of the site."""


@copies.command("list")
@format_option()
@click.pass_obj
def list_(site: Site, form: str) -> None:
    """List known copies, and which of them hold deleted texts."""
    with site.store() as store:
        known = store.copies.read_all()
    rows = [
        {
            "copy": copy.copy_id,
            "made": say_time(copy.made_at),
            "age_days": _count_days(site, copy),
            "label": copy.label,
            "keys": "sealed" if copy.has_keys else "none",
            "state": "complete" if copy.is_finished else "interrupted",
            "holds_deleted_texts": copy.holds_deleted_texts,
        }
        for copy in known
    ]
    columns = {
        "copy": "Copy",
        "made": "Made",
        "age_days": "Days old",
        "label": "Label",
        "keys": "Keys",
        "state": "State",
        "holds_deleted_texts": "Holds deleted texts",
    }
    show_rows(rows, columns, form)


@copies.command()
@click.argument("copy", metavar="FILE", type=EXISTING_FILE)
@PASSPHRASE_FILE
@KEYS_FOLDER
@click.pass_obj
def check(site: Site, copy: Path, passphrase_file: Path | None, keys_folder: Path | None) -> None:
    """Check every byte of a copy without restoring it.

    With --site, the site's own keys are used, so no passphrase is needed.
    """
    from agent.backup.restore import check_copy

    if passphrase_file is None and keys_folder is None and (site.keys / "data.key").exists():
        keys_folder = site.keys
    header, keys = _read_keys(copy, passphrase_file, keys_folder)
    checked = check_copy(copy, keys)
    click.echo(
        f"Copy {header.copy_id} of {say_time(header.made_at)} is whole: {format_count(checked.files, 'file')}, "
        f"{format_size(checked.size)}, made by intramural {header.program}."
    )
    click.echo(f"The last deletion of texts before it: {say_time(header.purged_at)}.")
    if checked.left_out:
        click.echo(f"Left out: {', '.join(checked.left_out)}.")


@copies.command()
@click.argument("ids", nargs=-1, metavar="[COPY]...")
@click.option(
    "--older-than",
    "days",
    type=click.IntRange(0),
    metavar="DAYS",
    help="All copies older than this.",
)
@click.pass_obj
def forget(site: Site, ids: Sequence[str], days: int | None) -> None:
    """Forget copies that you have destroyed. The files themselves are not touched."""
    if (days is None) == (not ids):
        raise click.UsageError("name copies by their ids, or by --older-than DAYS")
    with site.store() as store:
        if days is not None:
            store.clock.check()
            last = store.clock.read().now - days * 86_400
            ids = [copy.copy_id for copy in store.copies.read_all() if copy.made_at < last]
        for copy_id in ids:
            with store.transaction():
                forgotten = store.copies.forget(copy_id)
                store.audit.record("copy destroyed", f"copy={forgotten.copy_id}")
            click.echo(f"forgotten {forgotten.copy_id} of {say_time(forgotten.made_at)}")


def _read_keys(
    copy: Path, passphrase_file: Path | None, keys_folder: Path | None
) -> "tuple[CopyHeader, dict[str, bytes]]":
    """Return a copy's first line, and the site's keys from a folder, or from the copy itself."""
    from agent.backup.passphrase import read_passphrase_file
    from agent.backup.restore import open_copy_keys, read_header, read_keys_folder

    if passphrase_file is not None and keys_folder is not None:
        raise click.UsageError("--passphrase-file and --keys cannot be combined")
    header = read_header(copy)
    if keys_folder is not None or header.keys is None:
        if keys_folder is None:
            open_copy_keys(header, "")  # says that the copy has no keys
        assert keys_folder is not None, "refused above"
        return header, read_keys_folder(keys_folder)
    if passphrase_file is not None:
        passphrase = read_passphrase_file(passphrase_file)
    else:
        passphrase = click.prompt("Passphrase of the copy", hide_input=True, err=True)
    return header, open_copy_keys(header, passphrase)


def _ask_new_passphrase() -> str:
    from agent.backup.passphrase import check_passphrase

    passphrase: str = click.prompt(
        "New passphrase for the keys in this copy",
        hide_input=True,
        confirmation_prompt="Again",
        err=True,
    )
    check_passphrase(passphrase)
    return passphrase


def _count_days(site: Site, copy: "KnownCopy") -> int:
    with site.store() as store:
        return max(0, store.clock.read().now - copy.made_at) // 86_400
