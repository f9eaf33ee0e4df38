"""Perturbed sums: what the gate decides from, in place of exact scores. Pure.

Whoever knows the scores of all patients but one learns that one from any exact rule, at the edge of its rounding or of
its threshold. So the sum of a protected cell gets Laplace noise before anything looks at it. The noise is drawn from
the site's secret, the figure and the scores themselves, as statistical offices do with cell keys (Fraser and Wooton
2005, of the Australian Bureau of Statistics): the same figure of the same scores gets the same noise, whichever
scorecard asks, so that asking again cannot average it away. Two figures have draws of their own even where their scores
are the same, since otherwise two that differ would say that some score differs. Noise has no bound, so no score is
ever excluded by what is published. There is no accountant behind it, and it is not differential privacy.
"""

import hashlib
import hmac
import math
from collections.abc import Mapping, Sequence

from agent.keys import derive_key
from protocol.canonical import canonical
from protocol.disclosure import CellSums
from protocol.policy import DisclosurePolicy

_TAKEN_OFF = 5  # scales of noise
_HALF_RANGE = 2**63  # of the 64 bits that a draw takes


def derive_perturbation_key(seal_key: bytes) -> bytes:
    """Return the key that noise is drawn from: derived from the seal key, for this purpose alone."""
    return derive_key(seal_key, "perturbation/v1")


def perturb_sums(
    shares: Mapping[str, float], policy: DisclosurePolicy, key: bytes, figure: Sequence[str]
) -> CellSums:
    """Return the sums of one protected cell, perturbed.

    Args:
        shares: person -> mean score, scaled to 0..1 of the metric's range.
        policy: gives the scale of the noise.
        key: see `derive_perturbation_key`.
        figure: names what the cell is about: model, dataset, metric, subgroup.
    """
    squares = {person: share * share for person, share in shares.items()}
    return CellSums(
        n=len(shares),
        total=_perturb_sum(shares, policy.perturbation_units, key, figure),
        # A draw of their own, even where every score is 0 or 1 and so its own square: with the same one, a spread that
        # does not fit the value would say that some score lies between.
        squares=_perturb_sum(squares, policy.perturbation_units, key, (*figure, "squares")),
    )


def exact_sums(shares: Sequence[float]) -> CellSums:
    """Return the sums of a cell of a public benchmark, as they are."""
    return CellSums(len(shares), math.fsum(shares), math.fsum(share * share for share in shares))


def _perturb_sum(
    shares: Mapping[str, float], scale: int, key: bytes, figure: Sequence[str]
) -> float:
    return math.fsum(shares.values()) + scale * draw_noise(shares, scale, key, figure)


def draw_noise(shares: Mapping[str, float], scale: int, key: bytes, figure: Sequence[str]) -> float:
    """Return a draw from the Laplace distribution of scale 1 that depends on key, scale, figure and every share."""
    vector = [[person, float(share).hex()] for person, share in sorted(shares.items())]
    return _draw_laplace(key, ["sum", scale, list(figure), vector])


def perturb_distance(
    distance: int, policy: DisclosurePolicy, key: bytes, figures: Sequence[object]
) -> float:
    """Return by how many persons' scores two figures differ, perturbed, as the rule about repeats looks at it.

    Whether a figure is new or a repeat can be seen from outside. At the edge of an exact rule it would betray whether
    one more person's score has changed. So that figures below the threshold are repeated all but certainly (998 of
    1,000 times one person below it), a few are taken off.

    Args:
        distance: the exact number.
        policy: without noise on sums there is none here.
        key: see `derive_perturbation_key`.
        figures: everything about both figures, as JSON values: the same two are always judged the same.
    """
    scale = min(
        1, policy.perturbation_units
    )  # of every figure that is new the sums have noise of their own
    return distance - scale * (_TAKEN_OFF + _draw_laplace(key, ["distance", *figures]))


def _draw_laplace(key: bytes, content: Sequence[object]) -> float:
    digest = hmac.digest(key, hashlib.sha256(canonical(content)).digest(), "sha256")
    uniform = (int.from_bytes(digest[:8], "big") - _HALF_RANGE + 0.5) / (
        2 * _HALF_RANGE
    )  # in (-1/2, 1/2), never 0
    return math.copysign(math.log(1 - 2 * abs(uniform)), uniform)
