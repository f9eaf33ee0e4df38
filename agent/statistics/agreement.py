"""Measure the agreement between raters: Krippendorff's alpha and the intraclass correlations, with intervals. Pure.

Ratings are a table with one row per item and one column per rater. A missing rating is None.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, get_args

from agent.statistics.f_distribution import compute_f_quantile
from agent.statistics.resampling import (
    MIN_UNITS,
    compute_figure_interval,
    resample_weighted_figures,
)

if TYPE_CHECKING:
    import numpy as np

Ratings = Sequence[Sequence[float | None]]
Level = Literal["ordinal", "interval"]
IccForm = Literal["ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k"]
ICC_FORMS: tuple[IccForm, ...] = get_args(IccForm)
RESAMPLES = 2_000
_TAIL = 0.975


@dataclass(frozen=True, slots=True)
class Icc:
    """An intraclass correlation, which is at most 1 and may be negative, with its 95 % interval.

    The fields are None if it is undefined: fewer than two items or raters, or ratings that do not vary.
    """

    value: float | None
    low: float | None
    high: float | None


NO_ICC = Icc(None, None, None)


def compute_krippendorff_alpha(ratings: Ratings, level: Level) -> float | None:
    """Return Krippendorff's alpha: 1 is full agreement, 0 is agreement by chance, negative values are less.

    Alpha is 1 minus the ratio of observed to expected disagreement over all pairs of ratings of one item (Krippendorff
    2011, Computing Krippendorff's alpha-reliability). Items with fewer than two ratings are ignored. Other items may
    have missing ratings. The ordinal difference between two values is the difference between their mid-ranks among all
    ratings that are not ignored.

    Returns:
        Alpha, or None if no item has two ratings or all ratings are equal.
    """
    items: list[list[float]] = []
    for row in ratings:
        item = [rating for rating in row if rating is not None]
        if len(item) > 1:
            items.append(item)
    counts = Counter(chain.from_iterable(items))
    if len(counts) < 2:
        return None
    if level == "ordinal":
        ranks = _compute_mid_ranks(counts)
        items = [[ranks[rating] for rating in item] for item in items]
    observed = math.fsum(_sum_squares(item) / (len(item) - 1) for item in items)
    expected = _sum_squares(list(chain.from_iterable(items)))
    return 1 - (counts.total() - 1) * observed / expected


def _sum_squares(values: Sequence[float]) -> float:
    """Return the sum of squared differences over all ordered pairs."""
    mean = math.fsum(values) / len(values)
    return 2 * len(values) * math.fsum((value - mean) ** 2 for value in values)


def _compute_mid_ranks(counts: Counter[float]) -> dict[float, float]:
    ranks: dict[float, float] = {}
    below = 0
    for value in sorted(counts):
        ranks[value] = below + counts[value] / 2
        below += counts[value]
    return ranks


def icc(ratings: Ratings) -> dict[IccForm, Icc]:
    """Return all six intraclass correlations of Shrout and Fleiss (1979) with 95 % intervals.

    ICC1: each item has different raters. ICC2: all items have the same raters, who are a sample of raters; absolute
    agreement. ICC3: exactly these raters; consistency. The k forms are for the mean over the raters. Values and
    intervals are those of McGraw and Wong (1996), tables 4 and 7, which assume normally distributed ratings. Only items
    rated by every rater are used.
    """
    rows = select_complete(ratings)
    if len(rows) < 2 or len(rows[0]) < 2:
        return dict.fromkeys(ICC_FORMS, NO_ICC)
    import numpy as np

    table = np.array(rows)
    squares = _MeanSquares.of(len(rows), table.mean(axis=0), np.cov(table, rowvar=False))
    # Treat rounding errors as zero, so that ratings in full agreement have no error variance.
    least = 1e-12 * max(1.0, float(np.abs(table).max()) ** 2)
    squares = _MeanSquares(
        n=squares.n,
        k=squares.k,
        rows=_drop_rounding(squares.rows, least),
        columns=_drop_rounding(squares.columns, least),
        error=_drop_rounding(squares.error, least),
    )
    if squares.rows == squares.within_rows == 0:
        return dict.fromkeys(ICC_FORMS, NO_ICC)
    limits = _compute_icc_limits(squares)
    correlations: dict[IccForm, Icc] = {}
    for form in ICC_FORMS:
        low, high = limits[form]
        correlations[form] = Icc(_convert_finite(squares.compute_icc(form)), low, high)
    return correlations


def _compute_icc_limits(squares: "_MeanSquares") -> dict[IccForm, list[float | None]]:
    """Return the lower and upper limits for every form."""
    n = squares.n
    k = squares.k
    ratios_1 = _compute_ratio_interval(squares.rows, squares.within_rows, n - 1, n * (k - 1))
    limits_2 = _compute_agreement_interval(squares)
    ratios_3 = _compute_ratio_interval(squares.rows, squares.error, n - 1, (n - 1) * (k - 1))
    return {
        "ICC1": [_convert_to_single(ratio, k) for ratio in ratios_1],
        "ICC2": [_convert_finite(limit) for limit in limits_2],
        "ICC3": [_convert_to_single(ratio, k) for ratio in ratios_3],
        "ICC1k": [_convert_to_mean(ratio) for ratio in ratios_1],
        "ICC2k": [step_up(limit, k) for limit in limits_2],
        "ICC3k": [_convert_to_mean(ratio) for ratio in ratios_3],
    }


def _drop_rounding(mean_square: Any, least: float) -> float:
    value = float(mean_square)
    return 0.0 if value < least else value


def select_complete(ratings: Ratings) -> list[list[float]]:
    """Return the rows without a missing rating."""
    return [[value for value in row if value is not None] for row in ratings if None not in row]


ALL_RATERS = slice(None)


@dataclass(frozen=True, slots=True)
class _MeanSquares:
    """Mean squares of an analysis of variance of items by raters: between items, between raters, and residual.

    The fields are numbers, or arrays with one number per resample.
    """

    n: Any
    k: int
    rows: Any
    columns: Any
    error: Any

    @classmethod
    def of(cls, n: Any, means: "np.ndarray", covariance: "np.ndarray") -> "_MeanSquares":
        """Compute the mean squares from the raters' means (..., k) and covariances (..., k, k) over `n` items."""
        k = means.shape[-1]
        rows = covariance.sum(axis=(-2, -1)) / k
        error = (covariance.trace(axis1=-2, axis2=-1) - rows) / (k - 1)
        return cls(n, k, rows, n * means.var(axis=-1, ddof=1), error)

    @property
    def within_rows(self) -> Any:
        """The mean square within items, which combines differences between raters and the residual."""
        return (self.columns + (self.n - 1) * self.error) / self.n

    def compute_icc(self, form: IccForm) -> Any:
        """Return one intraclass correlation, or NaN if it is undefined."""
        import numpy as np

        n, k = self.n, self.k
        noise = self.error
        if form in ("ICC1", "ICC1k"):
            noise = self.within_rows
        rater_variance = 0.0
        # Differences between raters reduce absolute agreement only.
        if form in (
            "ICC2",
            "ICC2k",
        ):
            rater_variance = (self.columns - self.error) / n
        divisor = self.rows + rater_variance
        if not form.endswith("k"):
            divisor = self.rows + (k - 1) * noise + k * rater_variance
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.greater(divisor, 0), np.divide(self.rows - noise, divisor), np.nan)


