"""Two models on the same instances: how much they differ, how sure that is, and what could have been seen. Pure.

Pairs take out what makes instances hard or easy for both. Instances of one unit (a patient, a document) stay together.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar

from agent.statistics.power import ALPHA, find_detectable_difference, units_needed
from agent.statistics.resampling import (
    FEWEST_UNITS,
    LEAST,
    compute_bca_interval,
    compute_percentile_interval,
    compute_student_p,
    compute_student_quantile,
    expanded,
    percentiles,
    resample_figures,
    resample_means,
    sum_by_unit,
)
from protocol.figures import Z95, wilson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

RESAMPLES = 10_000  # a p value is to be small enough for a table of 37 benchmarks
FEWEST_RESAMPLES = 2_000
MOST_DRAWN = 5_000_000  # units drawn over all resamples
FEWEST_FIGURES = 200
MOST_WORK = 1_000_000  # pairs of items that figures are computed from, over all resamples

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Pair:
    """One instance's scores by both models, on the metric's scale; None where that model has none."""

    unit: Hashable
    a: float | None
    b: float | None


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """What the first model's mean is above the second's, over the instances that both have scores for.

    Attributes:
        n, units: instances that count, and units behind them.
        mean_a, mean_b, value: None when n is 0; `value` is mean_a - mean_b.
        low, high: its 95 % interval; None where nothing varies.
        method: how the interval was made: `bca` and `percentile` are bootstraps over units, `none` where there is none.
        better_a, better_b: instances where one model scored above the other.
        p: two-sided, of no difference; None when n is 0.
        test: how it was made.
        exact_p: of McNemar's exact test, where that test applies.
        detectable: the smallest true difference that four of five such comparisons would see, by p as it is corrected
            for all that are made together; None: none could be seen, or it is not known.
        needed: units it would take to see a difference as large as this one was; None: none, or not known.
    """

    n: int
    units: int
    mean_a: float | None
    mean_b: float | None
    value: float | None
    low: float | None
    high: float | None
    method: Literal["newcombe", "bca", "percentile", "none"]
    better_a: int
    better_b: int
    p: float | None
    test: Literal["mcnemar mid-p", "bootstrap", "none"]
    exact_p: float | None
    detectable: float | None
    needed: int | None


NOTHING = MeanDifference(0, 0, None, None, None, None, None, "none", 0, 0, None, "none", None, None, None)


def estimate_paired_difference(
    pairs: Iterable[Pair], *, binary: bool, reach: float = math.inf, tests: int = 1
) -> MeanDifference:
    """Compare two models on the same instances.

    Binary scores of independent instances get Newcombe's interval (1998, paired data, method 10) and McNemar's mid-p
    (Fagerland, Lydersen and Laake 2013). Everything else, also binary scores where units have several instances, gets
    the BCa bootstrap over units, and the p value of `compute_bootstrap_p`. The interval holds 0 where p is above 0.05: what one
    of the two does not exclude is not excluded.

    Args:
        pairs: those that lack a score by either model do not count.
        binary: whether a score can be nothing but 0 or 1.
        reach: from the lowest score to the highest: no difference is larger.
        tests: how many such comparisons are made together.
    """
    both = [(pair.unit, pair.a, pair.b) for pair in pairs if pair.a is not None and pair.b is not None]
    n, units = len(both), len({unit for unit, _, _ in both})
    if not n:
        return NOTHING
    mean_a, mean_b = math.fsum(a for _, a, _ in both) / n, math.fsum(b for _, _, b in both) / n
    value = math.fsum(a - b for _, a, b in both) / n
    better_a, better_b = sum(a > b for _, a, b in both), sum(b > a for _, a, b in both)
    if binary and units == n:
        table = Counter((a, b) for _, a, b in both)
        low, high = compute_newcombe_interval(table[1, 1], table[1, 0], table[0, 1], table[0, 0])
        error = estimate_smoothed_error(better_a, better_b, n)
        p, exact_p = compute_mcnemar_mid_p(better_a, better_b), compute_mcnemar_exact_p(better_a, better_b)
        return MeanDifference(
            *(n, units, mean_a, mean_b, value, *_as_p_says((low, high), p, reach)),
            method="newcombe",
            better_a=better_a,
            better_b=better_b,
            p=p,
            test="mcnemar mid-p",
            exact_p=exact_p,
            detectable=find_detectable_difference(error, units, tests, reach),
            needed=units_needed(error * math.sqrt(units), abs(value), tests),
        )
    sums, sizes = sum_by_unit((unit, a - b) for unit, a, b in both)
    error = _standard_error(sums, sizes)
    seen = MeanDifference(
        *(n, units, mean_a, mean_b, value, None, None),
        method="none",
        better_a=better_a,
        better_b=better_b,
        p=compute_least_p(sums),
        test="bootstrap",
        exact_p=None,
        detectable=None,
        needed=None,
    )
    if error <= LEAST:
        return seen
    drawn = resample_means(sums, sizes, choose_resamples(units))
    p = compute_bootstrap_p(value, drawn, sums)
    low, high = _as_p_says(compute_bca_interval(value, drawn, sums, sizes), p, reach)
    return replace(
        seen,
        low=low,
        high=high,
        method="bca",
        p=p,
        detectable=find_detectable_difference(error, units, tests, reach),
        needed=units_needed(error * math.sqrt(units), abs(value), tests),
    )


def _as_p_says(interval: tuple[float, float], p: float, reach: float) -> tuple[float, float]:
    """Return the interval with 0 in it where p does not exclude that, and nothing that cannot be."""
    low, high = interval
    if p > ALPHA:
        low, high = min(low, 0.0), max(high, 0.0)
    return max(low, -reach), min(high, reach)


def estimate_figure_difference(
    items: Sequence[tuple[Hashable, Item, Item]],
    figure: Callable[[Sequence[Item]], float | None],
    *,
    reach: float = math.inf,
    tests: int = 1,
) -> MeanDifference:
    """Compare two models by a figure that only all items together have, as macro F1 is.

    The percentile bootstrap over units draws both models' items together; see `estimate_figure` for how often.
    Where no resample lies as far from the difference as 0 does, p is by Student's t: resamples of many items are too
    few to say how small it is.

    Args:
        items: unit, the first model's item, the second's, an instance each.
        figure: computes it from one model's items; None where it has no value.
        reach, tests: as in `estimate_paired_difference`.
    """
    import numpy as np

    units: dict[Hashable, list[tuple[Item, Item]]] = {}
    for unit, one, other in items:
        units.setdefault(unit, []).append((one, other))

    def both(pairs: Sequence[tuple[Item, Item]]) -> float | None:
        a, b = figure([one for one, _ in pairs]), figure([other for _, other in pairs])
        return None if a is None or b is None else a - b

    mean_a, mean_b = figure([one for _, one, _ in items]), figure([other for _, _, other in items])
    if mean_a is None or mean_b is None:
        return replace(NOTHING, n=len(items), units=len(units))
    value, groups = mean_a - mean_b, list(units.values())
    resamples = max(FEWEST_FIGURES, min(FEWEST_RESAMPLES, MOST_WORK // len(items)))
    drawn = resample_figures(groups, both, resamples)
    drawn = drawn[np.isfinite(drawn)]
    seen = replace(NOTHING, n=len(items), units=len(units), mean_a=mean_a, mean_b=mean_b, value=value)
    differing = np.array([float(any(one != other for one, other in group)) for group in groups])
    m = len(groups)
    error = math.sqrt(m / (m - 1)) * float(np.std(drawn)) if len(drawn) > 1 and m > 1 else 0.0
    if error <= LEAST:
        return replace(seen, p=compute_least_p(differing), test="bootstrap")
    p = compute_bootstrap_p(value, drawn, differing)
    if p <= 1 / (1 + len(drawn)):
        p = max(compute_least_p(differing), min(p, compute_student_p(value / error, m - 1)))
    low, high = _as_p_says(compute_percentile_interval(value, drawn, m, apart=int(differing.sum())), p, reach)
    return replace(
        seen,
        low=low,
        high=high,
        method="percentile",
        p=p,
        test="bootstrap",
        detectable=find_detectable_difference(error, m, tests, reach),
        needed=units_needed(error * math.sqrt(m), abs(value), tests),
    )


@dataclass(frozen=True, slots=True)
class Overall:
    """The mean over benchmarks of their differences, all weighing the same; interval and p as in `MeanDifference`.

    `counted` are the places of the benchmarks that are in it.
    """

    counted: tuple[int, ...]
    value: float
    low: float | None
    high: float | None
    p: float


def estimate_overall_difference(tables: Sequence[Sequence[Pair]]) -> Overall | None:
    """Compare two models over several benchmarks, whose scores must all be on the scale from 0 to 1.

    The percentile bootstrap over units, benchmarks drawn independently of each other, at the levels of Student's t with
    the degrees of freedom of Welch and Satterthwaite: where few noisy units make most of the doubt, they count and not
    the many quiet ones. Benchmarks of fewer than FEWEST_UNITS units are not in it: a handful of units resampled looks
    surer than it is, and one unit quite sure. None where no benchmark counts.
    """
    import numpy as np

    scored = [[(pair.unit, pair.a - pair.b) for pair in t if pair.a is not None and pair.b is not None] for t in tables]
    counted = tuple(n for n, found in enumerate(scored) if len({unit for unit, _ in found}) >= FEWEST_UNITS)
    if not counted:
        return None
    benchmarks = [sum_by_unit(scored[n]) for n in counted]
    value = math.fsum(float(sums.sum() / sizes.sum()) for sums, sizes in benchmarks) / len(benchmarks)
    drawn = np.full(FEWEST_RESAMPLES, value)
    variances = []
    for number, (sums, sizes) in enumerate(benchmarks):
        again, m = resample_means(sums, sizes, FEWEST_RESAMPLES, stream=number), len(sums)
        drawn += (again - float(sums.sum() / sizes.sum())) * math.sqrt(m / (m - 1)) / len(benchmarks)
        variances.append(_standard_error(sums, sizes) ** 2)
    everything = np.concatenate([sums for sums, _ in benchmarks])
    if float(drawn.std()) <= LEAST:
        return Overall(counted, value, None, None, compute_least_p(everything))
    freedom = sum(variances) ** 2 / sum(
        v**2 / (len(sums) - 1) for v, (sums, _) in zip(variances, benchmarks, strict=True)
    )
    errors = compute_student_quantile(0.975, freedom)
    p = compute_bootstrap_p(value, drawn, everything, errors)
    return Overall(counted, value, *_as_p_says(percentiles(value, drawn, errors), p, 1.0), p)


def compute_mcnemar_exact_p(b: int, c: int) -> float:
    """Return the exact two-sided p of McNemar's test: the binomial one of `b` among b + c discordant pairs."""
    return min(1.0, 2 * _tail(b, c))


