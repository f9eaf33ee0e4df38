"""How many different payloads a site could get accepted for one place in its chain: the width of the way out.

Counted for a given scorecard, policy, model and agent; site, epoch, seq and prev are fixed by the keys and the chain.
"""

import math
from collections.abc import Callable

from protocol.disclosure import NOT_RUN, SUPPRESSED, allowed_spreads, allowed_values
from protocol.policy import BUCKETS, DisclosurePolicy
from protocol.registry import ACCEPTED_VERSIONS
from protocol.scorecard import Cell, Scorecard
from protocol.verification import DAY_WINDOW

ROOT_BITS = 256  # of which scores_root takes this many; the gate recomputes it, so they are free to nobody else
_APPROVALS = 2


def payload_count(scorecard: Scorecard, policy: DisclosurePolicy) -> int:
    """Return the number of payloads that pass every check that needs no history.

    Exact for a scorecard without subgroups. With subgroups an upper bound: rules that tie groups to each other
    (margins, parts within the whole) are left out, and they only refuse.
    """

    def count(usable: Callable[[Cell, int], bool]) -> int:
        """Count the figures of which every value is usable; groups are independent of each other."""
        return math.prod(_group_count(scorecard.cells_of(group), policy, usable) for group in scorecard.group_keys)

    def silent(_: Cell, value: int) -> bool:
        return value in {SUPPRESSED, NOT_RUN}

    def complete(cell: Cell, value: int) -> bool:
        return value != NOT_RUN or cell.subgroup is not None

    # A payload that publishes nothing is refused, so those are taken off again.
    partial_figures = count(lambda *_: True) - count(silent)
    complete_figures = count(complete) - count(lambda cell, value: silent(cell, value) and complete(cell, value))
    roots = (1 << ROOT_BITS) - 1  # the root of no records is refused
    return (partial_figures + complete_figures) * _APPROVALS * DAY_WINDOW * ACCEPTED_VERSIONS * roots


def _group_count(cells: tuple[Cell, ...], policy: DisclosurePolicy, usable: Callable[[Cell, int], bool]) -> int:
    """Count the ways to fill one group: its bucket, its cells and their spreads."""
    total = 0
    unrun = all(usable(cell, NOT_RUN) for cell in cells)
    for bucket, (fewest, _) in enumerate(BUCKETS):
        if bucket and cells[0].protected and fewest < policy.min_units:
            continue
        total += math.prod(
            sum(
                1 if cell.binary else len(allowed_spreads(cell, value))
                for value in allowed_values(cell, bucket, policy)
                if usable(cell, value)
            )
            for cell in cells
        )
        total -= int(unrun and bucket > 0)  # units, yet nothing was run: refused
    return total


def capacity_bits(scorecard: Scorecard, policy: DisclosurePolicy) -> float:
    """Return log2 of `payload_count`, in bits."""
    return math.log2(payload_count(scorecard, policy))
