"""The store's database file: access checks, migration, and a check that it was created with the given keys."""

import hmac
import json
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent import __version__
from agent.errors import StoreError
from agent.store.audit_chain import GENESIS_LINK, AuditHead, seal_head, seal_key_check
from agent.store.upgrade import keep_before_upgrade
from agent.store.vault import Vault

KEY_CHECK = b"intramural store"
_PATIENCE_S = 30.0  # maximum wait for another command's transaction
_FULL = "The disk or this account's quota is full: make room and try again; stored data is kept."
_NOT_WRITABLE = "The store's folder must be writable for the account that runs the agent; the disk may be read-only."
ADVICE = {
    "SQLITE_FULL": _FULL,
    # SQLite's errors if a file cannot grow: the write-ahead log's index, the log itself, or an exhausted quota.
    "SQLITE_IOERR_SHMSIZE": _FULL,
    "SQLITE_IOERR_WRITE": _FULL,
    "SQLITE_IOERR_FSYNC": _FULL,
    "SQLITE_IOERR_TRUNCATE": _FULL,
    "SQLITE_BUSY": "Another command is writing; try again in a moment.",
    "SQLITE_READONLY": _NOT_WRITABLE,
    "SQLITE_READONLY_DBMOVED": _NOT_WRITABLE,
    "SQLITE_READONLY_DIRECTORY": _NOT_WRITABLE,
    # Files are opened for writing, also by commands that only read: the write-ahead log needs it.
    "SQLITE_CANTOPEN": _NOT_WRITABLE,
}