def compute_mcnemar_mid_p(b: int, c: int) -> float:
    """Return the mid-p of McNemar's test: what was seen counts half, so that it is not as timid as the exact test."""
    if b == c == 0:
        return 1.0
    as_seen: float = math.comb(b + c, b) / 2 ** (b + c)
    return 1 - as_seen / 2 if b == c else 2 * _tail(b, c) - as_seen


def _tail(b: int, c: int) -> float:
    """Return the probability of at most min(b, c) of b + c tosses of a fair coin, in whole numbers until the end."""
    term = total = 1
    for k in range(1, min(b, c) + 1):
        term = term * (b + c - k + 1) // k
        total += term
    found: float = total / 2 ** (b + c)
    return found


def compute_newcombe_interval(both: int, only_a: int, only_b: int, neither: int) -> tuple[float, float]:
    """Return the 95 % interval of a difference of paired proportions (Newcombe 1998, paired data, method 10).

    Wilson's intervals of the two proportions, put together with their correlation, which is corrected towards none.

    Args:
        both, only_a, only_b, neither: pairs where both are right, the first alone, the second alone, none.
    """
    n = both + only_a + only_b + neither
    one, other = both + only_a, both + only_b
    a, b = one / n, other / n
    (low_a, high_a), (low_b, high_b) = wilson(one, n), wilson(other, n)
    product = one * (n - one) * other * (n - other)
    association: float = both * neither - only_a * only_b
    if association > 0:
        association = max(0.0, association - n / 2)
    phi = association / math.sqrt(product) if product else 0.0
    return a - b - _joined(a - low_a, high_b - b, phi), a - b + _joined(high_a - a, b - low_b, phi)


