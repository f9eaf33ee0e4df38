"""Compare results by mean win rates over columns of like results. Pure."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from protocol.figures import mean_win_rates

NO_VALUE = "no score of the main metric"
NO_OTHER_MODEL = "no other model has a result of this benchmark that counts"
OTHER_PARTS = "other arguments, parts or data"


@dataclass(frozen=True, slots=True)
class Result:
    """One model's result in one benchmark, or in parts of it.

    Attributes:
        traits: values that must be equal for two results to be compared, by the words for a difference.
        parts: arguments and data of its runs; those of one model's results are put together before they are compared.
        value: None where there is none.
        weight: instances behind it.
        barred: why it takes part in no comparison; None where it may.
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
        """Why it is in no column, independently of the other results."""
        if self.barred:
            return self.barred
        return NO_VALUE if self.value is None else None


@dataclass(frozen=True, slots=True)
class WinRateTable:
    """The mean win rate of every model, the columns behind them, and how many results are in none by reason.

    `members` say of each column which of the given results make up each model's value, by their place.
    """

    rates: Mapping[str, float | None]
    columns: int
    left_out: Mapping[str, int]
    members: tuple[Mapping[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class _Whole:
    """One model's results that differ in their parts alone."""

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
    """Compare models over columns of like results; a column of one model compares nothing and is left out.

    Several results of one benchmark and model (subsets, conditions) are weighted by their instances, as HELM merges
    them.
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
    """Join one model's results of parts of a benchmark; `results` have their places."""
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
            value=_average([result for _, result in group]),
            places=tuple(place for place, _ in group),
        )
        wholes.append(whole)
    return wholes


def _average(results: Sequence[Result]) -> float:
    weights: list[int] = []
    weighted: list[float] = []
    for result in results:
        weight = (
            result.weight or 1
        )  # a leaderboard made elsewhere may not say how many instances it counted
        weights.append(weight)
        weighted.append((result.value or 0.0) * weight)
    return math.fsum(weighted) / sum(weights)


def _explain_alone(whole: _Whole, wholes: Sequence[_Whole]) -> str:
    """Describe the differences between a result and the most similar one of another model."""
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
