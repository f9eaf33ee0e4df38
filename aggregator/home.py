"""The aggregator's directory: settings, key files and database, opened once and handed around.

aggregator.yaml        settings
keys/root.key          signs registries; needed by `enroll`, `rekey` and `register` only, may live elsewhere otherwise
keys/log.key           signs checkpoints; needed by `serve`, `accept` and by whatever changes the registry
keys/receipt.key       signs refusals and heads of sites; needed by `serve` and `accept`
keys/log-1a2b3c4d.key  a key that replaced the first of its kind, by the start of its key id (so with receipt, root)
registry/N.dsse.json   a copy of every registry version, as signed
aggregator.sqlite3     the database, unless the settings name another
"""

from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import Final

from aggregator.errors import KeyFileError
from aggregator.key_files import load_key
from aggregator.settings import Settings, read_settings
from aggregator.store.database import Database
from aggregator.store.group_commit import GroupCommit
from protocol.keys import Ed25519Signer, PublicKey
from protocol.registry import Registry

SETTINGS_FILE = "aggregator.yaml"
DATABASE_FILE = "aggregator.sqlite3"
ROOT_KEY, LOG_KEY, RECEIPT_KEY = "root.key", "log.key", "receipt.key"


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
        self._signers: dict[str, Ed25519Signer] = {}  # key files that were read, by key id

    @property
    def registry_copies(self) -> Path:
        """The folder of signed registry versions."""
        return self.directory / "registry"

    @cached_property
    def database(self) -> Database:
        """The database; its schema is checked by whoever opens the directory to work on it."""
        return Database(
            self.settings.database_url or f"sqlite:///{self.directory.absolute() / DATABASE_FILE}"
        )

    @cached_property
    def writer(self) -> GroupCommit:
        """Writes for many threads at once, several pieces in a transaction."""
        return GroupCommit(self.database)

    @property
    def keys(self) -> Path:
        """The folder of the private keys."""
        return self.directory / "keys"

    def log_signer(self, registry: Registry) -> Ed25519Signer:
        """Return the key that signs checkpoints under a registry. Raises KeyFileError."""
        return self._signer(LOG_KEY, registry.log_key)

    def receipt_signer(self, registry: Registry) -> Ed25519Signer:
        """Return the key that signs refusals and heads of sites under a registry. Raises KeyFileError."""
        return self._signer(RECEIPT_KEY, registry.receipt_key)

    def root_signer(self, registry: Registry) -> Ed25519Signer:
        """Return the root key that lies here, for changes that one root alone may sign.

        Raises:
            KeyFileError: no file here holds a root key of this registry, or one cannot be read.
        """
        roots = {key.keyid for key in registry.roots}
        for path in self._key_files(ROOT_KEY):
            signer = load_key(path)
            if signer.public.keyid in roots:
                return signer
        raise KeyFileError(
            "no file in the folder keys holds a root key that the registry names", _ELSEWHERE
        )

    def _signer(self, first: str, public: PublicKey) -> Ed25519Signer:
        if public.keyid not in self._signers:
            for path in self._key_files(first):
                signer = load_key(path)
                self._signers[signer.public.keyid] = signer
        if public.keyid not in self._signers:
            raise KeyFileError(f"keys/{first} is not the key that the registry names", _ELSEWHERE)
        return self._signers[public.keyid]

    def _key_files(self, first: str) -> list[Path]:
        """Return the files of one kind of key: those that replaced the first, else the first, even if missing."""
        path = self.keys / first
        later = sorted(self.keys.glob(f"{path.stem}-*.key"))
        return later if later and not path.exists() else [path, *later]


_ELSEWHERE: Final = (
    "Put the key file back from where it is kept. A registry with several roots is changed by "
    "`registry propose`, `sign` and `commit`."
)
