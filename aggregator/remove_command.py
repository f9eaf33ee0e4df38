"""The command that removes an aggregator which was made to try things out: `remove`."""

import re
from pathlib import Path
from typing import Final

import click

from aggregator.command import open_home
from aggregator.errors import SettingsError

_OURS: Final = re.compile(
    r"aggregator\.yaml|aggregator\.sqlite3(-wal|-shm)?|keys/(root|log|receipt)(-[0-9a-f]{8})?\.key"
    r"|registry/\.?[0-9]+\.(dsse\.json|new)"
)
_FOLDERS: Final = frozenset({"keys", "registry"})


@click.command()
@click.option("--origin", required=True, help="Origin of the deployment, typed once more: there is no way back.")
@click.pass_context
def remove(context: click.Context, origin: str) -> None:
    """Remove an aggregator's directory with its keys, database and log. For one that was made to try things out.

    Refuses a directory of another origin, one that is not an aggregator's, and one that holds anything else. A
    PostgreSQL database is left to the people who made it.
    """
    from aggregator.registry.versions import newest_registry

    home = open_home(context)
    with home.database.reading() as connection:
        deployment = newest_registry(connection).deployment
    home.database.close()
    if deployment != origin:
        raise SettingsError(f"this is the aggregator of {deployment}, not of {origin}", "Nothing was removed.")
    directory = home.directory.absolute()
    files = find_files(directory)
    for path in files:
        path.unlink(missing_ok=True)
    for folder in (*(directory / name for name in sorted(_FOLDERS)), directory):
        if folder.exists():
            folder.rmdir()
    click.echo(f"Removed the aggregator of {origin}: {len(files)} files.")
    if home.settings.database_url:
        click.echo("Its database is not in the directory and is still there.")


def find_files(directory: Path) -> list[Path]:
    """Return every file of an aggregator's directory, the settings last: a killed command can be run again.

    Raises:
        SettingsError: something in it is not the aggregator's.
    """
    files = []
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        is_folder = path.is_dir() and not path.is_symlink()
        if is_folder and name in _FOLDERS:
            continue
        if is_folder or path.is_symlink() or not _OURS.fullmatch(name):
            raise SettingsError(
                f"{name} in the directory is not the aggregator's", "Nothing was removed. Move it elsewhere first."
            )
        files.append(path)
    return sorted(files, key=lambda path: path.suffix == ".yaml")
