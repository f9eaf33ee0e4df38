"""Measure how far the judges of a jury agree, and their biases, from stored seats alone."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from agent.jury.family import is_same_family
from agent.jury.seats import name_seats
from agent.metrics import Judge
from agent.results.comparability import build_unit_prefix
from agent.statistics.agreement import Icc, IccForm, Ratings, estimate_mean_icc, icc, step_up
from agent.statistics.alpha_interval import Alpha, estimate_alpha
from agent.statistics.correlation import RankedItem, estimate_rank_correlation
from agent.statistics.intervals import Mean, estimate_figure, estimate_mean
from agent.store import KeptJury, Run, Store

OVERALL = "(all)"  # a judge's mean over the criteria


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a jury's judges agree on one criterion, over the answers of all models that they graded.

    Attributes:
        benchmark: whose answers.
        jury: its number, from 1, among those that graded the benchmark in this suite.
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
    """A trait that a grade goes with besides the answer.

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

    def list_grades(self, criterion: str) -> list[float | None]:
        """Return every seat's grade of one criterion."""
        row: list[float | None] = []
        for grades in self.grades:
            if not grades:
                row.append(None)
            elif criterion == OVERALL:
                row.append(fmean(grades.values()))
            else:
                row.append(grades.get(criterion))
        return row


@dataclass(frozen=True, slots=True)
class _Panel:
    """One jury and all answers that it graded in a suite."""

    benchmark: str
    number: int
    judges: tuple[Judge, ...]
    answers: tuple[_Graded, ...]
    scale: float  # from the lowest grade to the highest

    @property
    def names(self) -> tuple[str, ...]:
        return name_seats(self.judges)

    @property
    def criteria(self) -> list[str]:
        criteria: dict[str, None] = {}
        for answer in self.answers:
            for grades in answer.grades:
                criteria.update(dict.fromkeys(grades or ()))
        if len(criteria) > 1:
            return [*criteria, OVERALL]
        return list(criteria)


@dataclass(frozen=True, slots=True)
class _JudgedRun:
    """A run, and the metric that a jury gave it."""

    run: Run
    metric: str
    jury: KeptJury


@dataclass(frozen=True, slots=True)
class _BesideStrangers:
    """One answer's grade by a judge, and the mean of those by judges of other families."""

    unit: bytes
    is_family: bool  # whether the answer is of a model of the judge's family
    grade: float
    strangers: float


def identify_jury(jury: KeptJury) -> str:
    """Return a text that tells one jury from another: its judges, and all that decides the questions to them.

    Not the fields: of an imported jury they are those that its verdicts happen to share.
    """
    return repr((jury.judges, jury.scale, jury.criteria, jury.prompt, jury.gold_shown))


def measure_agreement(
    store: Store, suite: str, benchmark: str | None = None
) -> tuple[list[Agreement], list[Bias]]:
    """Return how far every jury of a suite agrees, and its biases.

    Runs of one benchmark that were graded by the same judges in the same way are taken together.

    Args:
        store: the site's.
        suite: whose runs.
        benchmark: only this one.
    """
    agreements: list[Agreement] = []
    biases: list[Bias] = []
    runs = [run for run in store.runs.select(suite) if benchmark in (None, run.benchmark)]
    for panel in _read_panels(store, runs):
        agreements += [_measure_criterion(panel, criterion) for criterion in panel.criteria]
        biases += [bias for bias in _measure_biases(panel) if bias.figure.n]
    return agreements, biases


def _read_panels(store: Store, runs: Sequence[Run]) -> Iterator[_Panel]:
    numbers: Counter[str] = Counter()
    for judged_runs in _group_by_jury(runs):
        answers: list[_Graded] = []
        for judged in judged_runs:
            answers += _read_graded(store, judged)
        if not answers:
            continue
        benchmark, jury = judged_runs[0].run.benchmark, judged_runs[0].jury
        numbers[benchmark] += 1
        yield _Panel(
            benchmark=benchmark,
            number=numbers[benchmark],
            judges=jury.judges,
            answers=tuple(answers),
            scale=jury.scale.high - jury.scale.low,
        )


def _group_by_jury(runs: Sequence[Run]) -> list[list[_JudgedRun]]:
    groups: dict[Hashable, list[_JudgedRun]] = {}
    for run in runs:
        metric = next((metric for metric in run.details.metrics if metric.judges), None)
        if metric is not None and metric.jury is not None:
            key = run.benchmark, run.imported, identify_jury(metric.jury)
            groups.setdefault(key, []).append(_JudgedRun(run, metric.name, metric.jury))
    return list(groups.values())


