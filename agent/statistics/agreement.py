"""How far raters agree: Krippendorff's alpha and the intraclass correlations, with intervals. Pure.

Ratings are a table: a row an item, a column a rater, None where a rater gave nothing.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from agent.statistics.f_distribution import compute_f_quantile
from agent.statistics.resampling import FEWEST_UNITS, compute_figure_interval, resample_weighted_figures

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
    """An intraclass correlation with its 95 % interval, at most 1; it may be negative.

    None where the ratings do not say: fewer than two items or raters, nothing that varies.
    """

    value: float | None
    low: float | None
    high: float | None


NO_ICC = Icc(None, None, None)


def compute_krippendorff_alpha(ratings: Ratings, level: Level) -> float | None:
    """Return Krippendorff's alpha: 1 is full agreement, 0 what chance gives, below 0 less than that.

    One less the ratio of observed to expected disagreement over all pairs of ratings of one item (Krippendorff 2011,
    Computing Krippendorff's alpha-reliability). Items with fewer than two ratings do not count; missing ratings are no
    hindrance. An ordinal difference of two values is the difference of their mid-ranks among all ratings that count.

    Returns:
        None where no item has two ratings, or all ratings are the same value.
    """
    items = [[rating for rating in row if rating is not None] for row in ratings]
    items = [item for item in items if len(item) > 1]
    counts = Counter(rating for item in items for rating in item)
    if len(counts) < 2:
        return None
    ranks = _mid_ranks(counts) if level == "ordinal" else {}
    placed = [[ranks.get(rating, rating) for rating in item] for item in items]
    observed = math.fsum(_squares(item) / (len(item) - 1) for item in placed)
    expected = _squares([value for item in placed for value in item])
    return 1 - (counts.total() - 1) * observed / expected


def _squares(values: Sequence[float]) -> float:
    """Return the sum of squared differences over all ordered pairs."""
    mean = math.fsum(values) / len(values)
    return 2 * len(values) * math.fsum((value - mean) ** 2 for value in values)


def _mid_ranks(counts: Counter[float]) -> dict[float, float]:
    ranks, below = {}, 0
    for value in sorted(counts):
        ranks[value] = below + counts[value] / 2
        below += counts[value]
    return ranks


def icc(ratings: Ratings) -> dict[IccForm, Icc]:
    """Return all six intraclass correlations of Shrout and Fleiss (1979) with 95 % intervals.

    ICC1: each item has raters of its own. ICC2: the same raters, a sample of raters; absolute agreement. ICC3: exactly
    these raters; consistency. The k forms are of the mean over the raters. Values and intervals are those of McGraw and
    Wong (1996), tables 4 and 7, which assume normal ratings. Only items that every rater rated count.
    """
    rows = complete(ratings)
    if len(rows) < 2 or len(rows[0]) < 2:
        return dict.fromkeys(ICC_FORMS, NO_ICC)
    import numpy as np

    table = np.array(rows)
    squares = _MeanSquares.of(len(rows), table.mean(axis=0), np.cov(table, rowvar=False))
    # What is left of rounding counts as nothing: ratings that all agree differ by no error.
    least = 1e-12 * max(1.0, float(np.abs(table).max()) ** 2)
    n, k = squares.n, squares.k
    sizes = (float(part) for part in (squares.rows, squares.columns, squares.error))
    msr, msc, mse = (0.0 if size < least else size for size in sizes)
    msw = (msc + (n - 1) * mse) / n
    if msr == msw == 0:
        return dict.fromkeys(ICC_FORMS, NO_ICC)
    squares = _MeanSquares(n, k, msr, msc, mse)
    one = _ratio_interval(msr, msw, n - 1, n * (k - 1))
    two = _agreement_interval(squares)
    three = _ratio_interval(msr, mse, n - 1, (n - 1) * (k - 1))
    limits: dict[IccForm, list[float | None]] = {
        "ICC1": [_single(ratio, k) for ratio in one],
        "ICC2": [_number(limit) for limit in two],
        "ICC3": [_single(ratio, k) for ratio in three],
        "ICC1k": [_of_mean(ratio) for ratio in one],
        "ICC2k": [stepped_up(limit, k) for limit in two],
        "ICC3k": [_of_mean(ratio) for ratio in three],
    }
    return {form: Icc(_number(squares.icc(form)), *limits[form]) for form in ICC_FORMS}


def complete(ratings: Ratings) -> list[list[float]]:
    """Return the rows that every rater rated."""
    return [[value for value in row if value is not None] for row in ratings if None not in row]


@dataclass(frozen=True, slots=True)
class _MeanSquares:
    """Of an analysis of variance of items by raters: between items, between raters, and what is left.

    Plain numbers, or arrays with one number a resample.
    """

    n: Any
    k: int
    rows: Any
    columns: Any
    error: Any

    @classmethod
    def of(cls, n: Any, means: "np.ndarray", covariance: "np.ndarray") -> "_MeanSquares":
        """From the raters' means (..., k) and covariances (..., k, k) over `n` items."""
        k = means.shape[-1]
        rows = covariance.sum(axis=(-2, -1)) / k
        error = (covariance.trace(axis1=-2, axis2=-1) - rows) / (k - 1)
        return cls(n, k, rows, n * means.var(axis=-1, ddof=1), error)

    def icc(self, form: IccForm) -> Any:
        """Return one intraclass correlation; not a number where there is none."""
        import numpy as np

        n, k = self.n, self.k
        noise = (self.columns + (n - 1) * self.error) / n if form in ("ICC1", "ICC1k") else self.error
        # What raters differ by as a whole counts against absolute agreement only.
        severity = (self.columns - self.error) / n if form in ("ICC2", "ICC2k") else 0.0
        many = form.endswith("k")
        below = self.rows + severity if many else self.rows + (k - 1) * noise + k * severity
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.greater(below, 0), np.divide(self.rows - noise, below), np.nan)


