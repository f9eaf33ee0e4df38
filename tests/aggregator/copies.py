"""Copies of an aggregator, as a backup of the whole machine makes them: its directory and its database, at rest."""

import shutil
from pathlib import Path

from aggregator.home import DATABASE_FILE, SETTINGS_FILE, Home
from aggregator.settings import write_settings
from tests.aggregator.postgres_cluster import copy_database, drop_database


def copy_home(home: Home, directory: Path) -> Home:
    """Return an aggregator with the same keys and a copy of the database."""
    home.database.close()
    shutil.copytree(home.directory, directory)
    if home.settings.database_url is not None:
        url = copy_database(home.settings.database_url)
        (directory / SETTINGS_FILE).unlink()
        write_settings(
            directory / SETTINGS_FILE, home.settings.model_copy(update={"database_url": url})
        )
    return Home(directory)


def set_back(home: Home, kept: Home) -> None:
    """Put an earlier copy in the place of an aggregator: its directory, and its database under its own name."""
    home.database.close()
    kept.database.close()
    url = home.settings.database_url
    shutil.rmtree(home.directory)
    shutil.copytree(kept.directory, home.directory)
    if url is not None:
        assert kept.settings.database_url is not None
        drop_database(url)
        copy_database(kept.settings.database_url, url)
        (home.directory / SETTINGS_FILE).unlink()
        write_settings(home.directory / SETTINGS_FILE, home.settings)


def destroy_database(home: Home) -> None:
    """Take the database away from an aggregator, which may be running."""
    home.database.close()
    if home.settings.database_url is not None:
        drop_database(home.settings.database_url)
        return
    for file in home.directory.glob(f"{DATABASE_FILE}*"):
        file.unlink()
