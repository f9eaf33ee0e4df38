"""The database: its migrations, its constraints, and what happens to half-done work."""

import os
import shutil
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from click.testing import CliRunner
from sqlalchemy import delete, insert, select, text
from sqlalchemy.exc import IntegrityError

from aggregator.board.verification import verify
from aggregator.cli import cli
from aggregator.errors import BoardMismatchError, SettingsError, StoreError
from aggregator.home import Home, today_day
from aggregator.registry.versions import walk
from aggregator.settings import make_settings, read_settings, write_settings
from aggregator.store.database import UNRELEASED_SCHEMA, Database
from aggregator.store.schema import entries, metadata, registry_versions
from protocol.errors import Code, ProtocolError
from tests.aggregator.federation import TestSite, new_home, registry_of, submit


def test_the_migrations_make_the_tables_that_the_program_uses(empty_database: Database) -> None:
    empty_database.migrate()
    empty_database.migrate()  # nothing left to do
    empty_database.check_version()
    with empty_database.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_an_empty_or_foreign_database_is_refused(empty_database: Database) -> None:
    with pytest.raises(StoreError, match=r"none|is missing"):
        empty_database.check_version()
    empty_database.migrate()
    with empty_database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="9999"):
        empty_database.check_version()


def test_other_accounts_can_read_no_file_of_a_new_database(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        database = Database(f"sqlite:///{tmp_path / 'new.sqlite3'}")
        database.migrate()
        with database.writing():
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
        database.close()
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("new.sqlite3", "new.sqlite3-wal", "new.sqlite3-shm"), 0o600)


def test_a_database_that_cannot_be_created_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be created: No such file or directory"):
        Database(f"sqlite:///{tmp_path / 'missing' / 'new.sqlite3'}").migrate()


def test_two_links_for_one_place_are_impossible_in_the_database_itself(
    home: Home, site: TestSite
) -> None:
    with home.database.reading() as connection:
        first = select(entries).where(entries.c.position == 0)
        row = dict(connection.execute(first).mappings().one())
    with pytest.raises(StoreError) as error, home.database.writing() as connection:
        connection.execute(insert(entries).values({**row, "position": 99, "digest": "f" * 64}))
    assert isinstance(error.value.__cause__, IntegrityError)


def test_two_statements_that_end_one_plan_are_impossible_in_the_database_itself(
    home: Home, site: TestSite
) -> None:
    registry = registry_of(home)
    plan = submit(home, site, site.plan(registry))
    submit(home, site, site.abandon(registry, plan))
    with home.database.reading() as connection:
        abandonment = select(entries).where(entries.c.settles == plan)
        row = dict(connection.execute(abandonment).mappings().one())
    twin = {**row, "position": 99, "digest": "f" * 64, "seq": row["seq"] + 1}
    with pytest.raises(StoreError) as error, home.database.writing() as connection:
        connection.execute(insert(entries).values(twin))
    assert isinstance(error.value.__cause__, IntegrityError)
    with home.database.writing() as connection:
        connection.execute(insert(entries).values({**twin, "settles": None}))


UNRELEASED = Path(__file__).parents[1] / "data/versions/56f8cdc"


def test_a_database_of_an_unreleased_version_is_refused_in_one_sentence(tmp_path: Path) -> None:
    directory = Path(shutil.copytree(UNRELEASED / "aggregator", tmp_path / "aggregator"))
    for words in (["list", "sites"], ["serve"], ["publish", "--out", str(tmp_path / "board")]):
        result = CliRunner().invoke(cli, ["--dir", str(directory), *words])
        assert isinstance(result.exception, StoreError)
        assert "made by an unreleased version" in str(result.exception)
        assert "Start over" in result.exception.advice


def test_a_new_aggregator_is_not_founded_on_an_unreleased_database(
    empty_database: Database, tmp_path: Path
) -> None:
    with empty_database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        connection.execute(
            text("INSERT INTO alembic_version VALUES (:schema)"), {"schema": UNRELEASED_SCHEMA}
        )
    url = empty_database.engine.url.render_as_string()
    with pytest.raises(StoreError, match="made by an unreleased version"):
        new_home(tmp_path / "aggregator", database_url=url)


def test_a_registry_of_an_unreleased_version_is_refused() -> None:
    for path in (UNRELEASED / "aggregator/registry").glob("*.dsse.json"):
        with pytest.raises(ProtocolError) as error:
            walk([path.read_bytes()])
        assert error.value.code is Code.OLD_SCHEMA


def test_a_board_of_an_unreleased_version_is_refused_in_one_sentence() -> None:
    with pytest.raises(BoardMismatchError, match="made by an unreleased version") as error:
        verify(UNRELEASED / "board", today_day=today_day())
    assert error.value.advice.startswith("Start over")
    with pytest.raises(BoardMismatchError, match="made by an unreleased version"):
        verify(UNRELEASED / "board", ["0" * 64], today_day=today_day())


def test_an_error_takes_back_the_whole_transaction(home: Home) -> None:
    def fail_half_way() -> None:
        with home.database.writing() as connection:
            connection.execute(delete(registry_versions))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    with home.database.reading() as connection:
        assert len(connection.execute(select(registry_versions)).all()) == 1


def test_a_database_failure_quotes_no_values(home: Home) -> None:
    with pytest.raises(StoreError) as error, home.database.writing() as connection:
        connection.execute(insert(registry_versions).values(version=1, envelope=b"canary"))
    assert "canary" not in str(error.value)
    assert "canary" not in str(error.value.__cause__)


@pytest.mark.parametrize("url", ["nonsense", "mysql://x/y", "postgresql+nodriver://h/n"])
def test_a_url_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(StoreError):
        Database(url)


def test_settings_hold_no_password_and_no_unknown_key(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="password"):
        make_settings({"database_url": "postgresql+psycopg://user:secret@host/name"})
    path = tmp_path / "aggregator.yaml"
    for wrong in ("colour: red", "invite_days: 0", "- a", "a: [", "arrival_timeout_s: soon"):
        path.write_text(wrong)
        with pytest.raises(SettingsError, match=r"aggregator\.yaml") as error:
            read_settings(path)
        assert "secret" not in str(error.value)
    path.unlink()
    kept = make_settings({"name": "Übersicht", "invite_days": 7})
    write_settings(path, kept)
    assert read_settings(path) == kept
