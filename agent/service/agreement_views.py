"""Build the pages about graders of a suite: the agreement among judges, and that of juries with clinicians."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.calibration.clinician_agreement import CLINICIANS, AgreementFigure, compare_graders
from agent.calibration.ratings import RatingTable, build_rating_table
from agent.calibration.report_notes import list_report_notes
from agent.exchange.shown_names import ShownNames
from agent.jury.seats import label_seats, name_seats
from agent.results.agreement_words import CHECKS, EXPLAINED, list_agreement_notes, list_heard
from agent.results.benchmark_names import name_benchmarks
from agent.results.judge_agreement import Agreement, Bias, measure_agreement
from agent.service.board_views import Parent
from agent.store import Calibration, Run, Store

ICC_WIDTH = 0.2
"""The width of the interval for which a report says how many units are needed, as `calibrate report` has it."""


@dataclass(frozen=True, slots=True)
class BiasTable:
    """The results of one check for bias: its title, its meaning and a line for each benchmark, jury and judge."""

    title: str
    meaning: str
    lines: tuple[Bias, ...]


@dataclass(frozen=True, slots=True)
class AgreementPage:
    """The agreement among the judges of a suite.

    Attributes:
        parent: the suite.
        judged: whether a benchmark of the suite has a metric that a jury grades.
        agreements: one for each benchmark, jury and criterion with at least two judges.
        juries: the judges of each benchmark and jury.
        biases: the checks for bias.
        notes: what cannot be measured, and why.
    """

    parent: Parent
    judged: bool
    agreements: tuple[Agreement, ...]
    juries: tuple[tuple[str, str], ...]
    biases: tuple[BiasTable, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """A sample of answers that clinicians graded too.

    Attributes:
        name: its name.
        benchmark: name of the benchmark.
        items: number of answers in the sample.
        clinicians: number of clinicians whose grades were imported.
        units: number of patients or documents.
        figures: the agreement of each grader with clinicians; empty without clinicians.
        notes: what a reader should know.
    """

    name: str
    benchmark: str
    items: int
    clinicians: int
    units: int
    figures: tuple[AgreementFigure, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CalibrationPage:
    """The calibrations of a suite's juries."""

    parent: Parent
    reports: tuple[CalibrationReport, ...]


def build_agreement_page(store: Store, suite: str, names: ShownNames) -> AgreementPage:
    """Build the page about the agreement of a suite's judges."""
    runs = store.runs.select(suite)
    shown_runs = [names.show_run(run) for run in runs]
    labels = _ShownLabels(runs, shown_runs)
    agreements, biases = measure_agreement(store, suite)
    shown = [labels.show_agreement(agreement) for agreement in agreements]
    juries: dict[str, str] = {}
    for agreement in shown:
        juries[f"{agreement.benchmark}, jury {agreement.jury}"] = ", ".join(agreement.judges)
    return AgreementPage(
        parent=Parent("suite", suite),
        judged=any(run.details.is_judged for run in runs),
        agreements=tuple(agreement for agreement in shown if len(list_heard(agreement)) > 1),
        juries=tuple(juries.items()),
        biases=tuple(_build_bias_tables([labels.show_bias(bias) for bias in biases])),
        notes=tuple(list_agreement_notes(shown)),
    )


def _build_bias_tables(biases: Sequence[Bias]) -> Iterator[BiasTable]:
    for kind, title in CHECKS.items():
        lines = tuple(bias for bias in biases if bias.kind == kind)
        if lines:
            yield BiasTable(title, _explain_check(kind), lines)


def _explain_check(kind: str) -> str:
    """Return the meaning of a check, whose words for the terminal have lines and a dash for a missing value."""
    words = EXPLAINED[kind].replace("\n", " ")
    return words.replace("A dash means", "“Groups not comparable” means")


class _ShownLabels:
    """Names of benchmarks, models and judges as they are shown."""

    def __init__(self, runs: Sequence[Run], shown_runs: Sequence[Run]) -> None:
        self._benchmarks: Mapping[str, str] = name_benchmarks(
            replace(shown, benchmark=run.benchmark)
            for run, shown in zip(runs, shown_runs, strict=True)
        )
        self._models: dict[str, str] = {}
        self._judges: dict[str, str] = {}
        for run, shown in zip(runs, shown_runs, strict=True):
            self._models[run.model] = shown.model
            self._add_judges(run, shown)

    def _add_judges(self, run: Run, shown: Run) -> None:
        for metric, shown_metric in zip(run.details.metrics, shown.details.metrics, strict=True):
            for name_all in (name_seats, label_seats):
                known = name_all(metric.judges)
                self._judges |= zip(known, name_all(shown_metric.judges), strict=True)

    def show_judge(self, name: str) -> str:
        """Return the name of a judge as it is shown."""
        return self._judges.get(name, name)

    def show_benchmark(self, benchmark: str) -> str:
        """Return the name of a benchmark as it is shown."""
        return self._benchmarks.get(benchmark, benchmark)

    def show_agreement(self, agreement: Agreement) -> Agreement:
        """Return the agreement with names as they are shown."""
        return replace(
            agreement,
            benchmark=self.show_benchmark(agreement.benchmark),
            judges=tuple(map(self.show_judge, agreement.judges)),
            silent=tuple(map(self.show_judge, agreement.silent)),
        )

    def show_bias(self, bias: Bias) -> Bias:
        """Return the result of a check with names as they are shown."""
        return replace(
            bias,
            benchmark=self.show_benchmark(bias.benchmark),
            judge=self.show_judge(bias.judge),
            model=self._models.get(bias.model, bias.model),
        )


def build_calibration_page(store: Store, suite: str, names: ShownNames) -> CalibrationPage:
    """Build the page about the calibrations of a suite's juries."""
    runs = store.runs.select(suite)
    labels = _ShownLabels(runs, [names.show_run(run) for run in runs])
    reports = []
    for calibration in store.calibrations.read_all():
        if calibration.plan["suite"] == suite and not _samples_hidden_runs(store, calibration):
            reports.append(_build_report(store, calibration, labels))
    return CalibrationPage(Parent("suite", suite), tuple(reports))


def _samples_hidden_runs(store: Store, calibration: Calibration) -> bool:
    """Return whether a sample contains answers of a run that the reader may not see."""
    run_ids = {str(planned["run"]) for planned in calibration.plan["items"].values()}
    return any(map(store.runs.hides, run_ids))


def _build_report(
    store: Store, calibration: Calibration, labels: _ShownLabels
) -> CalibrationReport:
    table = _show_graders(build_rating_table(store, calibration), labels)
    clinicians = len(table.list_columns("clinician"))
    figures = list(compare_graders(table, ICC_WIDTH)) if clinicians else []
    return CalibrationReport(
        name=calibration.name,
        benchmark=labels.show_benchmark(calibration.plan["benchmark"]),
        items=len(calibration.plan["items"]),
        clinicians=clinicians,
        units=len(set(table.units)),
        figures=tuple(_name_clinicians(figure) for figure in figures),
        notes=tuple(list_report_notes(table, calibration, figures)) if clinicians else (),
    )


def _show_graders(table: RatingTable, labels: _ShownLabels) -> RatingTable:
    graders = []
    for grader in table.graders:
        is_judge = grader.kind == "judge"
        graders.append(replace(grader, name=labels.show_judge(grader.name)) if is_judge else grader)
    return replace(table, graders=tuple(graders))


def _name_clinicians(figure: AgreementFigure) -> AgreementFigure:
    return replace(figure, who="other clinicians") if figure.who == CLINICIANS else figure
