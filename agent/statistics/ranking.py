"""Rank models by mean win rates and macro-averages, with intervals from resampling all columns together. Pure.

In each resample, a column's units are drawn once for all its models, which answered the same questions, so that a
draw with difficult questions is difficult for all of them. Results therefore vary between resamples as they would
between different sets of such questions.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.statistics.resampling import (
    MIN_UNITS,
    SEED,
    compute_percentile_interval,
    compute_reach,
    count_draws,
)
from protocol.figures import DECIMALS, Z95, mean_win_rates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class BenchmarkScores:
    """One benchmark's scores by all its models. Every value is from 0 to 1, and higher is better.

    Attributes:
        scores: (sum of scores, number of instances) by model and unit. All models share the same units.
        fixed: value by model, for models without instances; it is the same in every resample. For a model in both
            mappings, `scores` is used.
    """

    scores: Mapping[str, Mapping[Hashable, tuple[float, int]]]
    fixed: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelStanding:
    """The standing of one model among others, with 95 % intervals.

    Attributes:
        win_rate: mean win rate over columns with several models (see `mean_win_rates`); None without such a column.
        win_low, win_high: interval of `win_rate`.
        rank_low, rank_high: best and worst rank by win rate that the data allow; 1 is the best.
        macro: unweighted mean over all columns in which the model has a value; None without one.
        macro_low, macro_high: interval of `macro`.

    An interval is None if there are no instances to resample, because the uncertainty is then unknown. It is also None
    for a model that has fewer than MIN_UNITS units in every column; such a model may have any rank.
    """

    win_rate: float | None
    win_low: float | None
    win_high: float | None
    rank_low: int | None
    rank_high: int | None
    macro: float | None
    macro_low: float | None
    macro_high: float | None


def rank_models(
    columns: Sequence[BenchmarkScores],
) -> tuple[Mapping[str, ModelStanding], list[dict[str, tuple[int, int]]]]:
    """Return every model's standing, and for each column the best and worst rank of each model in that column alone.

    Units are resampled with a seed, independently for each column. An interval covers both
    `compute_percentile_interval` and the normal interval by the resamples' standard error, because resampling shifts
    win rates towards the middle and percentiles alone would be off at both ends of the table. The interval describes
    the variation between sets of equally many questions. With more questions, the win rates of models that differ at
    all move further apart.

    A model's range of ranks follows from the number of models that are significantly better or worse: those whose win
    rate (or value, within one column) differs from its own by more than a simultaneous interval for all these
    differences (Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for ranks", the marginal set). Percentiles of
    resampled ranks would be overconfident for similar models. All intervals are widened for few units (see
    `compute_reach`), and models with fewer than MIN_UNITS units are never distinguished. Among equal models, one in
    twenty has a range that misses a rank, regardless of the number of units.

    The ranks of a column are empty if it cannot be resampled or has a single model.
    """
    models = _list_models(columns)
    values = [_compute_values(column) for column in columns]
    rates = _compute_win_rates(models, values)
    macros = _compute_macro_averages(models, values)
    resamples = _resample_columns(columns, values, models)
    ranks_by_column = []
    for column, value, drawn in zip(columns, values, resamples.by_column, strict=True):
        ranks_by_column.append(_rank_column(column, value, drawn))
    contests = [number for number, value in enumerate(values) if len(value) > 1]
    contested = [columns[number] for number in contests]
    units = {model: _count_units(contested, model) for model in models}
    ranks: Mapping[str, tuple[int, int]] = {}
    # A win rate is then equivalent to a rank, so use the ranks of that column.
    if len(contests) == 1:
        ranks = ranks_by_column[contests[0]]
    elif any(_can_resample(column) for column in contested):
        ranks = _rank_by_win_rates(models, rates, resamples.win_rates, units)
    standings: dict[str, ModelStanding] = {}
    no_rank: tuple[int | None, int | None] = (None, None)
    for number, model in enumerate(models):
        rate = rates[model]
        macro = macros.get(model)
        win_low, win_high = _compute_interval(rate, resamples.win_rates[:, number], units[model])
        macro_units = _count_units(columns, model)
        macro_low, macro_high = _compute_interval(macro, resamples.macros[:, number], macro_units)
        rank_low, rank_high = ranks.get(model, no_rank)
        standings[model] = ModelStanding(
            win_rate=rate,
            win_low=win_low,
            win_high=win_high,
            rank_low=rank_low,
            rank_high=rank_high,
            macro=macro,
            macro_low=macro_low,
            macro_high=macro_high,
        )
    return standings, ranks_by_column


def _list_models(columns: Sequence[BenchmarkScores]) -> list[str]:
    models: dict[str, None] = {}
    for column in columns:
        models.update(dict.fromkeys(column.scores))
        models.update(dict.fromkeys(column.fixed))
    return list(models)


def _rank_by_win_rates(
    models: Sequence[str],
    rates: Mapping[str, float | None],
    resampled_rates: "Numbers",
    units: Mapping[str, int],
) -> dict[str, tuple[int, int]]:
    ranked: list[str] = []
    positions: list[int] = []
    for position, model in enumerate(models):
        if rates[model] is not None:
            ranked.append(model)
            positions.append(position)
    return _rank_by_differences(ranked, rates, resampled_rates[:, positions], units)


def _compute_values(column: BenchmarkScores) -> dict[str, float]:
    """Return each model's value in a column."""
    values = {model: round(value, DECIMALS) for model, value in column.fixed.items()}
    for model, units in column.scores.items():
        total = math.fsum(unit_sum for unit_sum, _ in units.values())
        n = sum(count for _, count in units.values())
        if n:
            values[model] = round(total / n, DECIMALS)
    return values


def _compute_win_rates(
    models: Sequence[str], values: Sequence[Mapping[str, float]]
) -> Mapping[str, float | None]:
    table: dict[str, dict[str, float]] = {model: {} for model in models}
    for number, value in enumerate(values):
        for model in value:
            table[model][str(number)] = value[model]
    return mean_win_rates(table)


def _compute_macro_averages(
    models: Sequence[str], values: Sequence[Mapping[str, float]]
) -> dict[str, float]:
    macros = {}
    for model in models:
        model_values = [value[model] for value in values if model in value]
        if model_values:
            macros[model] = math.fsum(model_values) / len(model_values)
    return macros


def _can_resample(column: BenchmarkScores) -> bool:
    """Return whether any model has several units, so that resamples differ."""
    return any(len(units) > 1 for units in column.scores.values())


def _rank_column(
    column: BenchmarkScores, value: Mapping[str, float], drawn: "Numbers"
) -> dict[str, tuple[int, int]]:
    if len(value) < 2 or not _can_resample(column):
        return {}
    units = {model: _count_units([column], model) for model in value}
    return _rank_by_differences(list(value), value, drawn, units)


def _count_units(columns: Sequence[BenchmarkScores], model: str) -> int:
    """Return the model's smallest number of units in a column, ignoring columns with fewer than MIN_UNITS.

    The result is 0 if there is no other column.
    """
    counts = []
    for column in columns:
        count = sum(n > 0 for _, n in column.scores.get(model, {}).values())
        if count >= MIN_UNITS:
            counts.append(count)
    return min(counts, default=0)


@dataclass(frozen=True, slots=True)
class _Resamples:
    """The results of every resample; NaN if a model has none.

    Attributes:
        win_rates, macros: one row per resample and one column per model.
        by_column: for each benchmark, the values of its own models, in the same order as in its original values.
    """

    win_rates: "Numbers"
    macros: "Numbers"
    by_column: "list[Numbers]"


def _resample_columns(
    columns: Sequence[BenchmarkScores], values: Sequence[Mapping[str, float]], models: Sequence[str]
) -> _Resamples:
    import numpy as np

    generator = np.random.default_rng(SEED)
    shape = (RESAMPLES, len(models))
    win_sums = np.zeros(shape)
    win_counts = np.zeros(shape)
    value_sums = np.zeros(shape)
    value_counts = np.zeros(shape)
    by_column = []
    for column, value in zip(columns, values, strict=True):
        positions = [models.index(model) for model in value]
        drawn = _draw_values(column, value, generator)
        by_column.append(drawn)
        has_value = ~np.isnan(drawn)
        value_sums[:, positions] += np.where(has_value, _widen_means(column, value, drawn), 0)
        value_counts[:, positions] += has_value
        has_opponent = has_value & (has_value.sum(axis=1, keepdims=True) > 1)
        win_sums[:, positions] += np.where(has_opponent, _compute_column_wins(drawn), 0)
        win_counts[:, positions] += has_opponent
    with np.errstate(invalid="ignore"):
        return _Resamples(win_sums / win_counts, value_sums / value_counts, by_column)


def _compute_column_wins(drawn: "Numbers") -> "Numbers":
    """Return the share of opponents that each model beats in each resample of a column. A tie is half a win."""
    import numpy as np

    opponents = (~np.isnan(drawn)).sum(axis=1, keepdims=True) - 1
    beaten = (drawn[:, None, :] < drawn[:, :, None]).sum(axis=2)
    tied = (drawn[:, None, :] == drawn[:, :, None]).sum(axis=2) - 1  # every model ties with itself
    shares: Numbers = (beaten + tied / 2) / np.maximum(opponents, 1)
    return shares


def _widen_means(
    column: BenchmarkScores, value: Mapping[str, float], drawn: "Numbers"
) -> "Numbers":
    """Rescale resampled means to the larger variance that new samples of the same number of units would have."""
    import numpy as np

    centre = np.array(list(value.values()))
    units = np.array([max(2, len(column.scores.get(model, ()))) for model in value])
    widened: Numbers = centre + (drawn - centre) * np.sqrt(units / (units - 1))
    return widened


def _draw_values(column: BenchmarkScores, value: Mapping[str, float], generator: Any) -> "Numbers":
    """Return each model's value in this column for every resample; NaN if the model has none of the drawn units."""
    import numpy as np

    values = np.tile(np.array(list(value.values())), (RESAMPLES, 1))
    positions: dict[str, int] = {}  # column positions of the models with instances
    for position, model in enumerate(value):
        if any(n for _, n in column.scores.get(model, {}).values()):
            positions[model] = position
    rows: dict[Hashable, int] = {}
    for model in positions:
        for unit in column.scores[model]:
            rows.setdefault(unit, len(rows))
    if not rows:
        return values
    width = len(positions)
    sums = np.zeros((len(rows), width))
    sizes = np.zeros((len(rows), width))
    for number, model in enumerate(positions):
        units = column.scores[model]
        unit_rows = [rows[unit] for unit in units]
        sums[unit_rows, number] = [total for total, _ in units.values()]
        sizes[unit_rows, number] = [n for _, n in units.values()]
    sums_and_sizes = np.hstack([sums, sizes])  # so that one matrix product computes both
    start = 0
    for times in count_draws(len(rows), RESAMPLES, generator):
        totals = times @ sums_and_sizes
        with np.errstate(invalid="ignore"):
            means = np.round(totals[:, :width] / totals[:, width:], DECIMALS)
        values[start : start + len(times), list(positions.values())] = means
        start += len(times)
    return values


def _compute_interval(
    value: float | None, drawn: "Numbers", units: int
) -> tuple[float | None, float | None]:
    """Return the smallest interval that contains both the percentile interval and the normal interval."""
    import numpy as np

    if value is None or not units:
        return None, None
    finite = drawn[~np.isnan(drawn)]
    if len(finite) < 2:
        return None, None
    low, high = compute_percentile_interval(value, finite, units)
    half = compute_reach(units) * float(finite.std(ddof=1))
    return max(0.0, min(value - half, low)), min(1.0, max(value + half, high))


def _rank_by_differences(
    models: Sequence[str],
    rates: Mapping[str, float | None],
    drawn: "Numbers",
    units: Mapping[str, int],
) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank of each model, by the method of Mogstad and others (2024)."""
    import numpy as np

    values = np.array([rates[model] or 0.0 for model in models])
    # One row per model, with the lead of every other model over it.
    difference = values - values[:, None]
    resampled = drawn[:, None, :] - drawn[:, :, None]
    # A resample without one of the models leaves the difference unchanged.
    resampled = np.where(np.isnan(resampled), difference, resampled)
    error = np.std(resampled, axis=0, ddof=1)
    least = 10.0**-DECIMALS  # precision of the rounded values
    varies = error > least
    # Use each resample's largest standardised deviation of a model, so that one limit holds for all its differences.
    deviations = np.abs(resampled - difference) / np.where(varies, error, math.inf)
    largest = np.max(deviations, axis=2, initial=0.0)
    limits = np.percentile(largest, 95, axis=0)[:, None]
    reach = np.where(varies, np.maximum(limits * error, least), least)
    widening = np.array([_compute_widening(units[model]) for model in models])
    # The model with fewer units determines the uncertainty.
    reach *= np.maximum(widening[:, None], widening)
    better = (difference > reach).sum(axis=1)
    worse = (difference < -reach).sum(axis=1)
    ranks = {}
    for number, model in enumerate(models):
        ranks[model] = 1 + int(better[number]), len(models) - int(worse[number])
    return ranks


def _compute_widening(units: int) -> float:
    """Return the factor by which a significant difference must be larger for this number of units than for many."""
    if units < MIN_UNITS:
        return math.inf
    return compute_reach(units) / Z95
