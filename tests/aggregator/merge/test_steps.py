"""Steps: no two sets that were ever shown differ by one pooled site's figure, whatever arrives in whatever order."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.merge.steps import NO_RESULT, NOTHING, StepRule, Steps

RULE = StepRule(sites=3, share_percent=85)
COLUMNS = 2  # of which the second moves freely


@dataclass(frozen=True)
class Arrival:
    """A result of a site, or, with no figure, the withdrawal of all of its results."""

    site: str
    figure: int  # NOTHING: withdrawn
    weight: int = 100
    is_value: bool = True


def new_steps(rule: StepRule = RULE) -> Steps:
    return Steps(numpy.array([False, True]), rule)


def arrive(steps: Steps, arrival: Arrival, log_size: int) -> None:
    if arrival.figure == NOTHING:
        steps.retract(arrival.site, log_size)
        return
    code = arrival.figure * 1_000_000 + arrival.weight
    mark = arrival.figure if arrival.is_value else NOTHING
    codes, marks, weight = (
        numpy.full(COLUMNS, number, dtype=numpy.int64) for number in (code, mark, arrival.weight)
    )
    steps.contribute(arrival.site, log_size, codes, marks, weight, log_size)


def shown(steps: Steps, column: int = 0) -> dict[str, int]:
    """Return what the board shows of each site."""
    return {
        site: int(steps.shown[row, column])
        for site, row in steps.sites.items()
        if steps.shown[row, column]
    }


def history(arrivals: Sequence[Arrival], rule: StepRule = RULE) -> list[dict[str, int]]:
    """Return what the board shows after each arrival."""
    steps = new_steps(rule)
    found = []
    for log_size, arrival in enumerate(arrivals, 1):
        arrive(steps, arrival, log_size)
        found.append(shown(steps))
    return found


def figures_that_differ(one: dict[str, int], other: dict[str, int]) -> set[str]:
    return {site for site in one.keys() | other.keys() if one.get(site) != other.get(site)}


arrivals = st.lists(
    st.builds(
        Arrival,
        site=st.sampled_from([f"s-{number}" for number in range(7)]),
        figure=st.integers(NOTHING, 4),
        weight=st.sampled_from([50, 100, 5_000]),
        is_value=st.sampled_from([True, True, True, False]),
    ),
    max_size=40,
)


@settings(max_examples=500)
@given(arrivals, st.integers(2, 4))
def test_any_two_sets_that_were_ever_shown_differ_by_no_site_or_by_enough(
    came: list[Arrival], needed: int
) -> None:
    sets = [found for found in history(came, StepRule(needed, 85)) if found]
    distinct = list({tuple(sorted(found.items())): found for found in sets}.values())
    for number, earlier in enumerate(distinct):
        for later in distinct[number + 1 :]:
            assert len(figures_that_differ(earlier, later)) >= needed


@settings(max_examples=300)
@given(arrivals)
def test_a_shown_set_has_enough_sites_and_none_that_dominates(came: list[Arrival]) -> None:
    steps = new_steps()
    for log_size, arrival in enumerate(came, 1):
        arrive(steps, arrival, log_size)
        if steps.since[0] == log_size:
            rows = numpy.flatnonzero(
                (steps.present[:, 0] != NOTHING) & (steps.marks[:, 0] != NOTHING)
            )
            weights = steps.weight[rows, 0]
            assert len(rows) >= RULE.sites
            assert 100 * weights.max() <= RULE.share_percent * weights.sum()


def test_the_first_step_waits_for_the_third_site() -> None:
    came = [Arrival(f"s-{number}", number + 1) for number in range(7)]
    assert [len(found) for found in history(came)] == [0, 0, 3, 3, 3, 6, 6]


def test_a_new_result_is_its_sites_change() -> None:
    first = [Arrival(f"s-{number}", 1) for number in range(3)]
    sets = history(
        [*first, Arrival("s-0", 2), Arrival("s-0", 3), Arrival("s-1", 2), Arrival("s-2", 2)]
    )
    assert sets[2] == sets[3] == sets[4] == sets[5] != sets[6]


def test_results_that_repeat_a_figure_hide_nobody() -> None:
    """Two sites that send their old figures again would leave a joining site as the one change."""
    first = [Arrival(f"s-{number}", 1) for number in range(3)]
    sets = history([*first, Arrival("s-0", 1), Arrival("s-1", 1, weight=105), Arrival("s-9", 4)])
    assert sets[-1] == sets[2]


def test_sites_that_swing_back_and_forth_hide_nobody() -> None:
    """The second swing would show the first set and one site more."""
    first = [Arrival(f"s-{number}", 1) for number in range(3)]
    away = [Arrival(f"s-{number}", 2) for number in range(3)]
    sets = history([*first, *away, *first, Arrival("s-9", 4)])
    assert sets[5] != sets[2]
    assert sets[-1] == sets[5]


def test_coded_figures_hide_nobody() -> None:
    first = [Arrival(f"s-{number}", 1) for number in range(3)]
    sets = history(
        [
            *first,
            Arrival("s-7", 2, is_value=False),
            Arrival("s-8", 2, is_value=False),
            Arrival("s-9", 4),
        ]
    )
    assert sets[-1] == sets[2]


def test_a_site_that_dominates_waits_until_others_hide_it() -> None:
    came = [
        Arrival("s-0", 1, weight=5_000),
        *(Arrival(f"s-{number}", 1, weight=100) for number in range(1, 10)),
    ]
    sets = history(came)
    assert all(not found for found in sets[:9])
    assert len(sets[9]) == 10


def test_a_withdrawn_figure_is_known_to_be_void_until_the_next_step() -> None:
    steps = new_steps()
    came = [Arrival(f"s-{number}", number + 1) for number in range(4)]
    for log_size, arrival in enumerate(came, 1):
        arrive(steps, arrival, log_size)
    stands = numpy.ones(20, dtype=numpy.bool_)
    assert not steps.find_void(stands)[0]
    arrive(steps, Arrival("s-0", NOTHING), 5)
    stands[1] = False
    assert steps.find_void(stands)[0]
    assert steps.count_waiting()[0] == 2
    for log_size, number in enumerate((7, 8), 6):
        arrive(steps, Arrival(f"s-{number}", 3), log_size)
    assert not steps.find_void(stands)[0]
    assert shown(steps).keys() == {"s-1", "s-2", "s-3", "s-7", "s-8"}
    assert steps.since[0] == 7


def test_a_column_of_public_data_moves_at_once() -> None:
    steps = new_steps()
    arrive(steps, Arrival("s-0", 1), 1)
    assert shown(steps, 1).keys() == {"s-0"}
    assert not shown(steps)
    assert steps.count_waiting().tolist() == [1, 0]


@given(arrivals)
def test_a_column_without_a_contribution_names_no_result(came: list[Arrival]) -> None:
    steps = new_steps()
    for log_size, arrival in enumerate(came, 1):
        arrive(steps, arrival, log_size)
    assert ((steps.shown == NOTHING) == (steps.shown_result == NO_RESULT)).all()


@pytest.mark.parametrize("count", [1, 3, 30])
def test_rows_grow_with_sites(count: int) -> None:
    assert (
        len(history([Arrival(f"s-{number}", 1) for number in range(count)])[-1]) == count // 3 * 3
    )
