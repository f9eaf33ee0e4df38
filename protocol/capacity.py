"""How many different payloads a site could get accepted for one place in its chain: the width of the way out.

Counted for a given scorecard, policy, model and agent; site, epoch, seq and prev are fixed by the keys and the chain.
"""

from protocol.policy import DisclosurePolicy
from protocol.scorecard import Scorecard

ROOT_BITS = 256  # of which scores_root takes this many; the gate recomputes it, so they are free to nobody else


def payload_count(scorecard: Scorecard, policy: DisclosurePolicy) -> int:
    """Return the exact number of payloads that pass every check that needs no history."""
    raise NotImplementedError


def capacity_bits(scorecard: Scorecard, policy: DisclosurePolicy) -> float:
    """Return log2 of `payload_count`, in bits."""
    raise NotImplementedError
