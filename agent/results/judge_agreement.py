"""How far the judges of a jury agree, and what their grades hang on besides the answer: from stored seats alone."""

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean
from typing import Literal

from agent.jury.family import same_family
from agent.jury.seats import seat_names
from agent.metrics import Judge
from agent.results.comparability import build_unit_prefix
from agent.statistics.agreement import Icc, IccForm, Ratings, estimate_mean_icc, icc, stepped_up
from agent.statistics.alpha_interval import Alpha, estimate_alpha
from agent.statistics.correlation import estimate_rank_correlation
from agent.statistics.intervals import Mean, estimate_figure, estimate_mean
from agent.store import KeptJury, Run, Store

OVERALL = "(all)"  # a judge's mean over the criteria


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a jury's judges agree on one criterion, over the answers of all models that they graded.

    Attributes:
        benchmark: whose answers.
        jury: from 1: which of those that graded the benchmark in this suite.
        criterion: or OVERALL.
        judges: the seats, by name.
        silent: those of them that gave no valid verdict on it at all.
        answers: those with at least two valid verdicts; alpha is of these.
        complete: those with a valid verdict in every seat; the correlations are of these.
        units: distinct patients or documents behind `answers`.
        complete_units: the same of `complete`.
        interval, ordinal: Krippendorff's alpha, with bootstrap intervals over units.
        icc: the six intraclass correlations.
        method: how their intervals were made: from the F distribution where each answer is of a unit of its own, and
            then those of ICC(1) and (2) are for judges like these; else by the bootstrap over units, for exactly these.
    """

    benchmark: str
    jury: int
    criterion: str
    judges: tuple[str, ...]
    silent: tuple[str, ...]
    answers: int
    complete: int
    units: int
    complete_units: int
    interval: Alpha
    ordinal: Alpha
    icc: Mapping[IccForm, Icc]
    method: Literal["F", "percentile"]


@dataclass(frozen=True, slots=True)
class Bias:
    """What a grade goes with besides the answer.

    Attributes:
        kind: "length": rank correlation of grade and answer length within each model's answers; "judge": a judge's
            grades minus the mean of the other judges' for the same answers; "family": the grades of judges of the
            answering model's own family minus the others' for the same answers; "favour": how far a judge stands
            above those of other families for models of its family, minus how far it does for other models.
        benchmark: whose answers.
        jury: as of `Agreement`.
        judge: by name; empty: the whole jury, or all judges of the model's family.
        model: whose answers; empty: those of all models.
        figure: n answers, the value (a correlation, or a difference on the jury's own scale) and its bootstrap
            interval over units. No value of "favour" where the others grade the two lots of answers more than a
            standard deviation apart: a judge who uses less of the scale would look like one who favours.
    """

    kind: Literal["length", "judge", "family", "favour"]
    benchmark: str
    jury: int
    judge: str
    model: str
    figure: Mean


@dataclass(frozen=True, slots=True)
class _Graded:
    """One answer that was graded. `grades` has a map of criteria for each seat with a valid verdict."""

    model: str
    unit: bytes
    length: int | None  # characters; None: its text was purged
    grades: tuple[Mapping[str, float] | None, ...]

    def of(self, criterion: str) -> list[float | None]:
        """Return every seat's grade of one criterion."""
        if criterion == OVERALL:
            return [fmean(grades.values()) if grades else None for grades in self.grades]
        return [grades.get(criterion) if grades else None for grades in self.grades]


@dataclass(frozen=True, slots=True)
class _Panel:
    """One jury and everything it graded in a suite."""

    benchmark: str
    number: int
    judges: tuple[Judge, ...]
    answers: tuple[_Graded, ...]
    scale: float  # from the lowest grade to the highest

    @property
    def names(self) -> tuple[str, ...]:
        return seat_names(self.judges)

    @property
    def criteria(self) -> list[str]:
        found = dict.fromkeys(chain.from_iterable(one or () for answer in self.answers for one in answer.grades))
        return [*found, OVERALL] if len(found) > 1 else list(found)


def identify_jury(jury: KeptJury) -> str:
    """Return what tells one jury from another: its judges, and all that decides what they are asked.

    Not the fields: of an imported jury they are those that its verdicts happen to share.
    """
    return repr((jury.judges, jury.scale, jury.criteria, jury.prompt, jury.gold_shown))


def measure_agreement(store: Store, suite: str, benchmark: str | None = None) -> tuple[list[Agreement], list[Bias]]:
    """Say of every jury of a suite how far it agrees and what its grades go with.

    Runs of one benchmark that were graded by the same judges in the same way are taken together.

    Args:
        store: the site's.
        suite: whose runs.
        benchmark: only this one.
    """
    agreements: list[Agreement] = []
    biases: list[Bias] = []
    for panel in _panels(store, [run for run in store.runs.select(suite) if benchmark in (None, run.benchmark)]):
        agreements += [_agreement(panel, criterion) for criterion in panel.criteria]
        biases += [bias for bias in _biases(panel) if bias.figure.n]
    return agreements, biases


def _panels(store: Store, runs: Sequence[Run]) -> Iterator[_Panel]:
    of_jury: dict[str, list[tuple[Run, str, KeptJury]]] = {}
    for run in runs:
        judged = next((metric for metric in run.details.metrics if metric.judges), None)
        if judged is not None and judged.jury is not None:
            key = repr((run.benchmark, run.imported, identify_jury(judged.jury)))
            of_jury.setdefault(key, []).append((run, judged.name, judged.jury))
    numbers: Counter[str] = Counter()
    for found in of_jury.values():
        first, _, jury = found[0]
        answers = tuple(chain.from_iterable(_graded(store, run, metric, len(jury.judges)) for run, metric, _ in found))
        if answers:
            numbers[first.benchmark] += 1
            scale = jury.scale.high - jury.scale.low
            yield _Panel(first.benchmark, numbers[first.benchmark], jury.judges, answers, scale)


def _graded(store: Store, run: Run, metric: str, seats: int) -> Iterator[_Graded]:
    found = store.juries.read_seats(run.run_id, metric)
    if not found:
        return
    units = [row.unit_key for row in store.scores.read_units(run.run_id, metric)]
    apart = build_unit_prefix(run)
    graded = [position for position, given in found.items() if any(seat.grades for seat in given)]
    for stored in store.answers.read_each_instance(run.run_id, graded):
        by_seat = {seat.seat: seat.grades for seat in found[stored.position]}
        length = None if stored.response is None else len(stored.response.text.strip())
        grades = tuple(by_seat.get(seat) for seat in range(seats))
        yield _Graded(run.model, apart + units[stored.position], length, grades)


def _agreement(panel: _Panel, criterion: str) -> Agreement:
    rows = [(answer.unit, answer.of(criterion)) for answer in panel.answers]
    silent = tuple(name for seat, name in enumerate(panel.names) if all(row[seat] is None for _, row in rows))
    rows = [(unit, row) for unit, row in rows if sum(grade is not None for grade in row) > 1]
    units, table = [unit for unit, _ in rows], [row for _, row in rows]
    whole = [unit for unit, row in rows if None not in row]
    clustered = len(set(whole)) < len(whole)
    return Agreement(
        *(panel.benchmark, panel.number, criterion, panel.names, silent, len(rows)),
        complete=len(whole),
        units=len(set(units)),
        complete_units=len(set(whole)),
        interval=estimate_alpha(table, "interval", units),
        ordinal=estimate_alpha(table, "ordinal", units),
        icc=_of_clusters(table, units, len(panel.judges)) if clustered else icc(table),
        method="percentile" if clustered else "F",
    )


def _of_clusters(table: Ratings, units: Sequence[bytes], judges: int) -> dict[IccForm, Icc]:
    """Return the correlations with intervals by resampled units.

    Those of the mean of all judges rise with those of one (Spearman 1910, Brown 1910), and so do their limits.
    """
    found = icc(table)
    for one, of_mean in _FORMS.items():
        limits = estimate_mean_icc(table, [range(judges)], one, units=units)
        found[one] = Icc(found[one].value, limits.low, limits.high)
        stepped = (None if limit is None else stepped_up(limit, judges) for limit in (limits.low, limits.high))
        found[of_mean] = Icc(found[of_mean].value, *stepped)
    return found


_FORMS: dict[IccForm, IccForm] = {"ICC1": "ICC1k", "ICC2": "ICC2k", "ICC3": "ICC3k"}


def _biases(panel: _Panel) -> Iterator[Bias]:
    rows = [(answer, answer.of(OVERALL)) for answer in panel.answers]
    within = (-panel.scale, panel.scale)  # where a difference of two grades ends
    yield Bias(
        "length", panel.benchmark, panel.number, "", "", _against_length((answer, _mean(row)) for answer, row in rows)
    )
    for seat, name in enumerate(panel.names):
        own = ((answer, row[seat]) for answer, row in rows)
        yield Bias("length", panel.benchmark, panel.number, name, "", _against_length(own))
    for seat, name in enumerate(panel.names):
        apart = [(answer.unit, above) for answer, row in rows if (above := _above(row, {seat})) is not None]
        yield Bias("judge", panel.benchmark, panel.number, name, "", estimate_mean(apart, binary=False, within=within))
    for model in dict.fromkeys(answer.model for answer in panel.answers):
        kin = {seat for seat, judge in enumerate(panel.judges) if same_family(judge.model_name, model)}
        apart = [
            (answer.unit, above)
            for answer, row in rows
            if answer.model == model and (above := _above(row, kin)) is not None
        ]
        yield Bias(
            "family", panel.benchmark, panel.number, "", model, estimate_mean(apart, binary=False, within=within)
        )
    for seat, name in enumerate(panel.names):
        both = list(_beside_strangers(panel, seat, rows))
        if len({kin for _, kin, _, _ in both}) == 2:
            items = [(unit, (kin, own - others)) for unit, kin, own, others in both]
            figure = estimate_figure(items, _difference, within=(2 * within[0], 2 * within[1]))
            if _apart([(kin, others) for _, kin, _, others in both]):
                figure = Mean(figure.n, figure.units, None, None, None, "none")
            yield Bias("favour", panel.benchmark, panel.number, name, "", figure)


def _beside_strangers(
    panel: _Panel, seat: int, rows: Sequence[tuple[_Graded, Sequence[float | None]]]
) -> Iterator[tuple[bytes, bool, float, float]]:
    """Yield (unit, whether the answer is of the judge's family, its grade, the mean of judges of other families).

    Others are of neither the judge's family nor the answering model's: who favours the same, or its own, is no measure.
    """
    judge = panel.judges[seat].model_name
    for answer, row in rows:
        others = _mean(
            [
                grade
                for grade, other in zip(row, panel.judges, strict=True)
                if not same_family(other.model_name, judge) and not same_family(other.model_name, answer.model)
            ]
        )
        own = row[seat]
        if own is not None and others is not None:
            yield answer.unit, same_family(judge, answer.model), own, others


def _apart(grades: Sequence[tuple[bool, float]]) -> bool:
    """Whether the two lots of grades lie more than their standard deviation apart, as far as that can be seen."""
    lots = [[grade for which, grade in grades if which is kin] for kin in (True, False)]
    within = sum((grade - fmean(lot)) ** 2 for lot in lots for grade in lot) / max(1, len(grades) - 2)
    return abs(fmean(lots[0]) - fmean(lots[1])) > max(math.sqrt(within), 1e-9)


def _against_length(of: "Iterator[tuple[_Graded, float | None]]") -> Mean:
    """Correlate grades with lengths of answers, each model's by itself."""
    items = [
        (answer.unit, answer.model, (float(answer.length), grade))
        for answer, grade in of
        if answer.length is not None and grade is not None
    ]
    return estimate_rank_correlation(items)


def _mean(row: Sequence[float | None]) -> float | None:
    there = [grade for grade in row if grade is not None]
    return fmean(there) if there else None


def _above(row: Sequence[float | None], seats: set[int]) -> float | None:
    """Return how far these seats stand above the others on one answer; None where either side gave nothing."""
    inside = _mean([grade for seat, grade in enumerate(row) if seat in seats])
    outside = _mean([grade for seat, grade in enumerate(row) if seat not in seats])
    return None if inside is None or outside is None else inside - outside


def _difference(items: Sequence[tuple[Hashable, float]]) -> float | None:
    kin = [above for same, above in items if same]
    others = [above for same, above in items if not same]
    return fmean(kin) - fmean(others) if kin and others else None
