"""The `remove` command, which removes an aggregator that was set up for testing."""

import re
from pathlib import Path
from typing import Final

import click

from aggregator.command import count, open_home
from aggregator.errors import BoardMismatchError, SettingsError

_KEY: Final = r"(root|log|receipt)(-[0-9a-f]{8})?\.key"
_REFERENCE: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,47}\.json"
_FILES: Final = {
    "": r"aggregator\.yaml|aggregator\.sqlite3(-wal|-shm)?|releases\.json|\.releases\.json\.new"
    r"|followed-log|\.followed-log\.new",
    # The file `.registry` next to a root key is the registry that it last signed.
    "keys": rf"{_KEY}(\.registry)?|\.{_KEY}\.registry\.new",
    "registry": r"[0-9]+\.dsse\.json|\.[0-9]+\.new",
    "releases": r"[0-9]+\.json|\.[0-9]+\.json\.new",
    "references": rf"{_REFERENCE}|\.{_REFERENCE}\.new",
}
"""Patterns of the file names that commands write, by subfolder of the aggregator's directory."""


@click.command()
@click.option(
    "--origin",
    required=True,
    help="Origin of the deployment, as confirmation: removal cannot be undone.",
)
@click.pass_context
def remove(context: click.Context, origin: str) -> None:
    """Remove an aggregator's directory with its keys, database and log. Intended for test deployments.

    Refuses a directory of another origin, one that is not an aggregator's, one that contains other
    files, and one that another command such as `serve` or `publish` is using. Published boards are
    stored elsewhere and stay. A PostgreSQL database is not removed.
    """
    from aggregator.registry.versions import newest_registry

    home = open_home(context, alone=True)
    with home.database.reading() as connection:
        deployment = newest_registry(connection).deployment
    home.database.close()
    if deployment != origin:
        raise SettingsError(
            f"this is the aggregator of {deployment}, not of {origin}", "Nothing was removed."
        )
    directory = home.directory.absolute()
    files = find_files(directory)
    for path in files:
        path.unlink(missing_ok=True)
    for folder in (*(directory / name for name in sorted(_FILES) if name), directory):
        if folder.exists():
            folder.rmdir()
    click.echo(f"Removed the aggregator of {origin}: {count(len(files), 'file', 'files')}.")
    if home.settings.database_url:
        click.echo("Its database is not in the directory and is still there.")


def find_files(directory: Path) -> list[Path]:
    """Return every file of an aggregator's directory, with database and settings last so that a
    killed command can be rerun.

    Raises:
        SettingsError: the directory contains other files.
    """
    from aggregator.board.helm_release import REFERENCE_FOLDER, read_references
    from aggregator.home import DATABASE_FILE, SETTINGS_FILE

    files = []
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        is_folder = path.is_dir() and not path.is_symlink()
        if is_folder and name in _FILES:
            continue
        folder, _, file = name.rpartition("/")
        is_ours = folder in _FILES and re.fullmatch(_FILES[folder], file) is not None
        if is_folder or path.is_symlink() or not is_ours:
            raise _foreign(name)
        files.append(path)
    try:
        read_references(directory / REFERENCE_FOLDER)
    except BoardMismatchError as error:
        raise _foreign(str(error).partition(" ")[0]) from None
    last = [DATABASE_FILE, SETTINGS_FILE]
    return sorted(files, key=lambda path: last.index(path.name) if path.name in last else -1)


def _foreign(name: str) -> SettingsError:
    return SettingsError(
        f"{name} in the directory is not one of the aggregator's files",
        "Nothing was removed. Move the file elsewhere first.",
    )
