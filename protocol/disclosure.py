"""The pure decisions of disclosure control: from exact scores to what may be published, and what a result must obey.

`release_*` runs inside the hospital, `check_result` on both sides of the wall; what the first makes the second accepts.
"""

from collections.abc import Mapping, Sequence

from protocol.policy import DisclosurePolicy
from protocol.scorecard import Cell, Scorecard
from protocol.statements import ResultPredicate

SUPPRESSED, NOT_RUN, LOW_CODED, HIGH_CODED = -1, -2, -3, -4
NO_SPREAD = -1
SPREAD_STEPS = 25  # of 0.02 of the range


def release_groups(scorecard: Scorecard, units: Mapping[str, int], policy: DisclosurePolicy) -> dict[str, int]:
    """Decide the published bucket of every group of the scorecard.

    Args:
        scorecard: its groups must be exactly the keys of `units`.
        units: the exact number of distinct units behind each group (of the metric with the fewest scored units; 0 for
            a benchmark that was not run).
        policy: already the stricter of site and federation.

    Protected groups below the threshold get 0, and in a margin (the subgroups of one variable) where one is withheld,
    so is the next smallest, until enough groups and units are hidden. Public groups get their bucket.
    """
    raise NotImplementedError


def release_cell(cell: Cell, unit_scores: Sequence[float] | None, bucket: int, policy: DisclosurePolicy) -> int:
    """Decide the published value of one cell.

    Args:
        cell: which figure.
        unit_scores: one mean score for each distinct unit, within the metric's range; None or empty: not run.
        bucket: what `release_groups` gave for the cell's group.
        policy: already the stricter of site and federation.

    Returns:
        Thousandths of the range on the allowed grid, or SUPPRESSED, NOT_RUN, LOW_CODED, HIGH_CODED.

    Raises:
        ValueError: a score outside the metric's range.
    """
    raise NotImplementedError


def release_spread(cell: Cell, unit_scores: Sequence[float] | None, value: int) -> int:
    """Decide the published standard deviation (population form, between units) of a non-binary cell.

    `value` is what `release_cell` gave. Steps of 0.02 of the range, 0 to 25; NO_SPREAD where the value is coded, or
    where all units of a protected cell score nearly alike.
    """
    raise NotImplementedError


def check_result(result: ResultPredicate, scorecard: Scorecard, policy: DisclosurePolicy) -> None:
    """Check that groups, cells and spreads obey the scorecard and the policy.

    Raises:
        ProtocolError: WRONG_CELLS, WRONG_OUTCOME, BELOW_THRESHOLD, OFF_GRID, EXTREME_VALUE, SMALL_COUNT, WRONG_VALUE,
            WRONG_GROUPS, OPEN_MARGIN or NOTHING_PUBLISHED; the detail names the key.
    """
    raise NotImplementedError
