"""Perturbed sums, on which the gate bases its decisions instead of exact scores. Pure.

An attacker who knows the scores of all patients but one can infer the remaining score from any exact rule, near a
rounding step or threshold. Therefore Laplace noise is added to the sum of a protected cell before any rule sees it.
The noise depends on the site's secret, the figure and the scores, like the cell keys of statistical offices (Fraser and
Wooton 2005, Australian Bureau of Statistics). The same figure with the same scores always gets the same noise,
regardless of the scorecard, so repeated requests cannot average it out. Two figures get independent noise even if their
scores are equal: otherwise a difference between them would reveal that some scores differ. The noise is unbounded, so a
published value never rules out any score. No privacy budget is accounted for, and this is not differential privacy.
"""

import hashlib
import hmac
import math
from collections.abc import Mapping, Sequence

from agent.keys import derive_key
from protocol.canonical import canonical
from protocol.disclosure import CellSums
from protocol.policy import DisclosurePolicy

# How many scales of the noise are subtracted from a distance, see `perturb_distance`.
_TAKEN_OFF = 5
_HALF_RANGE = 2**63  # half of the range of a draw, which has 64 bits


def derive_perturbation_key(seal_key: bytes) -> bytes:
    """Return the key that noise is drawn from, derived from the seal key for this purpose only."""
    return derive_key(seal_key, "perturbation/v1")


def perturb_sums(
    shares: Mapping[str, float], policy: DisclosurePolicy, key: bytes, figure: Sequence[str]
) -> CellSums:
    """Return the perturbed sums of one protected cell.

    Args:
        shares: mean score of each person, scaled from the metric's range to 0..1.
        policy: the policy that sets the scale of the noise.
        key: the key for noise, see `derive_perturbation_key`.
        figure: the names that identify the figure: model, dataset, metric and subgroup.
    """
    squares = {person: share * share for person, share in shares.items()}
    return CellSums(
        n=len(shares),
        total=_perturb_sum(shares, policy.perturbation_units, key, figure),
        # Squares get a separate draw, even if every score is 0 or 1 and therefore equal to its square. With the same
        # draw, a spread that does not fit the value would reveal that some score lies between 0 and 1.
        squares=_perturb_sum(squares, policy.perturbation_units, key, (*figure, "squares")),
    )


def exact_sums(shares: Sequence[float]) -> CellSums:
    """Return the exact sums of a cell of a public benchmark."""
    return CellSums(len(shares), math.fsum(shares), math.fsum(share * share for share in shares))


def _perturb_sum(
    shares: Mapping[str, float], scale: int, key: bytes, figure: Sequence[str]
) -> float:
    return math.fsum(shares.values()) + scale * draw_noise(shares, scale, key, figure)


def draw_noise(shares: Mapping[str, float], scale: int, key: bytes, figure: Sequence[str]) -> float:
    """Return a draw from the Laplace distribution with scale 1, determined by key, scale, figure and all shares."""
    vector = [[person, float(share).hex()] for person, share in sorted(shares.items())]
    return _draw_laplace(key, ["sum", scale, list(figure), vector])


def perturb_distance(
    distance: int, policy: DisclosurePolicy, key: bytes, figures: Sequence[object]
) -> float:
    """Return the number of persons whose scores differ between two figures, perturbed for the rule about repeats.

    Outsiders can see whether a figure is new or repeated. At the threshold, an exact rule would reveal whether one more
    person's score has changed. A few persons are also subtracted, so that figures below the threshold are almost always
    repeated (998 times out of 1,000 if the distance is one person below it).

    Args:
        distance: the exact number of persons.
        policy: the policy; if it adds no noise to sums, none is added here.
        key: the key for noise, see `derive_perturbation_key`.
        figures: JSON values that identify both figures and their scores, so that a comparison always has the same
            outcome.
    """
    # A scale of 1 is enough, because the sums of every new figure are perturbed as well.
    scale = min(1, policy.perturbation_units)
    return distance - scale * (_TAKEN_OFF + _draw_laplace(key, ["distance", *figures]))


def _draw_laplace(key: bytes, content: Sequence[object]) -> float:
    digest = hmac.digest(key, hashlib.sha256(canonical(content)).digest(), "sha256")
    # Between -1/2 and 1/2 (exclusive), and never 0.
    uniform = (int.from_bytes(digest[:8], "big") - _HALF_RANGE + 0.5) / (2 * _HALF_RANGE)
    return math.copysign(math.log(1 - 2 * abs(uniform)), uniform)
