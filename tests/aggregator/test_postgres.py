"""The same aggregator on a real PostgreSQL: a cluster of its own, reached through its socket, gone afterwards."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from aggregator.board.publish import verify
from aggregator.home import Home
from aggregator.store.schema import metadata
from tests.aggregator.federation import new_home
from tests.aggregator.test_board import fill, publish_from
from tests.aggregator.test_http import (
    test_a_refused_enrolment_leaves_nothing_and_spends_no_invite,
    test_killed_around_the_commit_the_receipt_comes_at_the_next_try,
    test_many_sites_at_once_all_get_in,
    test_of_twenty_at_once_for_one_place_exactly_one_wins,
)
from tests.aggregator.test_intake import (
    test_a_fork_is_kept_as_evidence_and_freezes_the_site,
    test_a_refused_payload_whose_fault_is_gone_is_judged_anew,
    test_a_reset_unfreezes_and_the_site_goes_on_with_the_first_link_of_a_new_epoch,
    test_an_early_link_that_was_refused_and_held_back_by_somebody_freezes_nobody,
    test_every_kind_of_link_is_taken_in_one_chain,
    test_nobody_waits_for_the_writer_to_hear_what_is_known,
    test_the_same_payload_twice_at_once_is_one_entry_and_no_fork,
    test_whoever_reposts_an_old_refusal_freezes_no_healthy_site,
)
from tests.aggregator.test_rekeyings import (
    test_a_frozen_site_finds_its_way_back_over_http,
    test_killed_again_and_again_a_reset_comes_into_force_once,
    test_stale_requests_of_strangers_make_room,
    test_the_whole_log_with_resets_and_rotations_holds,
)
from tests.aggregator.test_store import (
    test_a_database_failure_quotes_no_values,
    test_an_error_takes_back_the_whole_transaction,
    test_two_links_for_one_place_are_impossible_in_the_database_itself,
    test_two_statements_that_end_one_plan_are_impossible_in_the_database_itself,
)

# Collected here once more: their `home` is the one below.
__all__ = [
    "test_a_database_failure_quotes_no_values",
    "test_a_fork_is_kept_as_evidence_and_freezes_the_site",
    "test_a_frozen_site_finds_its_way_back_over_http",
    "test_a_refused_enrolment_leaves_nothing_and_spends_no_invite",
    "test_a_refused_payload_whose_fault_is_gone_is_judged_anew",
    "test_a_reset_unfreezes_and_the_site_goes_on_with_the_first_link_of_a_new_epoch",
    "test_an_early_link_that_was_refused_and_held_back_by_somebody_freezes_nobody",
    "test_an_error_takes_back_the_whole_transaction",
    "test_every_kind_of_link_is_taken_in_one_chain",
    "test_killed_again_and_again_a_reset_comes_into_force_once",
    "test_killed_around_the_commit_the_receipt_comes_at_the_next_try",
    "test_many_sites_at_once_all_get_in",
    "test_nobody_waits_for_the_writer_to_hear_what_is_known",
    "test_of_twenty_at_once_for_one_place_exactly_one_wins",
    "test_stale_requests_of_strangers_make_room",
    "test_the_same_payload_twice_at_once_is_one_entry_and_no_fork",
    "test_the_whole_log_with_resets_and_rotations_holds",
    "test_two_links_for_one_place_are_impossible_in_the_database_itself",
    "test_two_statements_that_end_one_plan_are_impossible_in_the_database_itself",
    "test_whoever_reposts_an_old_refusal_freezes_no_healthy_site",
]


def programs() -> Path:
    """Return the folder of the newest PostgreSQL's programs; Debian keeps them off the path. Without any, skip all."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    found = debian[-1] if debian else shutil.which("initdb")
    if found is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)", allow_module_level=True)
    return Path(found).parent


pytest.importorskip("psycopg", reason="PostgreSQL's driver is not installed (pip install intramural[postgres])")
PROGRAMS = programs()


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Start PostgreSQL and give the URL of its server, without the database's name."""
    place = Path(tempfile.mkdtemp(prefix="pg-"))  # a socket's path must be short
    user = None
    if os.geteuid() == 0:  # which PostgreSQL refuses to run as
        user = pwd.getpwnam("nobody").pw_uid
        os.chown(place, user, -1)

    def program(name: str, *words: str) -> None:
        environment = {"LC_ALL": "C", "PATH": os.defpath, "HOME": str(place)}
        subprocess.run(
            [PROGRAMS / name, "-D", place / "data", *words],
            check=True, cwd=place, env=environment, user=user, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    try:
        program("initdb", "--username=tester", "--auth=trust", "--encoding=UTF8", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories='{place}' -c fsync=off -c max_connections=60"
        program("pg_ctl", "--wait", "--log", str(place / "log"), "--options", options, "start")
        try:
            yield f"postgresql+psycopg://tester@/{{database}}?host={place}"
        finally:
            program("pg_ctl", "--mode=immediate", "stop")
    finally:
        shutil.rmtree(place)


@pytest.fixture
def home(cluster: str, tmp_path: Path) -> Iterator[Home]:
    from sqlalchemy import create_engine, text

    name = "t" + os.urandom(6).hex()
    server = create_engine(cluster.format(database="postgres"), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    server.dispose()
    made = new_home(tmp_path / "aggregator", database_url=cluster.format(database=name))
    yield made
    made.database.close()


def test_the_migrations_make_the_tables_that_the_program_uses(home: Home) -> None:
    home.database.migrate()  # nothing left to do
    home.database.check_version()
    with home.database.reading() as connection:
        assert connection.dialect.name == "postgresql"
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    assert not list(home.directory.glob("*.sqlite3"))


def test_a_board_is_published_from_it_and_verifies(home: Home, tmp_path: Path) -> None:
    fill(home)
    publish_from(home, tmp_path / "board")
    fingerprint = home.root_key.public.fingerprint
    assert verify(tmp_path / "board", [fingerprint]).checkpoint.size == 5 * 3 + 4 * 3 + 4
