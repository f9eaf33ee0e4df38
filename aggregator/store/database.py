"""The database, SQLite by default or PostgreSQL by URL, with transactions and one writer at a time."""

import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import ArgumentError, DisconnectionError, SQLAlchemyError

from aggregator.errors import StoreError

MIGRATIONS = Path(__file__).parent / "migrations"
WRITER_LOCK = 0x696E7472  # PostgreSQL advisory lock of the current writer
_TAKE_WRITER_LOCK = text("SELECT pg_advisory_xact_lock(:lock)")
BUSY_TIMEOUT_S = 30.0
UNTRIED_S = 1.0  # test a connection that was idle longer: the database may have been restarted
NO_LIMIT = -1  # no limit on connections: the service limits the requests that use them
UNRELEASED_SCHEMA = "0001"


class Database:
    """A migrated database. It is used in transactions: `reading()` or `writing()`."""

    def __init__(self, url: str) -> None:
        """Create a database that connects lazily to an SQLAlchemy URL.

        Raises:
            StoreError: the URL is not valid, or its driver is not installed.
        """
        try:
            self.engine = _engine(url)
        except (ArgumentError, ModuleNotFoundError) as error:
            raise StoreError(
                f"the database URL cannot be used: {type(error).__name__}",
                "Use sqlite:///FILE, or postgresql+psycopg://HOST/NAME with the extra `postgres` installed.",
            ) from None
        self._writing_engine = self.engine.execution_options(intramural_writer=True)
        self._reading_engine = self._looking_engine = self.engine
        if self.engine.dialect.name == "postgresql":
            self._reading_engine = self.engine.execution_options(isolation_level="REPEATABLE READ")
            self._looking_engine = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        name = self.engine.url.database if self.engine.dialect.name == "sqlite" else None
        self._file = Path(name) if name else None
        self._identity: tuple[int, int] | None = None

    def migrate(self) -> None:
        """Create the tables, or migrate them to this version's schema. Raises StoreError."""
        self._create_file()
        config = _alembic_config()
        with _store_errors(), self.engine.begin() as connection:
            _refuse_unreleased(MigrationContext.configure(connection).get_current_revision())
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def _create_file(self) -> None:
        """Create a missing SQLite file for its owner alone; SQLite would let others read it.

        SQLite gives its further files (`-wal`, `-shm`) the same mode.
        """
        if not self._is_in_file():
            return
        try:
            os.close(os.open(str(self._file), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return
        except OSError as error:
            raise StoreError(
                f"the database {self._file} cannot be created: {error.strerror}"
            ) from None

    def check_version(self) -> None:
        """Refuse a database that is missing, empty or of another version.

        Raises:
            StoreError: the database is missing, or has another schema than this program needs.
        """
        self._refuse_missing()
        wanted = needed_schema()
        with self.reading() as connection:
            found = MigrationContext.configure(connection).get_current_revision()
        _refuse_unreleased(found)
        if found is None:
            raise StoreError("the database is empty")
        if found != wanted:
            raise StoreError(f"the database has schema {found}, but this program needs {wanted}")

    def _refuse_missing(self) -> None:
        """Refuse a missing SQLite file, since opening it would create an empty one."""
        if self._is_in_file() and self._file is not None and not self._file.exists():
            raise StoreError(f"the database {self._file.name} is missing")

    def _is_in_file(self) -> bool:
        return self._file is not None and not str(self._file).startswith((":memory:", "file:"))

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Provide a connection with a consistent snapshot."""
        self._check_file()
        with _store_errors(), self._reading_engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def looking(self) -> Iterator[Connection]:
        """Provide a connection without a snapshot: every query sees the state at its own time.

        This saves beginning and ending a transaction in PostgreSQL, each of which takes as long as
        a query.
        """
        self._check_file()
        with _store_errors(), self._looking_engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Provide an exclusive write transaction. It commits at the end of the block, and rolls
        back on an exception.
        """
        self._check_file()
        with _store_errors(), self._writing_engine.connect() as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                connection.execute(_TAKE_WRITER_LOCK, {"lock": WRITER_LOCK})
            yield connection

    def close(self) -> None:
        """Release all connections."""
        self.engine.dispose()
        self._identity = None

    def _check_file(self) -> None:
        """Refuse to use a SQLite file that was removed or replaced while it was open.

        Data written to such a file is lost when its last connection closes, even if receipts were
        issued for it.
        """
        if self._file is None:
            return
        try:
            status = self._file.stat()
        except OSError:
            status = None
        identity = (status.st_dev, status.st_ino) if status is not None else None
        if self._identity is None:
            self._identity = identity
        elif identity != self._identity:
            raise StoreError(
                f"{self._file.name} was {'replaced' if identity else 'removed'} while it was in use",
                "Stop this command, restore the correct database, and start again.",
            )


def needed_schema() -> str:
    """Return the schema version that this program needs."""
    head = ScriptDirectory.from_config(_alembic_config()).get_current_head()
    assert head is not None, "at least one migration must exist"
    return head


def _refuse_unreleased(schema: str | None) -> None:
    if schema == UNRELEASED_SCHEMA:
        raise StoreError(
            "the database was made by an unreleased version of intramural, which later versions cannot read",
            "Start over: run `intramural-aggregator init` in another directory, with another database.",
        )


@contextmanager
def _store_errors() -> Iterator[None]:
    """Convert database errors to StoreError with only the error type, since driver messages quote
    statements and values.
    """
    try:
        yield
    except SQLAlchemyError as error:
        raise StoreError(f"the database failed: {type(error).__name__}") from error


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        # Under READ COMMITTED, a writer that waited for the lock sees the entries that the previous
        # writer appended.
        engine = create_engine(
            url, isolation_level="READ COMMITTED", hide_parameters=True, max_overflow=NO_LIMIT
        )
        _try_rested_connections(engine)
        return engine
    engine = create_engine(
        url, connect_args={"timeout": BUSY_TIMEOUT_S}, hide_parameters=True, max_overflow=NO_LIMIT
    )

    @event.listens_for(engine, "connect")
    def _durable(dbapi_connection: Any, _record: Any) -> None:
        dbapi_connection.isolation_level = None  # we issue BEGIN ourselves, see _begin
        dbapi_connection.execute("PRAGMA journal_mode = WAL")
        dbapi_connection.execute(
            "PRAGMA synchronous = FULL"
        )  # an entry must be durable before its receipt is issued
        dbapi_connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writer = connection.get_execution_options().get("intramural_writer", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writer else "BEGIN")

    return engine


def _try_rested_connections(engine: Engine) -> None:
    """Replace connections that broke while they were idle.

    If a connection breaks during a statement, the request fails and is sent again, and all other
    connections of the pool are replaced too. Testing each connection before every use
    (`pool_pre_ping`) would cost as much as the shortest transaction.
    """

    @event.listens_for(engine, "checkin")
    def _note_rest(_dbapi_connection: Any, record: Any) -> None:
        record.info["rests_since"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _try(dbapi_connection: Any, record: Any, _proxy: Any) -> None:
        if time.monotonic() - record.info.get("rests_since", math.inf) <= UNTRIED_S:
            return
        try:
            engine.dialect.do_ping(dbapi_connection)
        except engine.dialect.loaded_dbapi.Error:
            raise DisconnectionError from None  # the pool opens a new connection


def _alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config
