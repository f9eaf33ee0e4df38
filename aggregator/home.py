"""The aggregator's directory: settings, key files and database, opened once and handed around.

aggregator.yaml        settings
keys/root.key          signs registries; needed by `enroll` and `register` only, may live elsewhere otherwise
keys/log.key           signs checkpoints; needed by `serve` and `enroll`
registry/N.dsse.json   a copy of every registry version, as signed
aggregator.sqlite3     the database, unless the settings name another
"""

from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path

from aggregator.key_files import load_key
from aggregator.settings import Settings, read_settings
from aggregator.store.database import Database
from protocol.keys import Ed25519Signer

SETTINGS_FILE = "aggregator.yaml"
DATABASE_FILE = "aggregator.sqlite3"
ROOT_KEY, LOG_KEY = "root.key", "log.key"


def today_day() -> int:
    """Return the days since 1970-01-01 UTC."""
    return (datetime.now(UTC).date() - date(1970, 1, 1)).days


class Home:
    """An existing aggregator's directory."""

    def __init__(self, directory: Path) -> None:
        """Open `directory`.

        Raises:
            SettingsError: it is not an aggregator's directory, or a setting is wrong.
        """
        self.directory = directory
        self.settings: Settings = read_settings(directory / SETTINGS_FILE)

    @property
    def registry_copies(self) -> Path:
        """The folder of signed registry versions."""
        return self.directory / "registry"

    @cached_property
    def database(self) -> Database:
        """The database; its schema is checked by whoever opens the directory to work on it."""
        return Database(self.settings.database_url or f"sqlite:///{self.directory.absolute() / DATABASE_FILE}")

    @cached_property
    def root_key(self) -> Ed25519Signer:
        """The key that signs registries. Raises KeyFileError."""
        return load_key(self.directory / "keys" / ROOT_KEY)

    @cached_property
    def log_key(self) -> Ed25519Signer:
        """The key that signs checkpoints. Raises KeyFileError."""
        return load_key(self.directory / "keys" / LOG_KEY)
