"""An attacker compares the board before and after something happens to one pooled site.

Without steps this gives the site's figure exactly; with them nothing moves but the number of sites that wait.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.merge.board_model import Board, MergedCell, State
from aggregator.merge.pool import weigh
from aggregator.merge.site_cell import SiteCell, figures_of
from aggregator.merge.table import build_board
from protocol.policy import bucket_of, bucket_range, grid_step
from tests.aggregator.merge.results import CARD, EXAM, NOTES, STRICT, WARD, Sites

SECRET = 300  # the figure that the attacker wants, on the grid of its site
UNITS = 400
GRID = grid_step(bucket_range(bucket_of(UNITS))[0], STRICT)


def board_of(sites: Sites, *, steps: bool = True) -> Board:
    """Return the board, or the one that there would be if pooled figures moved with every site."""
    registry = sites.registry()
    if not steps:
        loose = replace(STRICT, pooled_sites=1, pooled_share_percent=100)
        registry = replace(
            registry, policy_floor=loose.digest, policies={**registry.policies, loose.digest: loose}
        )
    return build_board(sites.results, registry, sites.withdrawals)


def ward_of(board: Board) -> MergedCell:
    return board.tables[0].rows[0].cells[WARD.key]


def recover_joining_figure(before: Board, after: Board) -> int:
    """Return what the attacker takes the joining site's figure to be: the difference of the sums, on the grid."""
    old, new = ward_of(before), ward_of(after)
    assert old.value is not None
    assert new.value is not None
    if new.units == old.units:
        return -1
    figure = (new.value * new.units - old.value * old.units) / (new.units - old.units)
    return round(figure / GRID) * GRID


def four_pooled_sites() -> Sites:
    sites = Sites()
    for site, figure in zip(sites.add("pooled", count=4), (600, 720, 640, 700), strict=True):
        sites.send(site, figure, units=UNITS)
    sites.send(sites.add("named")[0], 500, units=UNITS)
    return sites


@pytest.mark.parametrize("steps", [False, True], ids=["without steps", "with steps"])
def test_the_figure_of_a_joining_site_follows_from_the_boards_before_and_after(steps: bool) -> None:
    sites = four_pooled_sites()
    before = board_of(sites, steps=steps)
    sites.send(sites.add("pooled")[0], SECRET, units=UNITS)
    found = recover_joining_figure(before, board_of(sites, steps=steps))
    assert (found == SECRET) is not steps


def forget_waiting(board: Board) -> Board:
    """Return the board without its counts of sites that wait: all that may move."""
    tables = []
    for table in board.tables:
        rows = []
        for row in table.rows:
            cells = {key: replace(cell, waiting=0) for key, cell in row.cells.items()}
            rows.append(replace(row, cells=cells, waiting=0))
        tables.append(replace(table, rows=tuple(rows)))
    return replace(board, tables=tuple(tables))


Event = Callable[[Sites], None]


def join(sites: Sites) -> None:
    sites.send(sites.add("pooled")[0], {WARD: SECRET, NOTES: 200}, units=900, outcome="partial")


def join_coded(sites: Sites) -> None:
    sites.send(sites.add("pooled")[0], {WARD: -3, NOTES: -1}, assurance="weights_hashed")


def revise(sites: Sites) -> None:
    sites.send("s-00000001", {WARD: SECRET, NOTES: 900}, units=900)


def join_twice(sites: Sites) -> None:
    join(sites)
    join(sites)


def join_and_resend_others(sites: Sites) -> None:
    """Two sites send what they had sent, so that three seem to have changed."""
    join(sites)
    for site in ("s-00000002", "s-00000003"):
        sites.send(site, {WARD: 640, NOTES: 500})


@pytest.mark.parametrize("event", [join, join_coded, revise, join_twice, join_and_resend_others])
def test_nothing_on_the_board_moves_with_fewer_than_three_sites(event: Event) -> None:
    """Cells, intervals, leave-one-out, tau, counts, win rates, ranks and their ranges are all the same."""
    sites = Sites()
    pooled, named = sites.add("pooled", count=6), sites.add("named", count=2)
    for model in (0, 1, 2):
        for site in pooled:
            sites.send(site, {WARD: 640, NOTES: 500}, model=model)
        for site in named:
            sites.send(site, {WARD: 560 + 20 * model, NOTES: 450}, model=model)
    before = board_of(sites)
    event(sites)
    after = board_of(sites)
    assert after != before
    assert forget_waiting(after) == forget_waiting(before)