def _read_graded(store: Store, judged: _JudgedRun) -> Iterator[_Graded]:
    """Yield the answers of a run that any judge graded."""
    run = judged.run
    seats = store.juries.read_seats(run.run_id, judged.metric)
    if not seats:
        return
    units = [row.unit_key for row in store.scores.read_units(run.run_id, judged.metric)]
    unit_prefix = build_unit_prefix(run)
    graded = [
        position
        for position, answer_seats in seats.items()
        if any(seat.grades for seat in answer_seats)
    ]
    for stored in store.answers.read_each_instance(run.run_id, graded):
        by_seat = {seat.seat: seat.grades for seat in seats[stored.position]}
        yield _Graded(
            model=run.model,
            unit=unit_prefix + units[stored.position],
            length=None if stored.response is None else len(stored.response.text.strip()),
            grades=tuple(by_seat.get(number) for number in range(len(judged.jury.judges))),
        )


def _measure_criterion(panel: _Panel, criterion: str) -> Agreement:
    units: list[bytes] = []
    table: list[list[float | None]] = []
    complete_units: list[bytes] = []
    heard: set[int] = set()  # seats that gave any verdict on this criterion
    for answer in panel.answers:
        row = answer.list_grades(criterion)
        graded = [seat for seat, grade in enumerate(row) if grade is not None]
        heard.update(graded)
        if len(graded) > 1:
            units.append(answer.unit)
            table.append(row)
            if None not in row:
                complete_units.append(answer.unit)
    is_clustered = len(set(complete_units)) < len(complete_units)
    return Agreement(
        benchmark=panel.benchmark,
        jury=panel.number,
        criterion=criterion,
        judges=panel.names,
        silent=tuple(name for seat, name in enumerate(panel.names) if seat not in heard),
        answers=len(table),
        complete=len(complete_units),
        units=len(set(units)),
        complete_units=len(set(complete_units)),
        interval=estimate_alpha(table, "interval", units),
        ordinal=estimate_alpha(table, "ordinal", units),
        icc=_correlate_clusters(table, units, len(panel.judges)) if is_clustered else icc(table),
        method="percentile" if is_clustered else "F",
    )


_FORMS: dict[IccForm, IccForm] = {"ICC1": "ICC1k", "ICC2": "ICC2k", "ICC3": "ICC3k"}


def _correlate_clusters(table: Ratings, units: Sequence[bytes], judges: int) -> dict[IccForm, Icc]:
    """Return the correlations with intervals by resampled units.

    Those of the mean of all judges rise with those of one (Spearman 1910, Brown 1910), and so do their limits.
    """
    correlations = icc(table)
    for single, of_mean in _FORMS.items():
        limits = estimate_mean_icc(table, [range(judges)], single, units=units)
        correlations[single] = Icc(correlations[single].value, limits.low, limits.high)
        low = None if limits.low is None else step_up(limits.low, judges)
        high = None if limits.high is None else step_up(limits.high, judges)
        correlations[of_mean] = Icc(correlations[of_mean].value, low, high)
    return correlations


@dataclass(frozen=True, slots=True)
class _GradedRow:
    """One answer, and each seat's mean grade over the criteria."""

    answer: _Graded
    grades: Sequence[float | None]


def _measure_biases(panel: _Panel) -> list[Bias]:
    """Return every bias of a panel, also those of no answers."""
    rows = [_GradedRow(answer, answer.list_grades(OVERALL)) for answer in panel.answers]
    return [
        *_measure_length_biases(panel, rows),
        *_measure_judge_biases(panel, rows),
        *_measure_family_biases(panel, rows),
        *_measure_favours(panel, rows),
    ]


def _measure_length_biases(panel: _Panel, rows: Sequence[_GradedRow]) -> Iterator[Bias]:
    figure = _correlate_length((row.answer, _mean(row.grades)) for row in rows)
    yield Bias("length", panel.benchmark, panel.number, judge="", model="", figure=figure)
    for seat, name in enumerate(panel.names):
        figure = _correlate_length((row.answer, row.grades[seat]) for row in rows)
        yield Bias("length", panel.benchmark, panel.number, judge=name, model="", figure=figure)


def _measure_judge_biases(panel: _Panel, rows: Sequence[_GradedRow]) -> Iterator[Bias]:
    for seat, name in enumerate(panel.names):
        figure = _estimate_lead(panel, rows, {seat})
        yield Bias("judge", panel.benchmark, panel.number, judge=name, model="", figure=figure)


