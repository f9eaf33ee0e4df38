"""Which results may be compared, and who wins among them: mean win rates over columns of like results. Pure."""

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
    """What one model came to in one benchmark, or in parts of it.

    Attributes:
        traits: what must be equal for two results to be compared, by the words that say it is not.
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
        """Why it is in no column, whatever the others are."""
        return self.barred or (NO_VALUE if self.value is None else None)


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
    results: int
    places: tuple[int, ...]

    @property
    def column(self) -> Hashable:
        return self.benchmark, frozenset(self.traits.items()), self.parts


def compare(results: Sequence[Result]) -> WinRateTable:
    """Compare models over columns of like results; a column of one model compares nothing and counts for nobody.

    Several results of one benchmark and model (subsets, conditions) are weighted by their instances, as HELM merges
    them.
    """
    wholes = _wholes([(place, one) for place, one in enumerate(results) if one.left_out is None])
    models = Counter(whole.column for whole in wholes)
    table: dict[str, dict[Hashable, float]] = {one.model: {} for one in results}
    members: dict[Hashable, dict[str, tuple[int, ...]]] = {}
    left_out = Counter(one.left_out for one in results if one.left_out is not None)
    for whole in wholes:
        if models[whole.column] > 1:
            table[whole.model][whole.column] = whole.value
            members.setdefault(whole.column, {})[whole.model] = whole.places
        else:
            left_out[_why_alone(whole, wholes)] += whole.results
    names = {column: str(number) for number, column in enumerate(models)}
    rates = mean_win_rates({model: {names[key]: v for key, v in row.items()} for model, row in table.items()})
    return WinRateTable(rates, len(members), dict(left_out), tuple(members.values()))


def _wholes(results: Sequence[tuple[int, Result]]) -> list[_Whole]:
    groups: dict[Hashable, list[tuple[int, Result]]] = {}
    for place, one in results:
        groups.setdefault((one.model, one.benchmark, frozenset(one.traits.items())), []).append((place, one))
    wholes = []
    for places_and_group in groups.values():
        places, group = zip(*places_and_group, strict=True)
        wholes.append(
            _Whole(
                *(group[0].model, group[0].benchmark, group[0].traits),
                parts=frozenset[Hashable]().union(*(one.parts for one in group)),
                value=_mean(group),
                results=len(group),
                places=places,
            )
        )
    return wholes


def _mean(group: Sequence[Result]) -> float:
    # A leaderboard made elsewhere may not say how many instances it counted.
    weighted = [(one.value or 0.0, one.weight or 1) for one in group]
    return math.fsum(value * weight for value, weight in weighted) / sum(weight for _, weight in weighted)


def _why_alone(whole: _Whole, wholes: Sequence[_Whole]) -> str:
    """Say what sets a result apart from the most similar one of another model."""
    others = [one for one in wholes if one.benchmark == whole.benchmark and one.model != whole.model]
    if not others:
        return NO_OTHER_MODEL
    return ", ".join(min((len(words), words) for words in (_differences(whole, other) for other in others))[1])


def _differences(one: _Whole, other: _Whole) -> list[str]:
    found = [words for words, value in one.traits.items() if other.traits.get(words) != value]
    return found + ([OTHER_PARTS] if one.parts != other.parts else [])