def test_the_third_joining_site_brings_all_three_at_once() -> None:
    sites = four_pooled_sites()
    shown = []
    for figure in (300, 320, 340):  # the fourth of the four has waited already
        sites.send(sites.add("pooled")[0], figure)
        cell = ward_of(board_of(sites))
        shown.append((cell.sites, cell.waiting, cell.since))
    assert shown == [(4, 2, 3), (7, 0, 7), (7, 1, 7)]


@pytest.mark.parametrize("how", ["withdrawn", "revoked"])
def test_a_figure_that_counts_no_more_takes_the_pooled_part_away_until_the_next_step(
    how: str,
) -> None:
    sites = Sites()
    results = [
        sites.send(site, 600 + 20 * n) for n, site in enumerate(sites.add("pooled", count=3))
    ]
    named = sites.add("named")[0]
    sites.send(named, 500)
    registry = sites.registry()
    if how == "withdrawn":
        sites.withdraw(results[0])
    else:
        registry = sites.registry(revoked={results[0].predicate.header.site: 0})
    cell = ward_of(build_board(sites.results, registry, sites.withdrawals))
    alone = ward_of(
        build_board([result for result in sites.results if result.publication == "named"], registry)
    )
    assert cell == replace(alone, waiting=1, rests_on_audit=True)
    assert (cell.value, cell.sites, cell.since) == (500, 1, 0)


def test_without_a_named_site_a_void_figure_is_withheld() -> None:
    sites = Sites()
    results = [
        sites.send(site, 600 + 20 * n) for n, site in enumerate(sites.add("pooled", count=3))
    ]
    sites.withdraw(results[0])
    cell = ward_of(board_of(sites))
    assert (cell.state, cell.value, cell.waiting) == (State.WITHHELD, None, 1)


def test_a_site_that_is_shown_by_name_from_now_on_is_not_counted_twice() -> None:
    sites = Sites()
    first, *_ = sites.add("pooled", count=3)
    for site in list(sites.publications):
        sites.send(site, 600)
    sites.publications[first] = "named"
    sites.send(first, 700)
    cell = ward_of(board_of(sites))
    assert (cell.value, cell.sites, cell.named_sites, cell.waiting) == (700, 1, 1, 1)


def test_public_data_is_merged_freely() -> None:
    sites = Sites()
    sites.send(sites.add("pooled")[0], {EXAM: 700, WARD: 600})
    cells = board_of(sites).tables[0].rows[0].cells
    assert (cells[EXAM.key].value, cells[WARD.key].state) == (700, State.WITHHELD)


hidden_cells = st.lists(
    st.builds(
        SiteCell, named=st.just(False), value=st.integers(0, 1000), bucket=st.integers(3, 63)
    ),
    min_size=3,
    max_size=6,
)
named_cells = st.lists(
    st.builds(SiteCell, named=st.just(True), value=st.integers(0, 1000), bucket=st.integers(3, 63)),
    max_size=5,
)


@settings(max_examples=200)
@given(hidden_cells, named_cells, named_cells)
def test_nothing_that_named_sites_claim_moves_the_weights_among_pooled_ones(
    hidden: list[SiteCell], named: list[SiteCell], others: list[SiteCell]
) -> None:
    """Else a named site could weigh pooled ones now so, now so, and solve for each of them."""
    found = []
    for around in (named, others):
        figures = figures_of([*hidden, *around], STRICT, protected=True)
        order = numpy.lexsort((figures.low_end, figures.bucket))
        found.append(weigh(figures, STRICT)[order][figures.is_hidden[order]].tolist())
    assert found[0] == found[1]


def test_spread_over_pooled_sites_is_told_in_whole_hundredths() -> None:
    """That of fewer than six in tenths or not at all: see test_coalition.py."""
    sites = Sites()
    for site, figure in zip(
        sites.add("pooled", count=6), (613, 727, 581, 640, 655, 702), strict=True
    ):
        sites.send(site, figure)
    board = board_of(sites)
    cell, ranges = ward_of(board), board.tables[0].rows[0].ranges
    assert cell.value is not None
    ends = (ranges.macro_average_low, ranges.macro_average_high)
    for number in (
        cell.low,
        cell.high,
        cell.average,
        cell.tau,
        cell.prediction_low,
        cell.prediction_high,
        *ends,
    ):
        assert number is not None
        assert number % 10 == 0
    assert cell.i2_percent is not None
    assert cell.i2_percent % 10 == 0
    assert cell.leave_one_out_low is not None
    assert (cell.value - cell.leave_one_out_low) % 10 == 0


def test_the_card_of_these_attacks_has_a_cell_of_each_kind() -> None:
    assert {cell.protected for cell in CARD.cells} == {True, False}
