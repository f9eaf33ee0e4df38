"""How many different envelopes a site could get accepted for one place in its chain: the width of the way out.

Counted for a given scorecard, policy, model and agent, and for a result that names one plan or none. Site, epoch, seq
and prev are fixed by the keys and the chain; `data` follows from the figures and the datasets that the log knows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from protocol.cell_codes import NOT_RUN
from protocol.figure_space import FigureSpace
from protocol.identity import NONE
from protocol.keys import ED25519_ORDER, P256_ORDER, Algorithm
from protocol.policy import DisclosurePolicy
from protocol.predicates import ResultPredicate
from protocol.registry import ACCEPTED_VERSIONS
from protocol.scorecard import Scorecard
from protocol.verification import DAY_WINDOW

ROOT_BITS = 256  # of scores_root
LEDGER_HEAD_BITS = 256
LEDGER_LENGTH_BITS = 31

# How many byte strings verify as a key's signature of one message, counted over everything that a signer who ignores
# the rules for nonces could make. The gate's own signers are deterministic; a receiver cannot tell.
SIGNATURES = {
    # Verification is cofactorless: S*B = R + k*A with k = H(R, A, M), R compared as canonical bytes, and S below the
    # order L of the base point B (`keys._check_ed25519_form`). A is of prime order (`load_public`), so R = S*B - k*A
    # is one of the L multiples of B. For each such R exactly one S below L fits, and the identity as R is refused.
    "ed25519": ED25519_ORDER - 1,
    # A valid (r, s) leads to the point X = (e*G + r*Q)/s with x(X) = r modulo the order n, and every point X = k*G but
    # the identity, n - 1 in all, leads to one (r, s): r = x(X), s = (e + r*d)/k. So pairs and points match one to one.
    # -X has the same r and the other s of (s, n - s); n is odd, so just one of the two is low: (n - 1)/2. The at most
    # eight points with r = 0 or s = 0 give no signature; they are not taken off.
    "ecdsa-p256-sha256": (P256_ORDER - 1) // 2,
}


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much one accepted envelope can say at most, in bits.

    Attributes:
        payload_bits: of what the site decides: figures, outcome, day and registry version.
        determined_bits: of `scores_root` and of length and head of the ledger. The gate recomputes them from the store
            and the ledger, so they are free only to whoever has replaced the gate.
        signature_bits: of both signatures, free only to whoever has replaced a signer.
    """

    payload_bits: float
    determined_bits: float
    signature_bits: float

    @property
    def total_bits(self) -> float:
        """Everything together."""
        return self.payload_bits + self.determined_bits + self.signature_bits


def count_payloads(scorecard: Scorecard, policy: DisclosurePolicy) -> int:
    """Return the number of payloads that pass every check without history, apart from what the gate recomputes.

    Exact where `FigureSpace` is, else an upper bound; as long as the registry is not younger than version 8.
    """
    return FigureSpace(scorecard, policy).count * DAY_WINDOW * ACCEPTED_VERSIONS


def capacity_bits(scorecard: Scorecard, policy: DisclosurePolicy) -> float:
    """Return log2 of `count_payloads`, in bits."""
    return math.log2(count_payloads(scorecard, policy))


def measure_capacity(
    scorecard: Scorecard, policy: DisclosurePolicy, signers: Sequence[Algorithm]
) -> Capacity:
    """Return the capacity of an envelope with a signature of each of these algorithms."""
    return Capacity(
        payload_bits=capacity_bits(scorecard, policy),
        determined_bits=ROOT_BITS + LEDGER_HEAD_BITS + LEDGER_LENGTH_BITS,
        signature_bits=math.fsum(math.log2(SIGNATURES[algorithm]) for algorithm in signers),
    )


def rank_result(
    result: ResultPredicate, space: FigureSpace, *, newest_registry: int, today_day: int
) -> int:
    """Return the number of a result among the `count_payloads` that differ in what the site decides.

    Args:
        result: of the space's scorecard.
        space: of the scorecard, and of the stricter of the policies of site and federation.
        newest_registry: version of the newest registry, at least ACCEPTED_VERSIONS.
        today_day: days since 1970-01-01 UTC.

    Raises:
        ValueError: figures, day or registry version are not acceptable.
    """
    age, lag = today_day - result.day, newest_registry - result.header.registry
    if not 0 <= age < DAY_WINDOW or not 0 <= lag < ACCEPTED_VERSIONS:
        raise ValueError("a day or registry version that is not accepted")
    return (space.rank(result) * DAY_WINDOW + age) * ACCEPTED_VERSIONS + lag


def unrank_result(
    number: int,
    template: ResultPredicate,
    space: FigureSpace,
    *,
    newest_registry: int,
    today_day: int,
) -> ResultPredicate:
    """Return the result with this number; the inverse of `rank_result`.

    Args:
        number: from 0 to `count_payloads` - 1.
        template: gives everything that the site does not decide; `data` names a dataset for each protected benchmark.
        space: as in `rank_result`.
        newest_registry: as in `rank_result`.
        today_day: as in `rank_result`.

    Raises:
        ValueError: the number is out of range.
    """
    rest, lag = divmod(number, ACCEPTED_VERSIONS)
    place, age = divmod(rest, DAY_WINDOW)
    figures = space.unrank(place)
    data = dict.fromkeys((benchmark.id for benchmark in space.scorecard.benchmarks), NONE)
    for cell in space.scorecard.cells:
        if cell.protected and figures.cells[cell.key] != NOT_RUN:
            data[cell.benchmark] = template.data[cell.benchmark]
    return replace(
        template,
        header=replace(template.header, registry=newest_registry - lag),
        day=today_day - age,
        data=data,
        outcome=figures.outcome,
        groups=figures.groups,
        cells=figures.cells,
        spreads=figures.spreads,
    )
