"""Ranges of win rates, macro-averages and ranks from resampling sites. Pure.

Sites are drawn with replacement (Efron 1979). Sites are the clusters, so that the ranges include
both the variation between sites and the chance variation within them. All sums are of integers
below 2^53, so that every computer gets identical bits in any order of summation. The draws are
derived from the scorecard's digest with SHAKE-256 rather than a random generator, which might
change.
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
_BLOCK = 500_000  # figures processed at a time, to limit memory
_BYTES = 8  # per draw of a site: with 64 bits, the modulo bias is at most 2^-50


@dataclass(frozen=True, slots=True)
class MainFigures:
    """One model's figures for the benchmarks' main cells.

    Attributes:
        sites: Ids of the sites that contribute to the merged value, for each benchmark; empty
            without a value.
        weights: Weights of these sites.
        doubled: Twice the figure of each of these sites, in thousandths.
        is_language_model: Whether the model is ranked.
    """

    sites: tuple[tuple[str, ...], ...]
    weights: tuple[Integers, ...]
    doubled: tuple[Integers, ...]
    is_language_model: bool


def count_sites(models: Sequence[MainFigures]) -> int:
    """Return the number of distinct sites that contribute to the models' main figures."""
    return len(_sites_of(models))


def _sites_of(models: Sequence[MainFigures]) -> list[str]:
    # Benchmarks often share one list of sites. Looking at each list only once is much faster.
    lists = {id(sites): sites for model in models for sites in model.sites}
    return sorted({site for sites in lists.values() for site in sites})


def draw_ranges(models: Sequence[MainFigures], seed: str) -> list[Ranges]:
    """Return the ranges of each model. All are None if fewer than three sites contribute to the table or the row.

    Args:
        models: The models of one table, in a fixed order.
        seed: Digest of the scorecard.
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
    """Return how often each site occurs in each of DRAWS draws. A draw has the size of the set of sites."""
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
    """Return the merged figure for each draw, model and benchmark, in thousandths; NaN if no site was drawn."""
    rows = {site: row for row, site in enumerate(sites)}
    benchmarks = len(models[0].sites)
    weights = numpy.zeros((len(models), benchmarks, len(sites)))
    products = numpy.zeros_like(weights)
    places_of: dict[
        int, Integers
    ] = {}  # by identity of the list of sites, which benchmarks often share
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
    """Return the mean win rate of each model in each draw, as `protocol.figures.mean_win_rates` does; NaN if none.

    Args:
        means: Merged figures by draw, model and benchmark; NaN if missing.
    """
    # After sorting, equal figures are adjacent, at positions `first` to `last`.
    order = numpy.argsort(means, axis=1)
    ascending = numpy.take_along_axis(means, order, axis=1)
    place = numpy.arange(means.shape[1])[None, :, None]
    differs = numpy.ones_like(ascending, dtype=numpy.bool_)
    differs[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    first = numpy.maximum.accumulate(numpy.where(differs, place, 0), axis=1)
    # The last position takes the flag of the first, which is always true.
    is_last = numpy.roll(differs, -1, axis=1)
    end = means.shape[1] - 1
    last = numpy.minimum.accumulate(numpy.where(is_last, place, end)[:, ::-1], axis=1)[:, ::-1]
    wins = numpy.empty_like(means)
    numpy.put_along_axis(wins, order, first + (last - first) / 2, axis=1)
    others = (~numpy.isnan(means)).sum(axis=1, keepdims=True) - 1
    rates = numpy.full(means.shape, numpy.nan)
    numpy.divide(wins, others, out=rates, where=~numpy.isnan(means) & (others > 0))
    return _mean_of_present(rates)


def _mean_of_present(numbers: Floats) -> Floats:
    """Return the mean of the non-NaN values over the last axis, summed in order; NaN if there are none."""
    present = ~numpy.isnan(numbers)
    count = present.sum(axis=-1)
    summed = numpy.cumsum(numpy.where(present, numbers, 0.0), axis=-1)[..., -1]
    means: Floats = numpy.full(count.shape, numpy.nan)
    numpy.divide(summed, count, out=means, where=count > 0)
    return means


def _ranks(rates: Floats) -> Floats:
    """Return each model's rank in each draw; NaN without a rate. Equal rates share a rank."""
    better = (rates[:, None, :] > rates[:, :, None]).sum(axis=2)
    return numpy.where(numpy.isnan(rates), numpy.nan, 1.0 + better)


def _middle_of(drawn: NDArray[numpy.float64]) -> _Pair | None:
    """Return the ends of the range that contains 95 % of the draws; None if too many draws lack a figure."""
    present = numpy.sort(drawn[~numpy.isnan(drawn)])
    outside = _OUTSIDE * len(present) // len(drawn)
    if 2 * len(present) < len(drawn):
        return None
    return float(present[outside]), float(present[len(present) - 1 - outside])
