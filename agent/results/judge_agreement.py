"""Measure the agreement between the judges of a jury, and their biases, from stored seats alone."""

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
    """The agreement of a jury's judges on one criterion, over the answers of all models that they graded.

    Attributes:
        benchmark: the benchmark of the answers.
        jury: number of the jury, from 1, among those that graded the benchmark in this suite.
        criterion: the criterion, or OVERALL.
        judges: names of the seats.
        silent: names of the seats that gave no valid verdict on the criterion at all.
        answers: number of answers with at least two valid verdicts, from which alpha is computed.
        complete: number of answers with a valid verdict in every seat, from which the correlations are computed.
        units: number of distinct patients or documents behind `answers`.
        complete_units: number of distinct patients or documents behind `complete`.
        interval, ordinal: Krippendorff's alpha for interval and ordinal grades, with bootstrap intervals over units.
        icc: the six intraclass correlations.
        method: method of their intervals. "F" (the F distribution) if each answer belongs to a different unit; the
            intervals of ICC(1) and ICC(2) then generalise to similar judges. In all other cases "percentile" (the
            bootstrap over units), which applies only to exactly these judges.
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
    """A measured influence on grades other than the quality of the answer.

    Attributes:
        kind: "length": rank correlation between grade and answer length within each model's answers; "judge": a
            judge's grades minus the mean of the other judges' grades for the same answers; "family": the grades by
            judges of the answering model's own family minus the other judges' for the same answers; "favour": how much
            higher than judges of other families a judge grades models of its own family, minus the same difference
            for other models.
        benchmark: the benchmark of the answers.
        jury: number of the jury, as in `Agreement`.
        judge: name of the judge; empty for the whole jury or for all judges of the model's family.
        model: the model that gave the answers; empty for all models.
        figure: number of answers, the value (a correlation, or a difference on the jury's own scale) and its bootstrap
            interval over units. "favour" has no value if the other judges' grades of the two groups of answers are
            more than a standard deviation apart, because a judge who uses less of the scale would then look biased.
    """

    kind: Literal["length", "judge", "family", "favour"]
    benchmark: str
    jury: int
    judge: str
    model: str
    figure: Mean


@dataclass(frozen=True, slots=True)
class _Graded:
    """A graded answer. `grades` has one entry per seat: its grades by criterion, or None if it has no valid verdict."""

    model: str
    unit: bytes
    length: int | None  # in characters; None if the text was purged
    grades: tuple[Mapping[str, float] | None, ...]

    def list_grades(self, criterion: str) -> list[float | None]:
        """Return every seat's grade on one criterion."""
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
    """A run, and the metric of this run that a jury graded."""

    run: Run
    metric: str
    jury: KeptJury


@dataclass(frozen=True, slots=True)
class _BesideStrangers:
    """A judge's grade of one answer, and the mean grade by judges of other families (strangers)."""

    unit: bytes
    is_family: bool  # whether the answering model is of the judge's family
    grade: float
    strangers: float


def identify_jury(jury: KeptJury) -> str:
    """Return a text that identifies a jury by its judges and everything that determines their questions.

    The verdict's fields are not part of it: an imported jury only has the fields that all its verdicts share.
    """
    return repr((jury.judges, jury.scale, jury.criteria, jury.prompt, jury.gold_shown))


def measure_agreement(
    store: Store, suite: str, benchmark: str | None = None
) -> tuple[list[Agreement], list[Bias]]:
    """Measure the agreement and the biases of every jury in a suite.

    Runs of one benchmark that were graded by the same judges in the same way are combined.

    Args:
        store: the site's store.
        suite: name of the suite.
        benchmark: restrict the result to this benchmark; None for all.
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
    seats_with_grade: set[int] = set()
    for answer in panel.answers:
        row = answer.list_grades(criterion)
        graded = [seat for seat, grade in enumerate(row) if grade is not None]
        seats_with_grade.update(graded)
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
        silent=tuple(name for seat, name in enumerate(panel.names) if seat not in seats_with_grade),
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
    """Return the correlations with intervals by resampling units.

    The correlation for the mean of all judges increases with that for single judges (Spearman 1910, Brown 1910), so its
    limits are computed from theirs.
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
    """An answer with each seat's mean grade over the criteria."""

    answer: _Graded
    grades: Sequence[float | None]


def _measure_biases(panel: _Panel) -> list[Bias]:
    """Return every bias measured in a panel, including those for which it has no answers."""
    rows = [_GradedRow(answer, answer.list_grades(OVERALL)) for answer in panel.answers]
    return [
        *_measure_length_biases(panel, rows),
        *_measure_judge_biases(panel, rows),
        *_measure_family_biases(panel, rows),
        *_measure_favours(panel, rows),
    ]


def _measure_length_biases(panel: _Panel, rows: Sequence[_GradedRow]) -> Iterator[Bias]:
    figure = _correlate_length((row.answer, _compute_mean(row.grades)) for row in rows)
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
    """Correlate grades with the lengths of answers, within each model's answers."""
    items = []
    for answer, grade in graded:
        if answer.length is not None and grade is not None:
            items.append(RankedItem(answer.unit, answer.model, x=float(answer.length), y=grade))
    return estimate_rank_correlation(items)


def _estimate_lead(panel: _Panel, rows: Sequence[_GradedRow], seats: set[int]) -> Mean:
    """Return how much higher these seats grade than the others on the same answers."""
    leads = []
    for row in rows:
        lead = _compute_lead(row.grades, seats)
        if lead is not None:
            leads.append((row.answer.unit, lead))
    return estimate_mean(leads, binary=False, within=(-panel.scale, panel.scale))


def _compute_lead(grades: Sequence[float | None], seats: set[int]) -> float | None:
    """Return how much higher these seats graded one answer than the others; None if either group gave no grade."""
    inside: list[float | None] = []
    outside: list[float | None] = []
    for seat, grade in enumerate(grades):
        side = inside if seat in seats else outside
        side.append(grade)
    inside_mean = _compute_mean(inside)
    outside_mean = _compute_mean(outside)
    if inside_mean is None or outside_mean is None:
        return None
    return inside_mean - outside_mean


def _estimate_favour(panel: _Panel, seat: int, rows: Sequence[_GradedRow]) -> Mean | None:
    """Return a judge's self-preference; None unless it graded answers by its own family and by others."""
    graded = list(_compare_to_strangers(panel, seat, rows))
    if len({graded_answer.is_family for graded_answer in graded}) < 2:
        return None
    items = [
        (
            graded_answer.unit,
            (graded_answer.is_family, graded_answer.grade - graded_answer.strangers),
        )
        for graded_answer in graded
    ]
    widest = 2 * panel.scale  # a difference of two differences of grades
    figure = estimate_figure(items, _subtract_leads, within=(-widest, widest))
    if _lie_apart(graded):
        return Mean(figure.n, figure.units, None, None, None, "none")
    return figure


def _compare_to_strangers(
    panel: _Panel, seat: int, rows: Sequence[_GradedRow]
) -> Iterator[_BesideStrangers]:
    """Yield the grade of a judge with the mean grade of strangers, for every answer that has both.

    Strangers belong neither to the judge's family nor to the answering model's, because a judge that might prefer
    either family is not a neutral reference.
    """
    judge = panel.judges[seat].model_name
    for row in rows:
        model = row.answer.model
        stranger_grades = []
        for grade, colleague in zip(row.grades, panel.judges, strict=True):
            name = colleague.model_name
            if not is_same_family(name, judge) and not is_same_family(name, model):
                stranger_grades.append(grade)
        strangers = _compute_mean(stranger_grades)
        grade = row.grades[seat]
        if grade is not None and strangers is not None:
            yield _BesideStrangers(row.answer.unit, is_same_family(judge, model), grade, strangers)


def _lie_apart(graded: Sequence[_BesideStrangers]) -> bool:
    """Return whether strangers' mean grades of the family's and other answers lie over a standard deviation apart."""
    family = [graded_answer.strangers for graded_answer in graded if graded_answer.is_family]
    others = [graded_answer.strangers for graded_answer in graded if not graded_answer.is_family]
    squares: list[float] = []
    for grades in (family, others):
        mean = fmean(grades)
        squares += [(grade - mean) ** 2 for grade in grades]
    variance = sum(squares) / max(1, len(graded) - 2)  # minus 2, because two means are estimated
    # If there is no variance, ignore differences due to rounding.
    return abs(fmean(family) - fmean(others)) > max(math.sqrt(variance), 1e-9)


def _subtract_leads(items: Sequence[tuple[bool, float]]) -> float | None:
    """Return a judge's mean lead over strangers on its own family's answers, minus its mean lead on other answers."""
    family = [lead for is_family, lead in items if is_family]
    others = [lead for is_family, lead in items if not is_family]
    if not family or not others:
        return None
    return fmean(family) - fmean(others)


def _compute_mean(grades: Sequence[float | None]) -> float | None:
    valid = [grade for grade in grades if grade is not None]
    return fmean(valid) if valid else None
