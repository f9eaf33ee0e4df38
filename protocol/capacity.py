"""The capacity of a submission: how many different envelopes would be accepted at one position of a site's chain.

It limits how much information can leave a site. It is counted for a given scorecard, policy, model and agent, and for
a result that names one plan or none. The keys and the chain fix site, epoch, seq and prev; `data` follows from the
figures and the datasets in the log.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from protocol.cell_codes import NOT_RUN
from protocol.figure_space import FigureSpace
from protocol.identity import NONE
from protocol.keys import ED25519_ORDER, P256_ORDER, Algorithm
from protocol.policy import DisclosurePolicy
from protocol.predicates import ResultPredicate
from protocol.registry import ACCEPTED_VERSIONS
from protocol.scorecard import Scorecard
from protocol.verification import DAY_WINDOW

ROOT_BITS = 256  # size of scores_root
LEDGER_HEAD_BITS = 256
LEDGER_LENGTH_BITS = 31

# The number of byte strings that verify as a key's signature of one message. It includes everything that a signer who
# ignores the rules for nonces could make: the gate's own signers are deterministic, but a receiver cannot check that.
SIGNATURES = {
    # Verification is cofactorless: S*B = R + k*A with k = H(R, A, M), R compared as canonical bytes, and S below the
    # order L of the base point B (`keys._check_ed25519_form`). A has prime order (`load_public`), so R = S*B - k*A
    # is one of the L multiples of B. For each such R exactly one S below L fits, and the identity is refused as R.
    "ed25519": ED25519_ORDER - 1,
    # A valid (r, s) leads to the point X = (e*G + r*Q)/s with x(X) = r modulo the order n. Conversely, each of the
    # n - 1 points X = k*G other than the identity leads to one (r, s): r = x(X), s = (e + r*d)/k. So pairs and points
    # correspond one to one. X and -X share r and have s and n - s. As n is odd, exactly one of these is low, which
    # leaves (n - 1)/2 signatures. Up to eight points with r = 0 or s = 0 give no signature; they are still counted.
    "ecdsa-p256-sha256": (P256_ORDER - 1) // 2,
}


@dataclass(frozen=True, slots=True)
class Capacity:
    """The maximum information that one accepted envelope can carry, in bits.

    Attributes:
        payload_bits: in the fields that the site decides: figures, outcome, day and registry version.
        determined_bits: in `scores_root` and in the length and head of the ledger. The gate recomputes them from the
            store and the ledger, so only an attacker who has replaced the gate can choose them.
        signature_bits: in both signatures; only an attacker who has replaced a signer can choose them.
    """

    payload_bits: float
    determined_bits: float
    signature_bits: float

    @property
    def total_bits(self) -> float:
        """The sum of the three parts."""
        return self.payload_bits + self.determined_bits + self.signature_bits


@lru_cache(maxsize=8)  # a service and a command that approves many submissions ask again and again
def count_payloads(scorecard: Scorecard, policy: DisclosurePolicy) -> int:
    """Return the number of payloads that the site could choose from, if only checks without a history apply.

    Fields that the gate recomputes are not counted. The number is exact where `FigureSpace` is, and an upper bound
    elsewhere. It assumes a registry of version 8 or later, so that ACCEPTED_VERSIONS versions exist.
    """
    return FigureSpace(scorecard, policy).count * DAY_WINDOW * ACCEPTED_VERSIONS


def capacity_bits(scorecard: Scorecard, policy: DisclosurePolicy) -> float:
    """Return log2 of `count_payloads`, in bits."""
    return math.log2(count_payloads(scorecard, policy))


def measure_capacity(
    scorecard: Scorecard, policy: DisclosurePolicy, signers: Sequence[Algorithm]
) -> Capacity:
    """Return the capacity of an envelope with one signature by each of these algorithms."""
    return Capacity(
        payload_bits=capacity_bits(scorecard, policy),
        determined_bits=ROOT_BITS + LEDGER_HEAD_BITS + LEDGER_LENGTH_BITS,
        signature_bits=math.fsum(math.log2(SIGNATURES[algorithm]) for algorithm in signers),
    )


def rank_result(
    result: ResultPredicate, space: FigureSpace, *, newest_registry: int, today_day: int
) -> int:
    """Return the number of a result among the `count_payloads` payloads that differ in the fields the site decides.

    Args:
        result: a result for the scorecard of `space`.
        space: the figure space of the scorecard under the stricter of the site's and the federation's policies.
        newest_registry: version of the newest registry, at least ACCEPTED_VERSIONS.
        today_day: days since 1970-01-01 UTC.

    Raises:
        ValueError: the figures, the day or the registry version would not be accepted.
    """
    age, lag = today_day - result.day, newest_registry - result.header.registry
    if not 0 <= age < DAY_WINDOW or not 0 <= lag < ACCEPTED_VERSIONS:
        raise ValueError("the day or the registry version is not accepted")
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
        template: a result with the fields that the site does not decide; its `data` names a dataset for each
            protected benchmark.
        space: as in `rank_result`.
        newest_registry: as in `rank_result`.
        today_day: as in `rank_result`.

    Raises:
        ValueError: the number is out of range.
    """
    rest, lag = divmod(number, ACCEPTED_VERSIONS)
    position, age = divmod(rest, DAY_WINDOW)
    figures = space.unrank(position)
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
