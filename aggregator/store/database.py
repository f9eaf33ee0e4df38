"""Opening the database: SQLite by default, PostgreSQL by URL; whole transactions, one writer at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from aggregator.errors import StoreError

MIGRATIONS = Path(__file__).parent / "migrations"
WRITER_LOCK = 0x696E7472  # PostgreSQL advisory lock of whoever appends
BUSY_TIMEOUT_S = 30.0
NO_LIMIT = -1  # of connections: the service bounds the requests that use them
UNRELEASED_SCHEMA = "0001"


class Database:
    """A migrated database. Every use is one transaction: `reading()` or `writing()`."""

    def __init__(self, url: str) -> None:
        """Connect lazily to `url`, an SQLAlchemy URL.

        Raises:
            StoreError: the URL is not understood or its driver is not installed.
        """
        try:
            self.engine = _engine(url)
        except (ArgumentError, ModuleNotFoundError) as error:
            raise StoreError(
                f"the database URL cannot be used: {type(error).__name__}",
                "Use sqlite:///FILE, or postgresql+psycopg://HOST/NAME with the extra `postgres` installed.",
            ) from None

    def migrate(self) -> None:
        """Create the tables, or bring them up to this version's schema. Raises StoreError."""
        config = _alembic_config()
        with _store_errors(), self.engine.begin() as connection:
            _refuse_unreleased(MigrationContext.configure(connection).get_current_revision())
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def check_version(self) -> None:
        """Refuse a database that is empty or of another version.

        Raises:
            StoreError: the schema is not the one this program was written for.
        """
        wanted = needed_schema()
        with self.reading() as connection:
            found = MigrationContext.configure(connection).get_current_revision()
        _refuse_unreleased(found)
        if found != wanted:
            raise StoreError(f"the database has schema {found or 'none'}; this program needs {wanted}")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a consistent snapshot."""
        with _store_errors(), self.engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a transaction that no other writer can interleave with; commits on leaving, else rolls back."""
        writer = self.engine.execution_options(intramural_writer=True)
        with _store_errors(), writer.connect() as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": WRITER_LOCK})
            yield connection

    def close(self) -> None:
        """Release all connections."""
        self.engine.dispose()


def needed_schema() -> str:
    """Return the schema that this program was written for."""
    head = ScriptDirectory.from_config(_alembic_config()).get_current_head()
    assert head is not None, "there are migrations"
    return head


def _refuse_unreleased(schema: str | None) -> None:
    if schema == UNRELEASED_SCHEMA:
        raise StoreError(
            "the database was made by an unreleased version of intramural, which no version after it reads",
            "Start anew: run `intramural-aggregator init` in another directory, with another database.",
        )


@contextmanager
def _store_errors() -> Iterator[None]:
    """Name the kind of a database failure only: driver messages quote statements and their values."""
    try:
        yield
    except SQLAlchemyError as error:
        raise StoreError(f"the database failed: {type(error).__name__}") from error


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        # Under READ COMMITTED a writer that waited for the lock sees what the one before it appended.
        return create_engine(
            url, isolation_level="READ COMMITTED", pool_pre_ping=True, hide_parameters=True, max_overflow=NO_LIMIT
        )
    engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_S}, hide_parameters=True, max_overflow=NO_LIMIT)

    @event.listens_for(engine, "connect")
    def _durable(dbapi_connection: Any, _record: Any) -> None:
        dbapi_connection.isolation_level = None  # we say BEGIN ourselves, see _begin
        dbapi_connection.execute("PRAGMA journal_mode = WAL")
        dbapi_connection.execute("PRAGMA synchronous = FULL")  # a receipt given is an entry kept
        dbapi_connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writer = connection.get_execution_options().get("intramural_writer", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writer else "BEGIN")

    return engine


def _alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config