class Database:
    """The site's database file, open under one data key and one audit key. Not for several threads.

    Attributes:
        connection: the SQLite connection.
        vault: seals texts and makes keyed hashes under the data key.
        audit_key: the 32-byte key that chains the audit log.
        path: path of the file.
        upgraded_from: the version of the file's tables that was upgraded when it was opened; None if it was not.
    """

    def __init__(self, path: Path, vault: Vault, audit_key: bytes) -> None:
        """Open or create the store at `path` and bring its tables up to date.

        Args:
            path: path of the file; its folder is created if it is missing.
            vault: seals and hashes under the data key.
            audit_key: the 32-byte key that chains the audit log; derived from the seal key, not from the data key.

        Raises:
            StoreError: the file is readable by others, damaged, of a newer version, or was created with other keys.
        """
        if len(audit_key) != 32:
            raise StoreError("the key of the audit log must be 32 bytes long")
        self.path = path
        self.vault = vault
        self.audit_key = audit_key
        self.upgraded_from: int | None = None
        _create_private_file(path)
        with translate_errors("opened"):
            self.connection = sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE_S)
            self._write_ahead()
            self.connection.execute("PRAGMA synchronous=NORMAL")
            self.connection.execute("PRAGMA temp_store=MEMORY")  # no temporary files
            self.connection.execute("PRAGMA secure_delete=ON")
            self.connection.execute("PRAGMA foreign_keys=ON")
            self._migrate()
        self._check_keys()

    def close(self) -> None:
        """Close the connection; a clean close merges the write-ahead log into the file."""
        self.connection.close()

    def _write_ahead(self) -> None:
        """Switch a new store to write-ahead logging; retry, because SQLite does not wait while others do so."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                self.connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _migrate(self) -> None:
        scripts = _list_scripts()
        if self.read_version() == len(scripts):
            return
        with self.transaction():
            version = (
                self.read_version()
            )  # another command may have updated the tables while this one waited
            if version > len(scripts):
                raise self._describe_newer(version, len(scripts))
            if version == len(scripts):
                return
            if version:
                keep_before_upgrade(self.path, version)
                self.upgraded_from = version
            for script in scripts[version:]:
                for statement in _split_statements(script.read_text("utf-8")):
                    self.connection.execute(statement)
            if version == 0:
                # Only a new file gets a head: in an existing file, a missing head means that someone removed it.
                self._begin_audit_log()
            self.connection.execute(f"PRAGMA user_version={len(scripts)}")
            self.connection.execute(
                "INSERT OR IGNORE INTO programs VALUES (?, ?, ?)",
                (len(scripts), __version__, int(time.time())),
            )

    def _describe_newer(self, version: int, known: int) -> StoreError:
        """Return the error about a store that a newer version of the program wrote, which it names."""
        try:
            row = self.connection.execute(
                "SELECT program FROM programs WHERE store_version = ?", (version,)
            ).fetchone()
        except sqlite3.Error:
            row = None
        program = row[0] if row is not None and row[0].isprintable() else "a newer version"
        return StoreError(
            f"the store was written by intramural {program} (tables of version {version}), and this is intramural "
            f"{__version__} (version {known})",
            "Install the newer version again. To stay with this one, `intramural rollback` puts the store back as it "
            "was before the upgrade. Nothing was read or written.",
        )

    def read_version(self) -> int:
        """Return the version of the file's tables."""
        return int(self.connection.execute("PRAGMA user_version").fetchone()[0])

    def _begin_audit_log(self) -> None:
        """Write the head of an empty log."""
        head = AuditHead(0, GENESIS_LINK)
        seal, key_check = seal_head(head, self.audit_key), seal_key_check(self.audit_key)
        self.connection.execute(
            "INSERT INTO audit_head VALUES (1, ?, ?, ?, ?)", (*head, seal, key_check)
        )

    def read_last_event_time(self) -> int | None:
        """Return when the last event of the audit log was recorded, in seconds since 1970; None if there is none."""
        row = self.connection.execute(
            "SELECT CAST(record AS BLOB) FROM audit_events ORDER BY number DESC LIMIT 1"
        ).fetchone()
        if row is None:
            return None
        try:
            at = json.loads(row[0])["at"]
        except (ValueError, TypeError, KeyError):
            return None  # it was changed, which reading the log reports
        return at if isinstance(at, int) else None

    def measure_size(self) -> int:
        """Return the size of the file in bytes, as it is without its write-ahead log."""
        (pages,) = self.connection.execute("PRAGMA page_count").fetchone()
        (page_size,) = self.connection.execute("PRAGMA page_size").fetchone()
        return int(pages) * int(page_size)

    def check_integrity(self) -> None:
        """Check the structure of the file, without its content.

        Raises:
            StoreError: it is damaged.
        """
        with translate_errors("checked"):
            (finding,) = self.connection.execute("PRAGMA quick_check(1)").fetchone()
        if finding != "ok":
            raise StoreError("the store's file is damaged", "Restore it from a backup.")

    def write_head(self, head: AuditHead) -> None:
        """Replace the log's head."""
        self.connection.execute(
            "UPDATE audit_head SET number = ?, link = ?, seal = ?",
            (*head, seal_head(head, self.audit_key)),
        )

    def _check_keys(self) -> None:
        """Check, before anything is written, that the store was created with these keys. Raises StoreError."""
        row = self.connection.execute("SELECT CAST(key_check AS BLOB) FROM audit_head").fetchone()
        if row is not None and not hmac.compare_digest(
            row[0], seal_key_check(self.audit_key).encode()
        ):
            raise StoreError(
                "the seal key is not the one that this store was created with",
                "Restore the matching keys/seal.key from a backup; nothing was read or written.",
            )
        sealed = self._read_seal("key check")
        if sealed is None:
            with self.transaction():
                self._write_seal("key check", KEY_CHECK)
        elif not self.vault.opens(b"seal\0key check", sealed):
            raise StoreError(
                "the data key is not the one that this store was created with",
                "Restore the matching keys/data.key from a backup; nothing was read or written.",
            )

    def _read_seal(self, name: str) -> bytes | None:
        row = self.connection.execute("SELECT sealed FROM seals WHERE name = ?", (name,)).fetchone()
        return None if row is None else bytes(row[0])

    def _write_seal(self, name: str, value: bytes) -> None:
        sealed = self.vault.seal(b"seal\0" + name.encode(), value)
        self.connection.execute("INSERT OR REPLACE INTO seals VALUES (?, ?)", (name, sealed))

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Return a context in which all reads see the same state, whatever other commands write in the meantime."""
        if self.connection.in_transaction:
            yield
            return
        self.connection.execute("BEGIN")
        try:
            yield
        finally:
            self.connection.execute("ROLLBACK")

    @contextmanager
    def limit_patience(self, seconds: float) -> Iterator[None]:
        """Return a context whose writes wait at most `seconds` for another command's transaction, and then fail."""
        self.connection.execute(f"PRAGMA busy_timeout={int(seconds * 1000)}")
        try:
            yield
        finally:
            self.connection.execute(f"PRAGMA busy_timeout={int(_PATIENCE_S * 1000)}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Return a context that runs in a transaction, or as part of the open one."""
        if self.connection.in_transaction:
            yield
            return
        with translate_errors("written"):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise


def count_versions() -> int:
    """Return the version of the tables that this program writes."""
    return len(_list_scripts())


def _list_scripts() -> list[Path]:
    return sorted((Path(__file__).parent / "migrations").glob("*.sql"))


def _create_private_file(path: Path) -> None:
    """Create the file if it is missing. Raises StoreError if other accounts can read it or enter its folder."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    for place, mode in ((path, 0o600), (path.parent, 0o700)):
        found = stat.S_IMODE(place.stat().st_mode)
        if found & 0o077:
            raise StoreError(
                f"the store can be read by other accounts ({place.name} has mode {found:03o}, expected {mode:03o})",
                f"Run `chmod {mode:03o}` on {place}, and find out whether anyone read it.",
            )


def _split_statements(script: str) -> Iterator[str]:
    """Yield the statements of a script, each ending a line; `executescript` would commit the open transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@contextmanager
def translate_errors(doing: str) -> Iterator[None]:
    """Convert SQLite's errors to StoreError, without their messages, which may quote a value."""
    try:
        yield
    except sqlite3.Error as error:
        raise describe_sqlite_error(doing, error) from None


def describe_sqlite_error(doing: str, error: sqlite3.Error) -> StoreError:
    """Return the error to raise in place of one of SQLite, whose message may quote a value."""
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return StoreError(f"the store cannot be {doing} ({name})", ADVICE.get(name, StoreError.advice))