def _ratio_interval(between: float, noise: float, d1: int, d2: int) -> tuple[float, float]:
    """Return the limits of a ratio of two mean squares; infinite where there is no noise."""
    if noise == 0:
        return math.inf, math.inf
    ratio = between / noise
    return ratio / compute_f_quantile(_TAIL, d1, d2), ratio * compute_f_quantile(_TAIL, d2, d1)


def _single(ratio: float, k: int) -> float:
    return 1.0 if math.isinf(ratio) else (ratio - 1) / (ratio + k - 1)


def _of_mean(ratio: float) -> float | None:
    return None if ratio == 0 else 1 - 1 / ratio


def stepped_up(r: float, k: int) -> float | None:
    """Return the correlation of means of k that goes with `r` of single ratings (Spearman 1910, Brown 1910)."""
    below = 1 + (k - 1) * r
    return None if below <= 0 else _number(k * r / below)


def _agreement_interval(squares: _MeanSquares) -> tuple[float, float]:
    """Return the limits of ICC(2,1): McGraw and Wong (1996), table 7, with Satterthwaite's degrees of freedom."""
    n, k, msr, msc, mse = squares.n, squares.k, squares.rows, squares.columns, squares.error
    r = float(squares.icc("ICC2"))
    if r >= 1:
        return 1.0, 1.0
    a = k * r / (n * (1 - r))
    b = 1 + k * r * (n - 1) / (n * (1 - r))
    spread = (a * msc) ** 2 / (k - 1) + (b * mse) ** 2 / ((n - 1) * (k - 1))
    degrees = (a * msc + b * mse) ** 2 / spread if spread else 0.0
    if degrees < 1e-6:
        return math.nan, math.nan
    noise = k * msc + (k * n - k - n) * mse
    lower, upper = compute_f_quantile(_TAIL, n - 1, degrees), compute_f_quantile(_TAIL, degrees, n - 1)
    below = lower * noise + n * msr, noise + n * upper * msr
    if not all(0 < part < math.inf for part in below):
        return math.nan, math.nan
    return n * (msr - lower * mse) / below[0], n * (upper * msr - mse) / below[1]


