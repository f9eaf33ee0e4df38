"""Who leads, and how sure that is: mean win rates, macro-averages and ranks, by resampling all columns together. Pure.

Every column's units are drawn anew, once for all its models: they answered the same questions, so what makes a draw
hard makes it hard for all. What a resample changes is then what another set of such questions would change.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.statistics.resampling import FEWEST_UNITS, SEED, compute_percentile_interval, count_draws, expanded
from protocol.figures import DECIMALS, Z95, mean_win_rates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class BenchmarkScores:
    """One benchmark, with what its models came to: every value from 0 to 1, higher is better.

    Attributes:
        scores: model -> unit -> (sum of its instances' scores, number of them). A unit is the same for all models.
        fixed: model -> value, where no instances are known; it is the same in every resample. Of a model that is in
            both, `scores` count.
    """

    scores: Mapping[str, Mapping[Hashable, tuple[float, int]]]
    fixed: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelStanding:
    """Where one model stands among others, with 95 % intervals.

    Attributes:
        win_rate: the mean over columns of several models, see `mean_win_rates`; None without such a column.
        rank_low, rank_high: best and worst rank by win rate that the data allow, 1 is the best.
        macro: the plain mean over all columns where the model has a value; None without one.

    An interval is None where nothing could be resampled: without instances nobody knows how sure a value is. So it is
    of a model that has FEWEST_UNITS units nowhere; its ranks are then all that there are.
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
    """Return every model's standing, and for each column the best and the worst rank that it alone allows each model.

    Units are resampled with a seed, each column's independently of the others'. An interval is the hull of
    `compute_percentile_interval` and of the normal interval by the resamples' standard error: drawing anew moves win rates
    towards the middle, so that percentiles alone miss at both ends of the table. It says where the figure would lie
    with other sets of as many questions; with ever more questions, win rates of models that differ at all go further
    apart. A model's ranks are those left by the others that are surely better and surely worse: whose win rate (in one
    column: whose value) differs from its own beyond an interval that holds for all these differences at once (Mogstad,
    Romano, Shaikh and Wilhelm 2024, "Inference for ranks", the marginal set). Percentiles of resampled ranks would
    promise too much where models are close. All reach further by what few units make an interval wider, see
    `expanded`, and models of fewer than FEWEST_UNITS units are never told apart: of models that are equal, one in
    twenty has a range that leaves out a rank, whatever the number of units.

    Ranks of a column are empty where nothing can be resampled, and for a single model.
    """
    models = list(dict.fromkeys(model for column in columns for model in (*column.scores, *column.fixed)))
    values = [_values(column) for column in columns]
    rates = mean_win_rates(
        {model: {str(n): value[model] for n, value in enumerate(values) if model in value} for model in models}
    )
    macros = {
        model: math.fsum(found) / len(found)
        for model in models
        if (found := [value[model] for value in values if model in value])
    }
    ranked = [model for model in models if rates[model] is not None]
    won, averaged, drawn = _resampled(columns, values, models)
    by_column = [_ranks_of(*one) for one in zip(columns, values, drawn, strict=True)]
    contests = [place for place, value in enumerate(values) if len(value) > 1]
    units = {model: _units([columns[place] for place in contests], model) for model in models}
    if len(contests) == 1:  # a win rate is then a rank, which a resample turns round or leaves as it is
        ranks = by_column[contests[0]]
    elif any(len(mine) > 1 for place in contests for mine in columns[place].scores.values()):
        ranks = _ranks(ranked, rates, won[:, [models.index(model) for model in ranked]], units)
    else:
        ranks = {}
    standing: dict[str, ModelStanding] = {}
    unknown: tuple[int | None, int | None] = None, None
    for place, model in enumerate(models):
        rate, macro = rates[model], macros.get(model)
        win_low, win_high = _interval(rate, won[:, place], units[model])
        rank_low, rank_high = ranks.get(model, unknown)
        macro_low, macro_high = _interval(macro, averaged[:, place], _units(columns, model))
        standing[model] = ModelStanding(rate, win_low, win_high, rank_low, rank_high, macro, macro_low, macro_high)
    return standing, by_column


def _ranks_of(column: BenchmarkScores, value: Mapping[str, float], drawn: "Numbers") -> dict[str, tuple[int, int]]:
    if len(value) < 2 or all(len(units) < 2 for units in column.scores.values()):
        return {}
    return _ranks(list(value), value, drawn, {model: _units([column], model) for model in value})


def _values(column: BenchmarkScores) -> dict[str, float]:
    found = {}
    for model, units in column.scores.items():
        n = sum(count for _, count in units.values())
        if n:
            found[model] = round(math.fsum(total for total, _ in units.values()) / n, DECIMALS)
    return {model: round(value, DECIMALS) for model, value in column.fixed.items()} | found


def _units(columns: Sequence[BenchmarkScores], model: str) -> int:
    """Return the units of the model in the column where it has fewest of those that say anything; 0 without any."""
    counts = (sum(n > 0 for _, n in column.scores.get(model, {}).values()) for column in columns)
    return min((count for count in counts if count >= FEWEST_UNITS), default=0)


def _resampled(
    columns: Sequence[BenchmarkScores], values: Sequence[Mapping[str, float]], models: Sequence[str]
) -> "tuple[Numbers, Numbers, list[Numbers]]":
    """Return the win rate and the macro-average of every model in every resample, NaN where there is none.

    And each column's resampled values of its own models, in the order of `values`.
    """
    import numpy as np

    generator = np.random.default_rng(SEED)
    wins, macro = np.zeros((RESAMPLES, len(models))), np.zeros((RESAMPLES, len(models)))
    contests, present = np.zeros(wins.shape), np.zeros(wins.shape)
    each = []
    for column, value in zip(columns, values, strict=True):
        here = [models.index(model) for model in value]
        drawn = _drawn(column, value, list(value), generator)
        each.append(drawn)
        there = ~np.isnan(drawn)
        macro[:, here] += np.where(there, _widened(column, value, models, here, drawn), 0)
        present[:, here] += there
        others = there.sum(axis=1, keepdims=True) - 1
        worse = (drawn[:, None, :] < drawn[:, :, None]).sum(axis=2)
        tied = (drawn[:, None, :] == drawn[:, :, None]).sum(axis=2) - 1
        counts = there & (others > 0)
        wins[:, here] += np.where(counts, (worse + tied / 2) / np.maximum(others, 1), 0)
        contests[:, here] += counts
    with np.errstate(invalid="ignore"):
        return wins / contests, macro / present, each


def _widened(
    column: BenchmarkScores, value: Mapping[str, float], models: Sequence[str], here: Sequence[int], drawn: "Numbers"
) -> "Numbers":
    """Spread resampled means as new samples of so many units would lie, not as resamples do."""
    import numpy as np

    centre = np.array([value[models[place]] for place in here])
    units = np.array([max(2, len(column.scores.get(models[place], ()))) for place in here])
    widened: Numbers = centre + (drawn - centre) * np.sqrt(units / (units - 1))
    return widened


def _drawn(column: BenchmarkScores, value: Mapping[str, float], models: Sequence[str], generator: Any) -> "Numbers":
    """Return each model's value of this column in every resample, NaN where none of the drawn units is its own."""
    import numpy as np

    found = np.tile(np.array([value[model] for model in models]), (RESAMPLES, 1))
    counted = {model for model, mine in column.scores.items() if any(n for _, n in mine.values())}
    resampled = [place for place, model in enumerate(models) if model in counted]
    units: dict[Hashable, int] = {}
    for place in resampled:
        for unit in column.scores[models[place]]:
            units.setdefault(unit, len(units))
    if not units:
        return found
    sums, sizes = np.zeros((len(units), len(resampled))), np.zeros((len(units), len(resampled)))
    for at, place in enumerate(resampled):
        mine = column.scores[models[place]]
        rows = [units[unit] for unit in mine]
        sums[rows, at], sizes[rows, at] = np.array(list(mine.values()), dtype=float).T
    both, width = np.hstack([sums, sizes]), len(resampled)
    start = 0
    for times in count_draws(len(units), RESAMPLES, generator):
        totals = times @ both
        with np.errstate(invalid="ignore"):
            means = np.round(totals[:, :width] / totals[:, width:], DECIMALS)
        found[start : start + len(times), resampled] = means
        start += len(times)
    return found


def _interval(value: float | None, drawn: "Numbers", units: int) -> tuple[float | None, float | None]:
    """Return the hull of the percentile interval and the normal one by the resamples' standard error."""
    import numpy as np

    if value is None or not units:
        return None, None
    known = drawn[~np.isnan(drawn)]
    if len(known) < 2:
        return None, None
    low, high = compute_percentile_interval(value, known, units)
    half = expanded(units) * float(known.std(ddof=1))
    return max(0.0, min(value - half, low)), min(1.0, max(value + half, high))


def _ranks(
    models: Sequence[str], rates: Mapping[str, float | None], drawn: "Numbers", units: Mapping[str, int]
) -> dict[str, tuple[int, int]]:
    import numpy as np

    found = np.array([rates[model] or 0.0 for model in models])
    difference = found - found[:, None]  # how far each other stands above a model, a row a model
    again = drawn[:, None, :] - drawn[:, :, None]
    again = np.where(np.isnan(again), difference, again)  # a resample without this model moves nothing
    error, least = np.std(again, axis=0, ddof=1), 10.0**-DECIMALS
    moved = error > least
    far = np.max(np.abs(again - difference) / np.where(moved, error, math.inf), axis=2, initial=0.0)
    reach = np.where(moved, np.maximum(np.percentile(far, 95, axis=0)[:, None] * error, least), least)
    widening = np.array([_widening(units[model]) for model in models])
    reach *= np.maximum(widening[:, None], widening)  # the one with fewer units says how sure it is
    better, worse = (difference > reach).sum(axis=1), (difference < -reach).sum(axis=1)
    return {model: (1 + int(better[n]), len(models) - int(worse[n])) for n, model in enumerate(models)}


def _widening(units: int) -> float:
    """Return how much further than among many units a difference must reach to tell two models apart."""
    return expanded(units) / Z95 if units >= FEWEST_UNITS else math.inf
