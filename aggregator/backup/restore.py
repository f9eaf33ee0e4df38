"""Restore a backup: verify all of its content, and restore everything or nothing."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import Connection, Table, insert, select

from aggregator.backup.form import FORMAT, ROWS_AT_ONCE, count_rows, decode_bytes
from aggregator.errors import SettingsError, StoreError
from aggregator.home import DATABASE_FILE, SETTINGS_FILE, Home
from aggregator.key_files import write_private
from aggregator.log.restored import mark_restored
from aggregator.log.tree_nodes import complete_nodes, fold, grow_peaks
from aggregator.registry.versions import all_envelopes, newest_registry, walk
from aggregator.store.database import Database, needed_schema
from aggregator.store.schema import entries, metadata, nodes
from protocol.checkpoint import verify_checkpoint
from protocol.envelope import decode
from protocol.errors import ProtocolError
from protocol.merkle import leaf_hash

MAX_LINE_LENGTH = 64 * 1024 * 1024  # bytes
MAX_HEADER_LENGTH = 4096  # bytes
_GZIP_MAGIC = b"\x1f\x8b"
_PORTION_LENGTH = 1024 * 1024  # bytes
_DAMAGED_ADVICE = "Use another backup. Nothing was restored."


def restore_backup(
    backup: Path, directory: Path, *, database_url: str | None, today_day: int
) -> Home:
    """Restore a backup to a new directory and an empty database. Appending is forbidden until `resume`.

    Args:
        backup: A file written by `write_backup`.
        directory: The directory, created if missing. It must not contain an aggregator.
        database_url: URL of an empty database, or None for SQLite in the directory.
        today_day: Days since 1970-01-01 UTC.

    Raises:
        SettingsError: the directory contains an aggregator or cannot be created, or the file is not
            a backup.
        StoreError: the database is not empty or failed, or the backup is damaged. Nothing was
            restored.
        KeyFileError: a private key cannot be written. Nothing was restored.
    """
    if (directory / SETTINGS_FILE).exists():
        raise SettingsError(
            f"{directory} already contains an aggregator", "Choose another directory."
        )
    _check_kind(backup)
    with _making(directory):
        database = Database(database_url or f"sqlite:///{directory.absolute() / DATABASE_FILE}")
        try:
            database.migrate()
            with (
                _refusing_damage(),
                gzip.open(backup, "rb") as stream,
                database.writing() as connection,
            ):
                files = _Reader(stream).read_all(connection)
                mark_restored(connection, _check_log(connection), today_day)
                _write_files(directory, files, database_url)
        except (ValueError, KeyError, TypeError):
            raise _damaged("its content is malformed") from None
        except OSError as error:
            raise StoreError(
                f"the backup cannot be restored: {error.strerror}", _DAMAGED_ADVICE
            ) from None
        finally:
            database.close()
    return Home(directory)


def _check_kind(backup: Path) -> None:
    """Refuse a file that is not a backup, before anything is created.

    Raises:
        SettingsError: the file cannot be read, or is not a backup of this version.
        StoreError: the file is compressed, but truncated or changed.
    """
    try:
        kind = _read_format(backup)
    except OSError as error:
        raise SettingsError(
            f"{backup.name} cannot be read: {error.strerror}", "Check the path and its permissions."
        ) from None
    if kind == FORMAT:
        return
    if kind is not None and kind.startswith(FORMAT.partition("/")[0]):
        raise SettingsError(
            f"{backup.name} was written by another version of intramural",
            "Restore it with the version that created it.",
        )
    raise SettingsError(
        f"{backup.name} is not a backup of an aggregator",
        "Use a file that `intramural-aggregator backup` has written. Nothing was restored.",
    )


def _read_format(backup: Path) -> str | None:
    """Return the format that a file's first line states, or None if the file is not a backup.

    Raises:
        OSError: the file cannot be read.
        StoreError: the file is compressed, but truncated or changed.
    """
    with backup.open("rb") as file:
        if file.read(len(_GZIP_MAGIC)) != _GZIP_MAGIC:
            return None
    with _refusing_damage(), gzip.open(backup, "rb") as stream:
        first_line = stream.readline(MAX_HEADER_LENGTH)
        # A changed byte can hide or alter the first line, and only the end of the file tells.
        while stream.read(_PORTION_LENGTH):
            pass
    try:
        header = json.loads(first_line)
    except (ValueError, RecursionError):
        return None
    kind = header.get("format") if isinstance(header, dict) else None
    return kind if isinstance(kind, str) else None


@contextmanager
def _refusing_damage() -> Iterator[None]:
    """Refuse compressed bytes that are truncated or changed. Raises StoreError."""
    try:
        yield
    except EOFError:
        raise _damaged("it is truncated") from None
    except (gzip.BadGzipFile, zlib.error):
        raise _damaged("its bytes have changed since it was written") from None


@contextmanager
def _making(directory: Path) -> Iterator[None]:
    """Create a directory if it is missing. If the caller's block fails, remove everything that restoring created.

    Raises:
        SettingsError: the directory cannot be created.
    """
    made = [folder for folder in (directory, *directory.parents) if not folder.exists()]
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        before = _list_made(directory)
    except OSError as error:
        raise SettingsError(
            f"{directory} cannot be created: {error.strerror}", "Choose another directory."
        ) from None
    try:
        yield
    except BaseException:
        for path in sorted(
            _list_made(directory) - before, reverse=True
        ):  # remove files before their folder
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        for folder in made:
            folder.rmdir()
        raise


def _list_made(directory: Path) -> set[Path]:
    """Return the existing files that restoring can create. The directory may also contain the user's own files."""
    keys = directory / "keys"
    made = {
        directory / SETTINGS_FILE,
        keys,
        *directory.glob(f"{DATABASE_FILE}*"),
        *keys.glob("*.key"),
    }
    return {path for path in made if path.exists()}