def _number(value: Any) -> float | None:
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

    The way to set raters side by side: over all pairs of clinicians, over all pairs of one clinician and a jury. A
    group weighs as many as there are items that all of it rated; one that has no correlation, because nothing varies,
    is left out. All groups are computed from the same resampled units, 2,000 times, so that what raters share is in the
    interval. Raters are never drawn: the interval is for exactly these.

    Args:
        ratings: as ever.
        groups: columns of each group; two or more in each. An item counts in a group when all of it rated it.
        form: which correlation; what is below -1, as the k forms and few items have it, counts as -1.
        units: of each row: the patient or document that it is of; None: each row is its own.
        standardised: turn each rater's ratings into z scores within the group first, in each resample again; for
            raters on different scales. Of a pair, ICC3 is then Pearson's correlation.

    Returns:
        No limits where fewer than FEWEST_UNITS units count or nothing varies in most resamples.
    """
    return _resampled(ratings, groups, lambda squares: squares(slice(None)).icc(form).clip(-1), units, standardised)


def estimate_icc_gain(
    ratings: Ratings, who: int, pairs: Sequence[tuple[int, int]], *, units: Sequence[Hashable] | None = None
) -> Icc:
    """Return by how much rater `who` agrees better with the two of a pair than they do with each other.

    Of each pair: the mean of the two's ICC3 of z scores with `who`, less theirs, over the items that all three rated;
    then the mean over the pairs, and its interval, as `estimate_mean_icc` makes them.
    """

    def above(squares: "Callable[[Any], _MeanSquares]") -> "np.ndarray":
        one, other, theirs = (squares(columns).icc("ICC3").clip(-1) for columns in ([0, 2], [1, 2], [0, 1]))
        found: np.ndarray = (one + other) / 2 - theirs
        return found

    return _resampled(ratings, [(*pair, who) for pair in pairs], above, units, standardised=True)


def _resampled(
    ratings: Ratings,
    groups: Sequence[Sequence[int]],
    figure: "Callable[[Callable[[Any], _MeanSquares]], np.ndarray]",
    units: Sequence[Hashable] | None,
    standardised: bool,
) -> Icc:
    """Return the mean of a figure over groups of raters, with its bootstrap interval."""
    import numpy as np

    keys = range(len(ratings)) if units is None else units
    counted = [
        (key, row)
        for key, row in zip(keys, ratings, strict=True)
        if any(all(row[column] is not None for column in columns) for columns in groups)
    ]
    places = {key: place for place, key in enumerate(dict.fromkeys(key for key, _ in counted))}
    if not places:
        return NO_ICC
    where = [places[key] for key, _ in counted]
    parts = [_unit_sums([row for _, row in counted], columns, where, len(places)) for columns in groups]

    def figures(weights: "np.ndarray") -> "np.ndarray":
        found = np.array([_figure_of(weights, part, figure, standardised) for part in parts])
        sizes = np.where(np.isfinite(found), [weights @ part[0] for part in parts], 0)
        with np.errstate(invalid="ignore"):
            mean: np.ndarray = (sizes * np.nan_to_num(found)).sum(axis=0) / sizes.sum(axis=0)
        return mean

    value = _number(figures(np.ones((1, len(places))))[0])
    if value is None or len(places) < FEWEST_UNITS:
        return Icc(value, None, None)
    drawn = resample_weighted_figures(len(places), RESAMPLES, figures)
    return Icc(value, *(compute_figure_interval(value, drawn, len(places)) or (None, None)))


def _unit_sums(
    ratings: Ratings, columns: Sequence[int], places: Sequence[int], count: int
) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    """Return of each unit: how many items, the sums of their ratings and of products of them."""
    import numpy as np

    table = np.array([[_or_nan(row[column]) for column in columns] for row in ratings], dtype=float)
    table = table.reshape(len(ratings), len(columns))
    there = ~np.isnan(table).any(axis=1)
    where, kept = np.array(places, dtype=int)[there], table[there]
    if len(kept):
        kept = kept - kept.mean(axis=0).mean()  # products of numbers far from 0 lose their digits
    sizes, sums = np.zeros(count), np.zeros((count, len(columns)))
    products = np.zeros((count, len(columns), len(columns)))
    np.add.at(sizes, where, 1)
    np.add.at(sums, where, kept)
    np.add.at(products, where, kept[:, :, None] * kept[:, None, :])
    return sizes, sums, products


def _figure_of(
    weights: "np.ndarray",
    parts: "tuple[np.ndarray, np.ndarray, np.ndarray]",
    figure: "Callable[[Callable[[Any], _MeanSquares]], np.ndarray]",
    standardised: bool,
) -> "np.ndarray":
    """Return the figure of every resample: `weights` says how often each unit is in it."""
    import numpy as np

    sizes, sums, products = parts
    k = sums.shape[1]
    n = weights @ sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        means = (weights @ sums) / n[:, None]
        total = (weights @ products.reshape(len(sizes), -1)).reshape(-1, k, k)
        covariance = (total - n[:, None, None] * means[:, :, None] * means[:, None, :]) / (n - 1)[:, None, None]
        spread = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        least = 1e-7 * max(1.0, float(np.sqrt(np.abs(products).max(initial=0))))
        if standardised:
            still = (spread < least).any(axis=1)
            covariance = covariance / (spread[:, :, None] * spread[:, None, :])
            means = np.zeros_like(means)
        else:
            still = (spread < least).all(axis=1)
        found = figure(lambda of: _MeanSquares.of(n, means[:, of], covariance[:, of][:, :, of]))
    return np.where((n < 2) | still, np.nan, found)


def _or_nan(rating: float | None) -> float:
    return math.nan if rating is None else rating