# Computes the mean squares for some of a group's raters, selected by column.
SquaresOf = Callable[[Any], _MeanSquares]


def _compute_ratio_interval(between: float, noise: float, d1: int, d2: int) -> tuple[float, float]:
    """Return the limits of a ratio of two mean squares; infinite if there is no noise."""
    if noise == 0:
        return math.inf, math.inf
    ratio = between / noise
    return ratio / compute_f_quantile(_TAIL, d1, d2), ratio * compute_f_quantile(_TAIL, d2, d1)


def _convert_to_single(ratio: float, k: int) -> float:
    if math.isinf(ratio):
        return 1.0
    return (ratio - 1) / (ratio + k - 1)


def _convert_to_mean(ratio: float) -> float | None:
    return None if ratio == 0 else 1 - 1 / ratio


def step_up(r: float, k: int) -> float | None:
    """Return the correlation for means of k ratings, given `r` for single ratings (Spearman 1910, Brown 1910)."""
    divisor = 1 + (k - 1) * r
    return None if divisor <= 0 else _convert_finite(k * r / divisor)


def _compute_agreement_interval(squares: _MeanSquares) -> tuple[float, float]:
    """Return the limits of ICC(2,1) by McGraw and Wong (1996), table 7, with Satterthwaite's degrees of freedom."""
    n, k, msr, msc, mse = squares.n, squares.k, squares.rows, squares.columns, squares.error
    r = float(squares.compute_icc("ICC2"))
    if r >= 1:
        return 1.0, 1.0
    a = k * r / (n * (1 - r))
    b = 1 + k * r * (n - 1) / (n * (1 - r))
    spread = (a * msc) ** 2 / (k - 1) + (b * mse) ** 2 / ((n - 1) * (k - 1))
    degrees = (a * msc + b * mse) ** 2 / spread if spread else 0.0
    if degrees < 1e-6:
        return math.nan, math.nan
    noise = k * msc + (k * n - k - n) * mse
    lower, upper = (
        compute_f_quantile(_TAIL, n - 1, degrees),
        compute_f_quantile(_TAIL, degrees, n - 1),
    )
    below_low = lower * noise + n * msr
    below_high = noise + n * upper * msr
    if not 0 < below_low < math.inf or not 0 < below_high < math.inf:
        return math.nan, math.nan
    return n * (msr - lower * mse) / below_low, n * (upper * msr - mse) / below_high


