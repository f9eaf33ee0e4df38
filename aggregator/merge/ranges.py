"""Where win rates, macro-averages and ranks come to lie when sites are drawn anew. Pure.

Sites are drawn with replacement (Efron 1979; sites are the clusters, so that both the spread between sites and the
chance within them are in). Every sum is of whole numbers below 2^53, so that each computer gets the same bits, however
it orders them. The draws follow from the scorecard's digest by SHAKE-256, not from a generator that may change.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from aggregator.merge.board_model import Ranges
from aggregator.merge.random_effects import MIN_SITES
from aggregator.merge.site_cell import Floats, Integers

DRAWS = 400
_OUTSIDE = 10  # draws beyond either end of a 95 % interval
_BLOCK = 500_000  # figures at a time, so that memory stays small
_BYTES = 8  # a draw of one site: 64 bits, so that the remainder favours no site by more than 2^-50


@dataclass(frozen=True, slots=True)
class MainFigures:
    """One model's figures for the benchmarks' main cells.

    Attributes:
        sites: for each benchmark the site ids behind the merged value; empty without a value.
        weights: of each of these sites.
        doubled: of each of these sites twice its figure, thousandths.
        is_language_model: whether the model takes part in the ranks.
    """

    sites: tuple[tuple[str, ...], ...]
    weights: tuple[Integers, ...]
    doubled: tuple[Integers, ...]
    is_language_model: bool


def count_sites(models: Sequence[MainFigures]) -> int:
    """Return the number of distinct sites behind the models' main figures."""
    return len(_sites_of(models))


def _sites_of(models: Sequence[MainFigures]) -> list[str]:
    # Benchmarks often share one list of sites; to look at each list once takes a fraction of the time.
    lists = {id(sites): sites for model in models for sites in model.sites}
    return sorted({site for sites in lists.values() for site in sites})


