"""Pooled sites that work together, or one alone, or a stranger, solve for the figures of the others.

The attacker knows the code, the policy, the sizes of all sites and the grid of their figures, and asks of every
combination of figures: would the board look exactly like this? She has recovered a figure where only one is left.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement

import pytest

from aggregator.merge import coarse, pool
from aggregator.merge.board_model import Board, MergedCell, Ranges
from aggregator.merge.table import build_board
from protocol.policy import DisclosurePolicy, bucket_of, bucket_range, grid_step
from tests.aggregator.merge.results import STRICT, WARD, Sites

UNITS = 400
GRID = grid_step(bucket_range(bucket_of(UNITS))[0], STRICT)
CANDIDATES = range(0, 1001, GRID)
LOOSE = [(740, 780, 860), (400, 540, 580)]
"""Figures of three sites that differ as sites do."""

Published = tuple[MergedCell, Ranges]


def publish(figures: Sequence[int], policy: DisclosurePolicy = STRICT) -> Published:
    """Return what the board says if pooled sites have sent these figures."""
    sites = Sites()
    for site, figure in zip(sites.add("pooled", count=len(figures)), figures, strict=True):
        sites.send(site, figure, units=UNITS)
    return read(board_of(sites, policy))


def board_of(sites: Sites, policy: DisclosurePolicy = STRICT) -> Board:
    registry = sites.registry()
    registry = replace(
        registry, policy_floor=policy.digest, policies={**registry.policies, policy.digest: policy}
    )
    return build_board(sites.results, registry)


def read(board: Board) -> Published:
    row = board.tables[0].rows[0]
    cell = row.cells[WARD.key]
    return replace(cell, since=0, waiting=0), row.ranges


def solve(shown: Published, known: Sequence[int], unknown: int) -> list[tuple[int, ...]]:
    """Return which figures of the others, in order of size, give this very board beside the attacker's own."""
    found = []
    assert shown[0].value is not None
    for others in combinations_with_replacement(CANDIDATES, unknown):
        figures = [*known, *others]
        # Sites of one size weigh the same, so that the mean rules nearly all others out quickly.
        if abs(sum(figures) / len(figures) - shown[0].value) <= 1 and publish(figures) == shown:
            found.append(others)
    return found


@pytest.fixture
def as_finely_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell the spread over three sites in hundredths, and what a draw of sites gives to the last digit."""
    monkeypatch.setattr(pool, "SPREAD_SITES", 0)
    monkeypatch.setattr("aggregator.merge.table.coarsen_ranges", lambda ranges, fewest: ranges)


# A stranger


@pytest.mark.full
@pytest.mark.parametrize("figures", LOOSE)
def test_a_stranger_does_not_solve_for_the_figures_of_three_sites(figures: tuple[int, ...]) -> None:
    found = solve(publish(figures), [], 3)
    assert len(found) >= 3
    for place in range(3):
        assert len({candidate[place] for candidate in found}) >= 3, (
            "nor is the lowest, the middle or the highest known"
        )


@pytest.mark.full
@pytest.mark.usefixtures("as_finely_as_before")
@pytest.mark.parametrize("figures", LOOSE)
def test_told_more_finely_the_board_gave_a_stranger_every_figure(figures: tuple[int, ...]) -> None:
    shown = publish(figures)
    assert solve(shown, [], 3) == [figures]
    assert (shown[1].macro_average_low, shown[1].macro_average_high) == (figures[0], figures[2])


# One site


@pytest.mark.parametrize("figures", LOOSE)
def test_one_site_of_three_learns_the_sum_of_the_others_and_about_how_far_they_lie_apart(
    figures: tuple[int, ...],
) -> None:
    found = solve(publish(figures), figures[2:], 2)
    assert len(found) >= 2
    assert {sum(pair) for pair in found} == {figures[0] + figures[1]}


def test_one_site_that_sends_one_result_after_another_gets_no_second_equation() -> None:
    sites = Sites()
    attacker, *others = sites.add("pooled", count=3)
    for site, figure in zip([attacker, *others], LOOSE[0], strict=True):
        sites.send(site, figure, units=UNITS)
    before = read(board_of(sites))
    for figure in range(0, 1001, 10 * GRID):
        sites.send(attacker, figure, units=UNITS)
        assert read(board_of(sites)) == before


# Two sites: what pooling does not protect against


def test_two_sites_of_three_learn_the_figure_of_the_third() -> None:
    """Nothing prevents it: the mean of three figures, two of which are one's own, is the third."""
    for target in (300, 560, 740):
        assert solve(publish([700, 500, target]), [700, 500], 1) == [(target,)]


def attack_in_a_group(honest: int, policy: DisclosurePolicy, target: int) -> Iterator[Published]:
    """Let two colluding sites send new figures just when a new site's first figure waits; give both boards."""
    sites = Sites()
    for number, site in enumerate(sites.add("pooled", count=honest)):
        sites.send(site, 500 + GRID * number, units=UNITS)
    attackers = sites.add("pooled", count=2)
    for site in attackers:
        sites.send(site, 600, units=UNITS)
    while read(board_of(sites, policy))[0].sites < len(sites.publications):
        sites.send(sites.add("pooled")[0], 600, units=UNITS)
    yield read(board_of(sites, policy))
    sites.send(sites.add("pooled")[0], target, units=UNITS)
    for site in attackers:
        sites.send(site, 640, units=UNITS)
    yield read(board_of(sites, policy))


@pytest.mark.parametrize("honest", [3, 7])
def test_two_sites_of_a_group_of_any_size_learn_the_figure_of_the_site_that_joins(
    honest: int,
) -> None:
    """A step takes three fresh figures, and two of them may be the attackers' own."""
    target = 300
    before, after = (cell for cell, _ in attack_in_a_group(honest, STRICT, target))
    assert before.value is not None
    assert after.value is not None
    assert after.sites == before.sites + 1
    gained = after.value * after.sites - before.value * before.sites
    assert round((gained - 2 * (640 - 600)) / GRID) * GRID == target


@pytest.mark.parametrize("honest", [3, 7])
def test_a_policy_that_wants_four_fresh_figures_takes_it_from_two_sites(honest: int) -> None:
    before, after = attack_in_a_group(honest, replace(STRICT, pooled_sites=4), 300)
    assert after == before


def test_the_steps_of_these_attacks_are_those_of_the_product() -> None:
    assert coarse.SPREAD_SITES > STRICT.pooled_sites == 3


# A named site beside them


def publish_again_and_again(pooled: Sequence[int], sent: Sequence[int]) -> list[Published]:
    """Return the boards after each figure that a named site sends beside pooled ones."""
    sites = Sites()
    for site, figure in zip(sites.add("pooled", count=len(pooled)), pooled, strict=True):
        sites.send(site, figure, units=UNITS)
    (named,) = sites.add("named")
    boards = []
    for figure in sent:
        sites.send(named, figure, units=UNITS)
        boards.append(read(board_of(sites)))
    return boards


@pytest.mark.full
@pytest.mark.sample(1)
@pytest.mark.parametrize("figures", LOOSE)
def test_a_named_site_that_sends_one_result_after_another_does_not_see_where_rounding_turns(
    figures: tuple[int, ...],
) -> None:
    """It had solved for all three: each width turns at a figure of its own that tells the width exactly."""
    told_at_once = solve(publish(figures), [], 3)
    sent = range(0, 1001, 2 * GRID)
    shown = publish_again_and_again(figures, sent)
    found = [
        candidate for candidate in told_at_once if publish_again_and_again(candidate, sent) == shown
    ]
    assert len(found) == len(told_at_once) >= 3