def _convert_finite(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None


def estimate_mean_icc(
    ratings: Ratings,
    groups: Sequence[Sequence[int]],
    form: IccForm,
    *,
    units: Sequence[Hashable] | None = None,
    standardised: bool = False,
) -> Icc:
    """Return the mean of one intraclass correlation over groups of raters, with a percentile bootstrap over units.

    This allows comparisons between raters: for example over all pairs of clinicians, or over all pairs of a clinician
    and a jury. Each group is weighted by the number of items that all its raters rated. A group without a correlation,
    because its ratings do not vary, is left out. All groups use the same 2,000 resamples of units, so the interval
    includes errors that raters share. Raters are not resampled, so the interval applies to exactly these raters.

    Args:
        ratings: a table as described in the module.
        groups: columns of each group, two or more. An item counts in a group if all its raters rated it.
        form: form of the correlation. Values below -1, which the k forms can have with few items, are set to -1.
        units: patient or document of each row; None if each row is a separate unit.
        standardised: whether to convert each rater's ratings to z scores within the group, separately in each
            resample, for raters on different scales. ICC3 of a pair is then Pearson's correlation.

    Returns:
        The mean, without limits if there are fewer than MIN_UNITS units or most resamples do not vary.
    """

    def compute(squares: "SquaresOf") -> "np.ndarray":
        correlation: np.ndarray = squares(ALL_RATERS).compute_icc(form).clip(-1)
        return correlation

    return _estimate_mean_figure(ratings, groups, compute, units, standardised)


def estimate_icc_gain(
    ratings: Ratings,
    rater: int,
    pairs: Sequence[tuple[int, int]],
    *,
    units: Sequence[Hashable] | None = None,
) -> Icc:
    """Return how much better `rater` agrees with the two raters of a pair than they agree with each other.

    For each pair, this is the mean ICC3 of z scores between `rater` and each of the two, minus the ICC3 between the
    two, over the items that all three rated. The mean over the pairs and its interval are computed as in
    `estimate_mean_icc`.
    """

    def compute(squares: "SquaresOf") -> "np.ndarray":
        # Within each group, columns 0 and 1 are the pair and column 2 is the rater.
        first_with_rater = squares([0, 2]).compute_icc("ICC3").clip(-1)
        second_with_rater = squares([1, 2]).compute_icc("ICC3").clip(-1)
        pair = squares([0, 1]).compute_icc("ICC3").clip(-1)
        gain: np.ndarray = (first_with_rater + second_with_rater) / 2 - pair
        return gain

    return _estimate_mean_figure(
        ratings, [(*pair, rater) for pair in pairs], compute, units, standardised=True
    )


def _estimate_mean_figure(
    ratings: Ratings,
    groups: Sequence[Sequence[int]],
    compute: "Callable[[SquaresOf], np.ndarray]",
    units: Sequence[Hashable] | None,
    standardised: bool,
) -> Icc:
    """Return the mean of a statistic over groups of raters, with its bootstrap interval."""
    import numpy as np

    keys = range(len(ratings)) if units is None else units
    rows: list[Sequence[float | None]] = []
    unit_of_row: list[int] = []
    numbers: dict[Hashable, int] = {}
    for key, row in zip(keys, ratings, strict=True):
        if any(_is_complete(row, columns) for columns in groups):
            rows.append(row)
            unit_of_row.append(numbers.setdefault(key, len(numbers)))
    if not numbers:
        return NO_ICC
    sums_of_groups = [_sum_group(rows, columns, unit_of_row, len(numbers)) for columns in groups]

    def compute_means(weights: "np.ndarray") -> "np.ndarray":
        figures = np.array(
            [_compute_figure(weights, sums, compute, standardised) for sums in sums_of_groups]
        )
        sizes = np.where(np.isfinite(figures), [weights @ sums.sizes for sums in sums_of_groups], 0)
        with np.errstate(invalid="ignore"):
            mean: np.ndarray = (sizes * np.nan_to_num(figures)).sum(axis=0) / sizes.sum(axis=0)
        return mean

    every_unit_once = np.ones((1, len(numbers)))
    value = _convert_finite(compute_means(every_unit_once)[0])
    if value is None or len(numbers) < MIN_UNITS:
        return Icc(value, None, None)
    drawn = resample_weighted_figures(len(numbers), RESAMPLES, compute_means)
    interval = compute_figure_interval(value, drawn, len(numbers))
    if interval is None:
        return Icc(value, None, None)
    low, high = interval
    return Icc(value, low, high)


def _is_complete(row: Sequence[float | None], columns: Sequence[int]) -> bool:
    return all(row[column] is not None for column in columns)


@dataclass(frozen=True, slots=True)
class _GroupSums:
    """Sums over the items that all raters of a group rated, with one row per unit.

    Attributes:
        sizes: number of items.
        sums: sums of the ratings, by rater.
        products: sums of the products of two raters' ratings, by pair of raters.
    """

    sizes: "np.ndarray"
    sums: "np.ndarray"
    products: "np.ndarray"


def _sum_group(
    ratings: Ratings, columns: Sequence[int], unit_of_row: Sequence[int], units: int
) -> _GroupSums:
    import numpy as np

    table = np.array(
        [[replace_missing(row[column]) for column in columns] for row in ratings], dtype=float
    )
    table = table.reshape(len(ratings), len(columns))
    is_complete = ~np.isnan(table).any(axis=1)
    numbers = np.array(unit_of_row, dtype=int)[is_complete]
    rated = table[is_complete]
    if len(rated):
        # Centre the ratings, because products of numbers far from 0 lose precision.
        rated = rated - rated.mean(axis=0).mean()
    sizes = np.zeros(units)
    sums = np.zeros((units, len(columns)))
    products = np.zeros((units, len(columns), len(columns)))
    np.add.at(sizes, numbers, 1)
    np.add.at(sums, numbers, rated)
    np.add.at(products, numbers, rated[:, :, None] * rated[:, None, :])
    return _GroupSums(sizes, sums, products)


def _compute_figure(
    weights: "np.ndarray",
    group: _GroupSums,
    compute: "Callable[[SquaresOf], np.ndarray]",
    standardised: bool,
) -> "np.ndarray":
    """Return the statistic for every resample. `weights` has the number of times that each unit was drawn."""
    import numpy as np

    k = group.sums.shape[1]
    n = weights @ group.sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        means = (weights @ group.sums) / n[:, None]
        total = (weights @ group.products.reshape(len(group.sizes), -1)).reshape(-1, k, k)
        products_of_means = n[:, None, None] * means[:, :, None] * means[:, None, :]
        covariance = (total - products_of_means) / (n - 1)[:, None, None]
        spread = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        least = 1e-7 * max(1.0, float(np.sqrt(np.abs(group.products).max(initial=0))))
        if standardised:  # a rater whose ratings never vary has no z scores
            is_constant = (spread < least).any(axis=1)
            covariance = covariance / (spread[:, :, None] * spread[:, None, :])
            means = np.zeros_like(means)
        else:
            is_constant = (spread < least).all(axis=1)

        def select(raters: Any) -> _MeanSquares:
            return _MeanSquares.of(n, means[:, raters], covariance[:, raters][:, :, raters])

        figures = compute(select)
    return np.where((n < 2) | is_constant, np.nan, figures)


def replace_missing(rating: float | None) -> float:
    """Return a rating, or NaN if it is missing."""
    return math.nan if rating is None else rating