def _damaged(fault: str) -> StoreError:
    return StoreError(f"the backup is damaged: {fault}", _DAMAGED_ADVICE)


class _Reader:
    """A reader that inserts the lines of a backup into an empty database, within the caller's transaction."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()

    def read_all(self, connection: Connection) -> dict[str, bytes]:
        """Insert all rows. Return the files by name."""
        lines = self._read_lines()
        header = next(lines)
        if header["schema"] != needed_schema():
            raise StoreError(
                f"the backup has schema {header['schema']}, but this program needs {needed_schema()}",
                "Restore it with the version of intramural that created it, then migrate.",
            )
        files: dict[str, bytes] = {}
        table: Table | None = None
        rows: list[dict[str, object]] = []
        for line in lines:
            if isinstance(line, list):
                if table is None:
                    raise ValueError("a row without a table")
                values = [_decode_value(value) for value in line]
                rows.append(dict(zip(table.columns.keys(), values, strict=True)))
                if len(rows) >= ROWS_AT_ONCE:
                    connection.execute(insert(table), rows)
                    rows = []
                continue
            if table is not None and rows:
                connection.execute(insert(table), rows)
                rows = []
            if "file" in line:
                files[line["file"]] = decode_bytes(line["content"])
            else:
                table = self._begin_table(connection, line)
        if table is not None and rows:
            connection.execute(insert(table), rows)
        if header["log_size"] != count_rows(connection, entries):
            raise ValueError("entries are missing")
        return files

    def _read_lines(self) -> Iterator[Any]:
        """Yield all lines except the last, which must be the digest of the others."""
        while data := self._stream.readline(MAX_LINE_LENGTH):
            line = json.loads(data)
            if isinstance(line, dict) and "sha256" in line:
                if line["sha256"] != self._digest.hexdigest() or self._stream.read(1):
                    raise ValueError("the digest does not match")
                return
            self._digest.update(data)
            yield line
        raise ValueError("the end is missing")

    def _begin_table(self, connection: Connection, line: dict[str, Any]) -> Table:
        table = metadata.tables[line["table"]]
        if line["columns"] != [column.name for column in table.columns]:
            raise ValueError("the columns do not match")
        if count_rows(connection, table):
            raise StoreError(
                "the database is not empty", "Restore into a new database. Nothing was restored."
            )
        return table


def _check_log(connection: Connection) -> int:
    """Verify registry and log completely, store the log's tree and return its size. Raises StoreError."""
    try:
        walk(all_envelopes(connection))
        registry = newest_registry(connection)
        peaks: list[bytes] = []
        newest: str | None = None
        log_size = 0
        query = select(entries.c.position, entries.c.envelope, entries.c.checkpoint).order_by(
            entries.c.position
        )
        for row in connection.execute(query.execution_options(yield_per=ROWS_AT_ONCE)):
            if row.position != log_size:
                raise ValueError("a position is missing")
            completed = complete_nodes(log_size, leaf_hash(decode(row.envelope).pae), peaks)
            peaks = grow_peaks(peaks, completed)
            rows = [
                {"level": node.level, "position": node.position, "hash": value}
                for node, value in completed
            ]
            connection.execute(insert(nodes), rows)
            newest, log_size = row.checkpoint, log_size + 1
        if newest is not None:
            head = verify_checkpoint(newest, registry.log_keys, registry.log_name)
            if (head.size, head.root) != (log_size, fold(peaks)):
                raise ValueError("the tree does not match the signed checkpoint")
    except (ProtocolError, ValueError, IndexError) as error:
        raise StoreError(
            f"the log in the backup is not valid: {type(error).__name__}", _DAMAGED_ADVICE
        ) from None
    return log_size


def _write_files(directory: Path, files: dict[str, bytes], database_url: str | None) -> None:
    """Write keys and settings. The settings come last, because they mark the directory as an aggregator's."""
    for name, content in files.items():
        path = directory / name
        if name == SETTINGS_FILE or path.parent != directory / "keys":
            continue
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_private(path, content)
    settings = yaml.safe_load(files[SETTINGS_FILE]) or {}
    settings.pop("database_url", None)
    if database_url is not None:
        settings["database_url"] = database_url
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True) if settings else ""
    (directory / SETTINGS_FILE).write_text(
        "# Settings of this aggregator, restored from a backup.\n" + text, "utf-8"
    )


def _decode_value(value: object) -> object:
    """Decode a value of a row. Bytes are encoded as an object."""
    return decode_bytes(value["base64"]) if isinstance(value, dict) else value
