"""Bad inputs H: what the public board must not depend on, mix up or give away; on both databases."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aggregator.board.merging import merge_audited, merge_board
from aggregator.board.own_log import read_own_log
from aggregator.board.publish import publish
from aggregator.board.verification import verify
from aggregator.errors import AggregatorError
from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.log import journal
from aggregator.merge.board_model import Board, MergedCell, Row, State, parse_audited
from aggregator.registry.changes import Additions
from aggregator.registry.founding import found
from aggregator.registry.proposals import Changes, change_now
from aggregator.settings import make_settings
from protocol.envelope import decode
from protocol.scorecard import Scorecard
from tests.aggregator.copies import copy_home
from tests.aggregator.federation import (
    AGENT_VERSION,
    CARD,
    GROUPED,
    MODELS,
    ORIGIN,
    TestSite,
    ready,
    registry_of,
    scores,
    scores_of_groups,
    submit,
)
from tests.aggregator.postgres_cluster import create_database, start_cluster

MakeHome = Callable[..., Home]
NOTES = "shc_notes/exact_match"  # a private cell of CARD


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with start_cluster() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def make_home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeHome]:
    """Return a function that founds one aggregator after another."""
    homes: list[Home] = []

    def make(origin: str = ORIGIN, card: Scorecard = CARD) -> Home:
        url = (
            create_database(request.getfixturevalue("cluster"))
            if request.param == "postgresql"
            else None
        )
        home = found(
            tmp_path / f"aggregator-{len(homes)}",
            make_settings({"database_url": url}),
            origin=origin,
            additions=Additions(models=MODELS, scorecards=[card], agents=[AGENT_VERSION]),
            today_day=today_day(),
        )
        homes.append(home)
        return home

    yield make
    for home in homes:
        home.database.close()


def read_board(home: Home) -> Board:
    """Return the board that the aggregator would publish now."""
    with home.database.reading() as connection:
        log = read_own_log(connection, home)
    return merge_board(log.shown, merge_audited(log.whole))


def read_cell(home: Home, key: str = NOTES) -> MergedCell:
    (table,) = read_board(home).tables
    return table.rows[0].cells[key]


def send_result(home: Home, site: TestSite, seed: int, **options: float) -> str:
    return submit(home, site, site.result(registry_of(home), scores(seed, **options)))


def log_digests(home: Home) -> list[str]:
    with home.database.reading() as connection:
        return [decode(entry.envelope).digest for entry in journal.read_entries(connection)]


# H114


def test_H114_any_order_of_arrival_gives_the_same_figures(
    make_home: MakeHome, tmp_path: Path
) -> None:
    home = make_home()
    signed: dict[int, list[bytes]] = {}
    for number in range(5):
        site = ready(home, f"Site {number}", "named" if number < 2 else "pooled")
        signed[number] = []
        for model in MODELS[:2]:
            drawn = scores(10 * number, right=0.5 + number / 20)
            envelope = site.sign(site.result(registry_of(home), drawn, model=model.name))
            site.accepted(envelope)
            signed[number].append(envelope)
    tables = []
    for order in ((0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 0, 4, 1, 3), (1, 4, 0, 3, 2)):
        other = copy_home(home, tmp_path / f"copy-{order}")
        for number in order:
            for envelope in signed[number]:
                accept(other, envelope, today_day=today_day())
        assert read_cell(other).sites == 5
        tables.append(without_log_sizes(read_board(other)))
        other.database.close()
    assert all(table == tables[0] for table in tables[1:])


def without_log_sizes(board: Board) -> list[Row]:
    """Return the rows: only when the log was so long that a step was taken depends on the order."""
    (table,) = board.tables
    rows = []
    for row in table.rows:
        cells = {key: replace(cell, since=0) for key, cell in row.cells.items()}
        rows.append(replace(row, cells=cells))
    return rows


# H115


def test_H115_a_withdrawn_result_leaves_the_board_and_stays_in_the_log(make_home: MakeHome) -> None:
    home = make_home()
    site = ready(home)
    withdrawn = send_result(home, site, 1)
    assert read_board(home).tables[0].rows[0].sites == 1
    ending = submit(home, site, site.withdraw(registry_of(home), withdrawn))
    board = read_board(home)
    assert not any(row.sites for table in board.tables for row in table.rows)
    assert [(found.position, found.reason) for found in board.withdrawn] == [(3, "data_error")]
    assert {withdrawn, ending} <= set(log_digests(home))


def test_H115_a_result_of_a_revoked_key_leaves_the_board_and_stays_in_the_log(
    make_home: MakeHome,
) -> None:
    home = make_home()
    site, other = ready(home), ready(home, "Other")
    position = len(log_digests(home))
    revoked, kept = send_result(home, site, 1), send_result(home, other, 2)
    with home.database.writing() as connection:
        change_now(
            connection,
            home,
            Changes(revoked={site.agent.public.keyid: position}),
            today_day=today_day(),
        )
    board = read_board(home)
    assert [result.site for result in board.site_results] == [other.id]
    assert board.tables[0].rows[0].sites == 1
    assert board.revoked == (position,)
    assert {revoked, kept} <= set(log_digests(home))


# H116


def test_H116_no_file_of_one_deployments_board_passes_in_anothers(
    make_home: MakeHome, tmp_path: Path
) -> None:
    folders = {}
    for origin in (ORIGIN, "staging.board.example"):
        home = make_home(origin)
        for number in range(3):
            send_result(home, ready(home, f"Site {number}"), number)
        folders[origin] = tmp_path / origin
        publish(home, folders[origin])
        root = registry_of(home).roots[0].fingerprint
        verify(folders[origin], [root], today_day=today_day())
        if origin == ORIGIN:
            trusted = root
    ours, theirs = folders.values()
    names = [path.relative_to(ours) for path in sorted(ours.rglob("*")) if path.is_file()]
    shared = [name for name in names if (theirs / name).is_file()]
    differing = [
        name for name in shared if (theirs / name).read_bytes() != (ours / name).read_bytes()
    ]
    assert {"checkpoint", "board.json"} <= {path.name for path in differing}
    for name in differing:
        mixed = tmp_path / "mixed"
        shutil.copytree(ours, mixed)
        (mixed / name).unlink()
        (mixed / name).write_bytes((theirs / name).read_bytes())
        with pytest.raises(AggregatorError):
            verify(mixed, [trusted], today_day=today_day())
        shutil.rmtree(mixed)
    with pytest.raises(AggregatorError):
        verify(theirs, [trusted], today_day=today_day())


# H117


def test_H117_a_subgroup_that_one_pooled_site_reports_is_withheld(
    make_home: MakeHome, tmp_path: Path
) -> None:
    home = make_home(card=GROUPED)
    whole = {cell.key for cell in GROUPED.cells if cell.subgroup is None}
    for number in range(4):
        site = ready(home, f"Site {number}", "pooled", card=GROUPED)
        drawn = scores_of_groups(number, right=0.6 + number / 50)
        if number:
            drawn = {key: values for key, values in drawn.items() if key in whole}
        submit(home, site, site.result(registry_of(home), drawn, card=GROUPED))
    (table,) = read_board(home).tables
    cells = table.rows[0].cells
    assert cells["discharge/exact_match"].state is State.VALUE
    for key, cell in cells.items():
        if key not in whole:
            assert cell.state is not State.VALUE, key
            assert (cell.value, cell.low, cell.high, cell.sites) == (None, None, None, 0)
    publish(home, tmp_path / "board")
    audited = parse_audited((tmp_path / "board/audited.json").read_bytes())
    (rows,) = audited.tables.values()
    for row in rows.rows.values():
        assert {key for key, cell in row.cells.items() if cell.state is State.VALUE} <= whole


# H118


@pytest.mark.parametrize("count", [1, 2])
def test_H118_fewer_than_three_pooled_sites_show_nothing(make_home: MakeHome, count: int) -> None:
    home = make_home()
    for number in range(count):
        send_result(home, ready(home, f"Site {number}", "pooled"), number)
    send_result(home, ready(home, "A named site"), 9)  # does not help them to hide
    cell = read_cell(home)
    assert (cell.sites, cell.named_sites) == (1, 1)
    assert cell.waiting == count


def test_H118_a_participant_subtracts_nothing_when_one_more_site_joins(make_home: MakeHome) -> None:
    home = make_home()
    shown = []
    for number in range(6):
        send_result(home, ready(home, f"Site {number}", "pooled"), number, right=0.4 + number / 12)
        cell = read_cell(home)
        shown.append((cell.value, cell.sites, cell.waiting))
    assert [sites for _, sites, _ in shown] == [0, 0, 3, 3, 3, 6]
    assert [waiting for _, _, waiting in shown] == [1, 2, 0, 1, 2, 0]
    assert shown[2][0] == shown[3][0] == shown[4][0] != shown[5][0]


def test_H118_a_participant_subtracts_nothing_when_one_site_reports_anew_or_withdraws(
    make_home: MakeHome,
) -> None:
    home = make_home()
    sites = [ready(home, f"Site {number}", "pooled") for number in range(4)]
    digests = [send_result(home, site, number) for number, site in enumerate(sites[:3])]
    before = read_cell(home)
    send_result(home, sites[0], 77, right=0.4)
    after = read_cell(home)
    assert (after.value, after.low, after.high, after.sites) == (
        before.value,
        before.low,
        before.high,
        before.sites,
    )
    submit(home, sites[1], sites[1].withdraw(registry_of(home), digests[1]))
    gone = read_cell(home)
    assert gone.state is State.WITHHELD
    assert gone.value is None
