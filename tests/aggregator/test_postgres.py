"""The same aggregator on a real PostgreSQL: a cluster of its own, reached through its socket, gone afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from aggregator.board.verification import verify
from aggregator.errors import StoreError
from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.store import database
from aggregator.store.schema import metadata
from tests.aggregator.federation import new_home, ready, registry_of, scores, submit
from tests.aggregator.postgres_cluster import create_database, find_programs, start_cluster
from tests.aggregator.test_board import fill, publish_from
from tests.aggregator.test_foreseen import (
    meanwhile,
    test_a_key_that_is_replaced_meanwhile_signs_nothing,
    test_a_link_whose_predecessor_comes_meanwhile_is_accepted,
    test_a_log_that_is_marked_as_restored_meanwhile_takes_nothing,
    test_a_scorecard_that_is_retired_meanwhile_gets_no_result,
    test_a_site_that_is_frozen_meanwhile_gets_nothing_in,
    test_of_two_payloads_for_one_place_in_one_transaction_one_wins,
    test_of_two_payloads_for_one_place_the_second_worker_keeps_the_evidence,
    test_of_two_sites_with_the_same_scores_in_one_transaction_one_wins,
    test_scores_that_another_site_reports_meanwhile_are_not_reported_twice,
    test_sites_that_are_written_together_make_one_sound_log,
    test_the_same_payload_by_another_worker_meanwhile_is_one_entry,
    test_what_another_site_submits_meanwhile_changes_nothing,
)
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
    test_stale_requests_with_one_key_of_the_site_make_room,
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
    "meanwhile",
    "test_a_database_failure_quotes_no_values",
    "test_a_fork_is_kept_as_evidence_and_freezes_the_site",
    "test_a_frozen_site_finds_its_way_back_over_http",
    "test_a_key_that_is_replaced_meanwhile_signs_nothing",
    "test_a_link_whose_predecessor_comes_meanwhile_is_accepted",
    "test_a_log_that_is_marked_as_restored_meanwhile_takes_nothing",
    "test_a_refused_enrolment_leaves_nothing_and_spends_no_invite",
    "test_a_refused_payload_whose_fault_is_gone_is_judged_anew",
    "test_a_reset_unfreezes_and_the_site_goes_on_with_the_first_link_of_a_new_epoch",
    "test_a_scorecard_that_is_retired_meanwhile_gets_no_result",
    "test_a_site_that_is_frozen_meanwhile_gets_nothing_in",
    "test_an_early_link_that_was_refused_and_held_back_by_somebody_freezes_nobody",
    "test_an_error_takes_back_the_whole_transaction",
    "test_every_kind_of_link_is_taken_in_one_chain",
    "test_killed_again_and_again_a_reset_comes_into_force_once",
    "test_killed_around_the_commit_the_receipt_comes_at_the_next_try",
    "test_many_sites_at_once_all_get_in",
    "test_nobody_waits_for_the_writer_to_hear_what_is_known",
    "test_of_twenty_at_once_for_one_place_exactly_one_wins",
    "test_of_two_payloads_for_one_place_in_one_transaction_one_wins",
    "test_of_two_payloads_for_one_place_the_second_worker_keeps_the_evidence",
    "test_of_two_sites_with_the_same_scores_in_one_transaction_one_wins",
    "test_scores_that_another_site_reports_meanwhile_are_not_reported_twice",
    "test_sites_that_are_written_together_make_one_sound_log",
    "test_stale_requests_with_one_key_of_the_site_make_room",
    "test_the_same_payload_by_another_worker_meanwhile_is_one_entry",
    "test_the_same_payload_twice_at_once_is_one_entry_and_no_fork",
    "test_the_whole_log_with_resets_and_rotations_holds",
    "test_two_links_for_one_place_are_impossible_in_the_database_itself",
    "test_two_statements_that_end_one_plan_are_impossible_in_the_database_itself",
    "test_what_another_site_submits_meanwhile_changes_nothing",
    "test_whoever_reposts_an_old_refusal_freezes_no_healthy_site",
]


find_programs()  # without them nothing of this file can be tried


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with start_cluster() as url:
        yield url


@pytest.fixture
def home(cluster: str, tmp_path: Path) -> Iterator[Home]:
    made = new_home(tmp_path / "aggregator", database_url=create_database(cluster))
    yield made
    made.database.close()


def test_the_migrations_make_the_tables_that_the_program_uses(home: Home) -> None:
    home.database.migrate()  # nothing left to do
    home.database.check_version()
    with home.database.reading() as connection:
        assert connection.dialect.name == "postgresql"
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    assert not list(home.directory.glob("*.sqlite3"))


def end_all_connections(home: Home) -> None:
    """Do what a restart of the database does to its clients."""
    server = create_engine(home.database.engine.url, isolation_level="AUTOCOMMIT")
    ours = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid"
    with server.connect() as connection:
        connection.execute(text(f"{ours} <> pg_backend_pid()"))
    server.dispose()


def test_a_restart_of_the_database_while_nobody_asks_is_noticed_by_nobody(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = ready(home)
    monkeypatch.setattr(database, "UNTRIED_S", 0.0)
    for seed in range(3):
        end_all_connections(home)
        submit(home, site, site.result(registry_of(home), scores(seed)))


def test_a_restart_of_the_database_under_load_puts_off_one_submission_and_loses_none(
    home: Home,
) -> None:
    site = ready(home)
    for seed in range(3):
        envelope = site.sign(site.result(registry_of(home), scores(seed)))
        with home.database.reading(), home.database.reading(), home.database.reading():
            pass  # several connections in the pool, all used a moment ago
        end_all_connections(home)
        with pytest.raises(StoreError):
            accept(home, envelope, today_day=today_day())
        # The first failure has taken all others along.
        accept(home, envelope, today_day=today_day())
        site.accepted(envelope)


@pytest.mark.full
def test_a_board_is_published_from_it_and_verifies(home: Home, tmp_path: Path) -> None:
    fill(home)
    publish_from(home, tmp_path / "board")
    fingerprint = registry_of(home).roots[0].fingerprint
    verified = verify(tmp_path / "board", [fingerprint], today_day=today_day())
    assert verified.log.checkpoint.size == 5 * 3 + 4 * 3 + 4