def draw_ranges(models: Sequence[MainFigures], seed: str) -> list[Ranges]:
    """Return the ranges of each model; all None where fewer than three sites stand behind a table or a row.

    Args:
        models: of one table, in an order of their own.
        seed: digest of the scorecard.
    """
    sites = _sites_of(models)
    if len(sites) < MIN_SITES:
        return [Ranges() for _ in models]
    means = _draw_means(models, sites, _draw_counts(seed, len(sites)))
    block = max(1, _BLOCK // (len(models) * means.shape[2]))
    win_rates = numpy.concatenate(
        [_win_rates(means[start : start + block]) for start in range(0, DRAWS, block)]
    )
    macro_averages = _mean_of_present(means)
    speaks = numpy.array([model.is_language_model for model in models])
    ranks = _ranks(win_rates[:, speaks])
    places = numpy.cumsum(speaks) - 1
    found = []
    for number, model in enumerate(models):
        if len(_sites_of([model])) < MIN_SITES:
            found.append(Ranges())
            continue
        rates = _middle_of(win_rates[:, number])
        averages = _middle_of(macro_averages[:, number])
        rank = _middle_of(ranks[:, places[number]]) if model.is_language_model else None
        found.append(_make_ranges(rates, averages, rank))
    return found


_Pair = tuple[float, float]


def _make_ranges(rates: _Pair | None, averages: _Pair | None, ranks: _Pair | None) -> Ranges:
    return Ranges(
        win_rate_low=None if rates is None else _round(1000 * rates[0]),
        win_rate_high=None if rates is None else _round(1000 * rates[1]),
        macro_average_low=None if averages is None else _round(averages[0]),
        macro_average_high=None if averages is None else _round(averages[1]),
        rank_low=None if ranks is None else _round(ranks[0]),
        rank_high=None if ranks is None else _round(ranks[1]),
    )


def _round(number: float) -> int:
    return int(numpy.floor(number + 0.5))


def _draw_counts(seed: str, sites: int) -> Floats:
    """Return how often each site is in each of DRAWS draws of as many sites."""
    stream = hashlib.shake_256(f"intramural ranges {seed} {sites}".encode()).digest(
        DRAWS * sites * _BYTES
    )
    drawn = (
        (numpy.frombuffer(stream, dtype="<u8") % numpy.uint64(sites))
        .astype(numpy.int64)
        .reshape(DRAWS, sites)
    )
    cells = drawn + sites * numpy.arange(DRAWS)[:, None]
    return (
        numpy.bincount(cells.ravel(), minlength=DRAWS * sites)
        .reshape(DRAWS, sites)
        .astype(numpy.float64)
    )


def _draw_means(models: Sequence[MainFigures], sites: Sequence[str], counts: Floats) -> Floats:
    """Return the merged figure of each draw, model and benchmark, thousandths; NaN without a site."""
    rows = {site: row for row, site in enumerate(sites)}
    benchmarks = len(models[0].sites)
    weights = numpy.zeros((len(models), benchmarks, len(sites)))
    products = numpy.zeros_like(weights)
    places_of: dict[
        int, Integers
    ] = {}  # by identity of a list of sites: benchmarks often share one
    for number, model in enumerate(models):
        for benchmark, behind in enumerate(model.sites):
            places = places_of.get(id(behind))
            if places is None:
                places = numpy.array([rows[site] for site in behind], dtype=numpy.int64)
                places_of[id(behind)] = places
            weights[number, benchmark, places] = model.weights[benchmark]
            products[number, benchmark, places] = (
                model.weights[benchmark] * model.doubled[benchmark]
            )
    shape = (DRAWS, len(models), benchmarks)
    total = (counts @ weights.reshape(-1, len(sites)).T).reshape(shape)
    summed = (counts @ products.reshape(-1, len(sites)).T).reshape(shape)
    means: Floats = numpy.full(shape, numpy.nan)
    numpy.divide(summed, 2 * total, out=means, where=total > 0)
    return means


def _win_rates(means: Floats) -> Floats:
    """Return the mean win rate of each model in each draw, as `protocol.figures.mean_win_rates`; NaN without any.

    Args:
        means: by draw, model and benchmark, NaN where there is none.
    """
    # Sorted, equal figures stand side by side: from `first` to `last` of them, after all that are lower.
    order = numpy.argsort(means, axis=1)
    ascending = numpy.take_along_axis(means, order, axis=1)
    place = numpy.arange(means.shape[1])[None, :, None]
    differs = numpy.ones_like(ascending, dtype=numpy.bool_)
    differs[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    first = numpy.maximum.accumulate(numpy.where(differs, place, 0), axis=1)
    is_last = numpy.roll(differs, -1, axis=1)  # the one after the last is the first, which differs
    end = means.shape[1] - 1
    last = numpy.minimum.accumulate(numpy.where(is_last, place, end)[:, ::-1], axis=1)[:, ::-1]
    wins = numpy.empty_like(means)
    numpy.put_along_axis(wins, order, first + (last - first) / 2, axis=1)
    others = (~numpy.isnan(means)).sum(axis=1, keepdims=True) - 1
    rates = numpy.full(means.shape, numpy.nan)
    numpy.divide(wins, others, out=rates, where=~numpy.isnan(means) & (others > 0))
    return _mean_of_present(rates)


def _mean_of_present(numbers: Floats) -> Floats:
    """Return the mean over the last axis of what is not NaN, added in order; NaN where nothing is."""
    present = ~numpy.isnan(numbers)
    count = present.sum(axis=-1)
    summed = numpy.cumsum(numpy.where(present, numbers, 0.0), axis=-1)[..., -1]
    means: Floats = numpy.full(count.shape, numpy.nan)
    numpy.divide(summed, count, out=means, where=count > 0)
    return means


def _ranks(rates: Floats) -> Floats:
    """Return each model's rank in each draw, equal rates sharing one; NaN without a rate."""
    better = (rates[:, None, :] > rates[:, :, None]).sum(axis=2)
    return numpy.where(numpy.isnan(rates), numpy.nan, 1.0 + better)


def _middle_of(drawn: NDArray[numpy.float64]) -> _Pair | None:
    """Return the ends between which 95 % of the draws lie; None if too many of them have no figure."""
    present = numpy.sort(drawn[~numpy.isnan(drawn)])
    outside = _OUTSIDE * len(present) // len(drawn)
    if 2 * len(present) < len(drawn):
        return None
    return float(present[outside]), float(present[len(present) - 1 - outside])
