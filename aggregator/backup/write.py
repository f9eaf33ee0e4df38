"""Write backups of an aggregator that may be running."""

import gzip
import hashlib
import json
import os
from pathlib import Path

from sqlalchemy import Connection, Table, select

from aggregator.backup.form import FORMAT, LEFT_OUT, ROWS_AT_ONCE, count_rows, encode_bytes
from aggregator.errors import SettingsError
from aggregator.home import SETTINGS_FILE, Home
from aggregator.store.database import needed_schema
from aggregator.store.schema import entries, metadata


def write_backup(home: Home, out: Path, *, with_keys: bool) -> int:
    """Write a backup of an aggregator's directory and database. Return the size of its log.

    Args:
        home: The aggregator's directory. Its service may be running.
        out: The new file. It is created complete or not at all, readable by its owner only.
        with_keys: Whether to include the private keys.

    Raises:
        SettingsError: the file already exists, or cannot be written.
        StoreError: the database failed.
    """
    if out.exists():
        raise SettingsError(
            f"{out.name} already exists", "Choose another name; a backup is never overwritten."
        )
    if not out.parent.is_dir():
        raise SettingsError(f"{out.parent} is not a folder", "Choose a file in an existing folder.")
    unfinished = out.with_name(out.name + ".unfinished")
    try:
        unfinished.unlink(missing_ok=True)
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6, mtime=0) as stream:
                log_size = _Writer(stream).write_all(home, with_keys=with_keys)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(out)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise SettingsError(
            f"{out.name} cannot be written: {error.strerror}", "Check that the disk has free space."
        ) from None
    return log_size


class _Writer:
    """A writer of the lines of a backup."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()

    def write_all(self, home: Home, *, with_keys: bool) -> int:
        with home.database.reading() as connection:
            log_size = count_rows(connection, entries)
            header = {
                "format": FORMAT,
                "schema": needed_schema(),
                "log_size": log_size,
                "keys": with_keys,
            }
            self._write(header)
            for path in _list_files(home, with_keys=with_keys):
                name = path.relative_to(home.directory).as_posix()
                self._write({"file": name, "content": encode_bytes(path.read_bytes())})
            for table in metadata.sorted_tables:
                if table.name not in LEFT_OUT:
                    self._write_table(connection, table)
        self._write({"sha256": self._digest.hexdigest()})
        return log_size

    def _write_table(self, connection: Connection, table: Table) -> None:
        self._write({"table": table.name, "columns": [column.name for column in table.columns]})
        query = (
            select(table)
            .order_by(*table.primary_key.columns)
            .execution_options(yield_per=ROWS_AT_ONCE)
        )
        for row in connection.execute(query):
            self._write(
                [
                    {"base64": encode_bytes(value)} if isinstance(value, bytes) else value
                    for value in row
                ]
            )

    def _write(self, line: object) -> None:
        data = json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n"
        self._digest.update(data)
        self._stream.write(data)


def _list_files(home: Home, *, with_keys: bool) -> list[Path]:
    keys = sorted(home.keys.glob("*.key")) if with_keys else []
    return [home.directory / SETTINGS_FILE, *keys]
