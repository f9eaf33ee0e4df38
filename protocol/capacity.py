"""How many different payloads a site could get accepted for one place in its chain: the width of the way out.

Counted for a given scorecard, policy, model and agent; site, epoch, seq and prev are fixed by the keys and the chain.
Signatures are not counted: they are no part of the payload, but a signer that chooses its nonce hides 256 bits in each.
"""

import functools
import math
from dataclasses import replace
from typing import NamedTuple

from protocol.disclosure import NOT_RUN, SUPPRESSED, allowed_spreads, allowed_values
from protocol.policy import BUCKETS, DisclosurePolicy
from protocol.registry import ACCEPTED_VERSIONS
from protocol.scorecard import Cell, Scorecard
from protocol.verification import DAY_WINDOW

ROOT_BITS = 256  # of which scores_root takes this many; the gate recomputes it, so they are free to nobody else
_APPROVALS = 2


class _Ways(NamedTuple):
    """In how many ways one cell, with its spread, can say something, be suppressed, or not be run."""

    speaking: int
    suppressed: int
    not_run: int


def payload_count(scorecard: Scorecard, policy: DisclosurePolicy) -> int:
    """Return the number of payloads that pass every check that needs no history.

    Exact for a scorecard without subgroups. With subgroups an upper bound: rules that tie groups to each other
    (margins, parts within the whole) are left out, and they only refuse.
    """

    def count(*, complete: bool, silent: bool) -> int:
        groups = (scorecard.cells_of(group) for group in scorecard.group_keys)
        return math.prod(_group_count(cells, policy, complete=complete, silent=silent) for cells in groups)

    figures = sum(count(complete=c, silent=False) - count(complete=c, silent=True) for c in (False, True))
    roots = (1 << ROOT_BITS) - 1  # the root of no records is refused
    return figures * _APPROVALS * DAY_WINDOW * ACCEPTED_VERSIONS * roots


def _group_count(cells: tuple[Cell, ...], policy: DisclosurePolicy, *, complete: bool, silent: bool) -> int:
    """Count the ways to fill one group: its bucket, its cells and their spreads.

    Args:
        cells: all cells of the group.
        policy: the rules.
        complete: count only what a complete outcome allows, that is no figure of all units that was not run.
        silent: count only what publishes no figure.
    """
    may_be_unrun = not complete or cells[0].subgroup is not None
    total = 0
    for bucket, (fewest, _) in enumerate(BUCKETS):
        if bucket and cells[0].protected and fewest < policy.min_units:
            continue
        ways = [_ways(replace(cell, benchmark="", metric="", subgroup=None), bucket, policy) for cell in cells]
        total += math.prod(
            (0 if silent else way.speaking) + way.suppressed + (way.not_run if may_be_unrun else 0) for way in ways
        )
        total -= int(bucket > 0 and may_be_unrun)  # units, yet nothing was run: refused
    return total


@functools.cache  # cells of one kind are many, kinds are few
def _ways(kind: Cell, bucket: int, policy: DisclosurePolicy) -> _Ways:
    """Count one cell's values, whichever benchmark and metric it belongs to."""
    values = allowed_values(kind, bucket, policy)
    speaking = [value for value in values if value not in {SUPPRESSED, NOT_RUN}]
    return _Ways(
        speaking=sum(1 if kind.binary else len(allowed_spreads(kind, value)) for value in speaking),
        suppressed=values.count(SUPPRESSED),
        not_run=values.count(NOT_RUN),
    )


def capacity_bits(scorecard: Scorecard, policy: DisclosurePolicy) -> float:
    """Return log2 of `payload_count`, in bits."""
    return math.log2(payload_count(scorecard, policy))