def _joined(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(0.0, one**2 - 2 * phi * one * other + other**2))


def compute_bootstrap_p(value: float, drawn: "Numbers", sums: "Numbers", errors: float | None = None) -> float:
    """Return the two-sided p of a difference: how often resamples lie as far from it as it lies from 0.

    Counted as if there were one resample more, which is as far (Davison and Hinkley 1997, section 4.4), and as wide as
    an interval is for so few units, see `expanded`. It is never less than `compute_least_p`, since few units cannot be surer.

    Args:
        value: the difference.
        drawn: it in each resample.
        sums: of the differences of each unit.
        errors: how many standard errors an interval reaches; None: `expanded`.
    """
    import numpy as np

    widened = (errors or expanded(len(sums))) / Z95
    as_far = int((np.abs(drawn - value) * widened >= abs(value) - LEAST).sum())
    return max(compute_least_p(sums), (1 + as_far) / (1 + len(drawn)))


def compute_least_p(sums: "Numbers") -> float:
    """Return the smallest p that any test of signs could give: all units that differ would have to agree."""
    import numpy as np

    differing = int((np.abs(sums) > LEAST).sum())
    return min(1.0, math.ldexp(2.0, -differing))


def choose_resamples(units: int) -> int:
    """Return how many resamples of so many units are drawn."""
    return max(FEWEST_RESAMPLES, min(RESAMPLES, MOST_DRAWN // units))


def estimate_smoothed_error(only_a: int, only_b: int, n: int) -> float:
    """Return the standard error of a difference of paired proportions, with half an instance added to each cell.

    So few or no discordant pairs do not look like certainty (Agresti and Min 2005).
    """
    b, c, total = only_a + 0.5, only_b + 0.5, n + 2
    return math.sqrt(b + c - (b - c) ** 2 / total) / total


def _standard_error(sums: "Numbers", sizes: "Numbers") -> float:
    """Return the standard error of a mean over instances, linearised over units; 0 for one unit."""
    m, n = len(sums), float(sizes.sum())
    if m < 2:
        return 0.0
    away = sums - float(sums.sum()) / n * sizes
    return math.sqrt(m / (m - 1) * float((away**2).sum())) / n
