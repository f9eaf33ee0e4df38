"""The aggregator's directory, with its settings, key files and database.

aggregator.yaml        settings
keys/root.key          signs registries; only needed by `enroll`, `rekey` and `register`; may be stored elsewhere
keys/log.key           signs checkpoints; needed by `serve`, `accept` and commands that change the registry
keys/receipt.key       signs refusals and heads of sites; needed by `serve` and `accept`
keys/log-1a2b3c4d.key  a replacement log key, named by the start of its key id (likewise receipt, root)
registry/N.dsse.json   copies of all registry versions, as signed
aggregator.sqlite3     the database, unless the settings specify another
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
            SettingsError: `directory` is not an aggregator's, or a setting is wrong.
        """
        self.directory = directory
        self.settings: Settings = read_settings(directory / SETTINGS_FILE)
        self._signers: dict[str, Ed25519Signer] = {}  # signers of key files already read, by key id

    @property
    def registry_copies(self) -> Path:
        """The folder of signed registry versions."""
        return self.directory / "registry"

    @cached_property
    def database(self) -> Database:
        """The database. The caller must check its schema."""
        return Database(
            self.settings.database_url or f"sqlite:///{self.directory.absolute() / DATABASE_FILE}"
        )

    @cached_property
    def writer(self) -> GroupCommit:
        """A writer that commits work from several threads in one transaction."""
        return GroupCommit(self.database)

    @property
    def keys(self) -> Path:
        """The folder of the private keys."""
        return self.directory / "keys"

    def log_signer(self, registry: Registry) -> Ed25519Signer:
        """Return the signer of checkpoints under a registry. Raises KeyFileError."""
        return self._signer(LOG_KEY, registry.log_key)

    def receipt_signer(self, registry: Registry) -> Ed25519Signer:
        """Return the signer of refusals and site heads under a registry. Raises KeyFileError."""
        return self._signer(RECEIPT_KEY, registry.receipt_key)

    def root_signer(self, registry: Registry) -> Ed25519Signer:
        """Return a root key stored in this directory, for changes that a single root may sign.

        Raises:
            KeyFileError: no file in the directory contains a root key of this registry, or a file
                cannot be read.
        """
        roots = {key.keyid for key in registry.roots}
        for path in self._key_files(ROOT_KEY):
            signer = load_key(path)
            if signer.public.keyid in roots:
                return signer
        raise KeyFileError(
            "no file in the folder keys contains a root key that the registry names", _ELSEWHERE
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
        """Return the files of one kind of key: its replacements if there are any, else the first,
        which may be missing.
        """
        path = self.keys / first
        later = sorted(self.keys.glob(f"{path.stem}-*.key"))
        return later if later and not path.exists() else [path, *later]


_ELSEWHERE: Final = (
    "Restore the key file from where it is stored. To change a registry with several roots, use "
    "`registry propose`, `sign` and `commit`."
)