def _measure_family_biases(panel: _Panel, rows: Sequence[_GradedRow]) -> Iterator[Bias]:
    rows_by_model: dict[str, list[_GradedRow]] = {}
    for row in rows:
        rows_by_model.setdefault(row.answer.model, []).append(row)
    for model, model_rows in rows_by_model.items():
        family = {
            seat
            for seat, judge in enumerate(panel.judges)
            if is_same_family(judge.model_name, model)
        }
        figure = _estimate_lead(panel, model_rows, family)
        yield Bias("family", panel.benchmark, panel.number, judge="", model=model, figure=figure)


def _measure_favours(panel: _Panel, rows: Sequence[_GradedRow]) -> Iterator[Bias]:
    for seat, name in enumerate(panel.names):
        figure = _estimate_favour(panel, seat, rows)
        if figure is not None:
            yield Bias("favour", panel.benchmark, panel.number, judge=name, model="", figure=figure)


def _correlate_length(graded: Iterable[tuple[_Graded, float | None]]) -> Mean:
    """Correlate grades with lengths of answers, within each model's."""
    items = []
    for answer, grade in graded:
        if answer.length is not None and grade is not None:
            items.append(RankedItem(answer.unit, answer.model, x=float(answer.length), y=grade))
    return estimate_rank_correlation(items)


def _estimate_lead(panel: _Panel, rows: Sequence[_GradedRow], seats: set[int]) -> Mean:
    """Return how far these seats grade above the others on the same answers."""
    leads = []
    for row in rows:
        lead = _compute_lead(row.grades, seats)
        if lead is not None:
            leads.append((row.answer.unit, lead))
    return estimate_mean(leads, binary=False, within=(-panel.scale, panel.scale))


def _compute_lead(grades: Sequence[float | None], seats: set[int]) -> float | None:
    """Return how far these seats stand above the others on one answer; None where either side gave nothing."""
    inside: list[float | None] = []
    outside: list[float | None] = []
    for seat, grade in enumerate(grades):
        side = inside if seat in seats else outside
        side.append(grade)
    inside_mean = _mean(inside)
    outside_mean = _mean(outside)
    if inside_mean is None or outside_mean is None:
        return None
    return inside_mean - outside_mean


def _estimate_favour(panel: _Panel, seat: int, rows: Sequence[_GradedRow]) -> Mean | None:
    """Return how much a judge favours its family; None unless it graded answers of its family and of others."""
    graded = list(_compare_to_strangers(panel, seat, rows))
    if len({each.is_family for each in graded}) < 2:
        return None
    items = [(each.unit, (each.is_family, each.grade - each.strangers)) for each in graded]
    widest = 2 * panel.scale  # a difference of two differences of grades
    figure = estimate_figure(items, _subtract_leads, within=(-widest, widest))
    if _lie_apart(graded):
        return Mean(figure.n, figure.units, None, None, None, "none")
    return figure


def _compare_to_strangers(
    panel: _Panel, seat: int, rows: Sequence[_GradedRow]
) -> Iterator[_BesideStrangers]:
    """Yield the grade of a judge beside the mean grade of strangers, for every answer that has both.

    Strangers are of neither the judge's family nor the answering model's: a judge who favours the same family, or its
    own, is no measure.
    """
    judge = panel.judges[seat].model_name
    for row in rows:
        model = row.answer.model
        stranger_grades = []
        for grade, colleague in zip(row.grades, panel.judges, strict=True):
            name = colleague.model_name
            if not is_same_family(name, judge) and not is_same_family(name, model):
                stranger_grades.append(grade)
        strangers = _mean(stranger_grades)
        grade = row.grades[seat]
        if grade is not None and strangers is not None:
            yield _BesideStrangers(row.answer.unit, is_same_family(judge, model), grade, strangers)


def _lie_apart(graded: Sequence[_BesideStrangers]) -> bool:
    """Whether strangers grade the family's answers more than a standard deviation above or below other answers."""
    family = [each.strangers for each in graded if each.is_family]
    others = [each.strangers for each in graded if not each.is_family]
    squares: list[float] = []
    for grades in (family, others):
        mean = fmean(grades)
        squares += [(grade - mean) ** 2 for grade in grades]
    variance = sum(squares) / max(1, len(graded) - 2)  # two means are estimated
    # Without any variance, a difference of rounding is none.
    return abs(fmean(family) - fmean(others)) > max(math.sqrt(variance), 1e-9)


def _subtract_leads(items: Sequence[tuple[bool, float]]) -> float | None:
    """Return the mean lead over answers of the judge's family minus that over other answers."""
    family = [lead for is_family, lead in items if is_family]
    others = [lead for is_family, lead in items if not is_family]
    if not family or not others:
        return None
    return fmean(family) - fmean(others)


def _mean(grades: Sequence[float | None]) -> float | None:
    valid = [grade for grade in grades if grade is not None]
    return fmean(valid) if valid else None
