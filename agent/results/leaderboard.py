"""Compare models by mean win rates over columns of comparable results. Pure."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from protocol.figures import mean_win_rates

NO_VALUE = "no score of the main metric"
NO_OTHER_MODEL = "no other model has a valid result for this benchmark"
OTHER_PARTS = "other arguments, parts or data"


@dataclass(frozen=True, slots=True)
class Result:
    """One model's result in one benchmark, or in parts of it.

    Attributes:
        traits: values that must be equal for two results to be compared; each key is a text that reports a difference.
        parts: arguments and data of its runs. A model's results on different parts are joined before comparison.
        value: value of the main metric; None if there is none.
        weight: number of instances behind the value.
        barred: why the result is excluded from comparison; None if it is not.
    """

    model: str
    benchmark: str
    traits: Mapping[str, Hashable]
    parts: frozenset[Hashable]
    value: float | None
    weight: int
    barred: str | None = None

    @property
    def left_out(self) -> str | None:
        """The reason why this result is in no column, whatever the other results; None if there is none."""
        if self.barred:
            return self.barred
        return NO_VALUE if self.value is None else None


@dataclass(frozen=True, slots=True)
class WinRateTable:
    """The mean win rate of every model, and the columns behind it.

    Attributes:
        rates: mean win rate by model; None for a model without a result in any column.
        columns: number of columns.
        left_out: number of results that are in no column, by reason.
        members: for each column, the positions of the results that make up each model's value.
    """

    rates: Mapping[str, float | None]
    columns: int
    left_out: Mapping[str, int]
    members: tuple[Mapping[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class _Whole:
    """One model's results that differ only in their parts, joined."""

    model: str
    benchmark: str
    traits: Mapping[str, Hashable]
    parts: frozenset[Hashable]
    value: float
    places: tuple[int, ...]

    @property
    def column(self) -> Hashable:
        return self.benchmark, frozenset(self.traits.items()), self.parts


def compare_results(results: Sequence[Result]) -> WinRateTable:
    """Compare models over columns of comparable results. A column with a single model is left out.

    If a model has several results in one benchmark (subsets, conditions), their mean is weighted by instances, as in
    HELM.
    """
    comparable = [
        (place, result) for place, result in enumerate(results) if result.left_out is None
    ]
    wholes = _join_parts(comparable)
    models = Counter(whole.column for whole in wholes)
    column_names = {column: str(number) for number, column in enumerate(models)}
    table: dict[str, dict[str, float]] = {result.model: {} for result in results}
    members: dict[Hashable, dict[str, tuple[int, ...]]] = {}
    left_out = Counter(result.left_out for result in results if result.left_out is not None)
    for whole in wholes:
        column = whole.column
        if models[column] == 1:
            left_out[_explain_alone(whole, wholes)] += len(whole.places)
            continue
        table[whole.model][column_names[column]] = whole.value
        members.setdefault(column, {})[whole.model] = whole.places
    return WinRateTable(
        rates=mean_win_rates(table),
        columns=len(members),
        left_out=dict(left_out),
        members=tuple(members.values()),
    )


def _join_parts(results: Sequence[tuple[int, Result]]) -> list[_Whole]:
    """Join each model's results on parts of a benchmark. `results` are (position, result) pairs."""
    groups: dict[Hashable, list[tuple[int, Result]]] = {}
    for place, result in results:
        key = result.model, result.benchmark, frozenset(result.traits.items())
        groups.setdefault(key, []).append((place, result))
    wholes = []
    for group in groups.values():
        first = group[0][1]
        parts: frozenset[Hashable] = frozenset()
        for _, result in group:
            parts |= result.parts
        whole = _Whole(
            model=first.model,
            benchmark=first.benchmark,
            traits=first.traits,
            parts=parts,
            value=_compute_weighted_mean([result for _, result in group]),
            places=tuple(place for place, _ in group),
        )
        wholes.append(whole)
    return wholes


def _compute_weighted_mean(results: Sequence[Result]) -> float:
    weights: list[int] = []
    weighted: list[float] = []
    for result in results:
        # An imported leaderboard may not report its number of instances.
        weight = result.weight or 1
        weights.append(weight)
        weighted.append((result.value or 0.0) * weight)
    return math.fsum(weighted) / sum(weights)


def _explain_alone(whole: _Whole, wholes: Sequence[_Whole]) -> str:
    """Describe how a result differs from the most similar one by another model."""
    differences: list[list[str]] = []
    for rival in wholes:
        if rival.benchmark == whole.benchmark and rival.model != whole.model:
            differences.append(_list_differences(whole, rival))
    if not differences:
        return NO_OTHER_MODEL
    _, fewest = min((len(words), words) for words in differences)
    return ", ".join(fewest)


def _list_differences(whole: _Whole, rival: _Whole) -> list[str]:
    differences = [
        words for words, value in whole.traits.items() if rival.traits.get(words) != value
    ]
    if whole.parts != rival.parts:
        differences.append(OTHER_PARTS)
    return differences
