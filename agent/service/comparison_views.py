"""Build the pages that compare models: the pairs of a suite, one pair, and the answers of two runs side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from agent.errors import ConfigError
from agent.exchange.shown_names import ShownNames
from agent.jury.seats import name_seats
from agent.plots.charts import Chart
from agent.plots.differences import build_differences_chart
from agent.results.benchmark_names import name_benchmark, name_benchmarks
from agent.results.comparability import build_unit_prefix
from agent.results.compare_models import BenchmarkComparison, compare_models
from agent.results.comparison_remarks import list_remarks
from agent.results.paired_instances import PairedBenchmark
from agent.results.paired_models import Pairing, pair_models
from agent.service.board_views import Parent
from agent.service.heads import RunHead, build_run_head
from agent.service.run_views import list_settings
from agent.statistics.paired import MeanDifference, Overall
from agent.store import Run, Store

MAX_WRITTEN_MODELS = 6
"""With more models, pages that compare two of them are not written as files, because there would be too many."""


@dataclass(frozen=True, slots=True)
class ComparedModel:
    """A model that can be compared, or one of its deployments if it has several, with the others listed after it."""

    name: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparisonsPage:
    """The pairs of models of a suite. `has_pages` says whether the pairs have pages here."""

    parent: Parent
    models: tuple[ComparedModel, ...]
    has_pages: bool


@dataclass(frozen=True, slots=True)
class RunPair:
    """The runs of both models on one part of a benchmark, with the settings in which they differ."""

    a: RunHead
    b: RunHead
    differences: tuple[tuple[str, str, str], ...]  # label, setting of A, setting of B


@dataclass(frozen=True, slots=True)
class ComparisonLine:
    """The comparison in one benchmark.

    Attributes:
        name: the benchmark's name.
        metric: name of the metric.
        low, high: its scale.
        difference: A minus B, with its statistics.
        holm_p: p corrected for the number of benchmarks.
        words: the conclusion.
        remarks: what a reader should know about the numbers.
        runs: the runs that were compared.
    """

    name: str
    metric: str
    low: float
    high: float
    difference: MeanDifference
    holm_p: float
    words: str
    remarks: tuple[str, ...]
    runs: tuple[RunPair, ...]


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """Two models on the instances that both answered.

    Attributes:
        parent: the suite.
        a, b: the models.
        lines: one for each benchmark.
        overall: the mean difference over benchmarks, as a share of each metric's range; None for a single one.
        in_overall: names of the benchmarks in it.
        left_out: benchmarks that cannot be compared, with the reasons.
        chart: the differences as a drawing.
        has_answers: whether answers have pages side by side, as on a server.
    """

    parent: Parent
    a: str
    b: str
    lines: tuple[ComparisonLine, ...]
    overall: Overall | None
    in_overall: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    chart: Chart
    has_answers: bool


def list_compared_names(runs: Sequence[Run], names: ShownNames) -> dict[str, str]:
    """Return the name under which each model is shown, and what `pair_models` calls it.

    That is the model's name or, if it has several deployments, theirs.
    """
    deployments: dict[str, set[str]] = {}
    for run in runs:
        deployments.setdefault(run.model, set()).add(run.deployment)
    compared: dict[str, str] = {}
    for run in sorted(runs, key=lambda run: (run.model, run.deployment)):
        shown = names.show_run(run)
        if len(deployments[run.model]) > 1:
            compared[shown.deployment] = run.deployment
        else:
            compared[shown.model] = run.model
    return compared


def build_comparisons_page(suite: str, names: Sequence[str], *, has_pages: bool) -> ComparisonsPage:
    """Build the page with the pairs of a suite's models."""
    models = []
    for number, name in enumerate(names[:-1]):
        models.append(ComparedModel(name, tuple(names[number + 1 :])))
    return ComparisonsPage(Parent("suite", suite), tuple(models), has_pages)


def list_pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return every pair of names once."""
    return list(combinations(names, 2))


def build_comparison_page(
    store: Store, suite: str, a: str, b: str, names: ShownNames, *, has_answers: bool
) -> ComparisonPage | None:
    """Compare two models of a suite; None if they cannot be compared, such as two names of one model.

    Args:
        store: the site's store.
        suite: name of the suite.
        a, b: models or deployments, as they are shown.
        names: replacements for names of runs.
        has_answers: whether answers have pages side by side.
    """
    runs = store.runs.select(suite)
    compared = list_compared_names(runs, names)
    try:
        pairing = pair_models(store, [suite], compared[a], compared[b])
    except ConfigError:
        return None
    titles = name_benchmarks([names.show_run(run) for run in runs])
    judges = _map_judges(runs, names)
    comparison = compare_models(_show_pairing(pairing, judges))
    by_name = {run.name: run for run in runs}
    lines = [_build_line(each, by_name, names) for each in comparison.benchmarks]
    shown = replace(
        comparison,
        benchmarks=tuple(
            replace(each, paired=replace(each.paired, benchmark=line.name))
            for each, line in zip(comparison.benchmarks, lines, strict=True)
        ),
    )
    return ComparisonPage(
        parent=Parent("suite", suite),
        a=a,
        b=b,
        lines=tuple(lines),
        overall=comparison.overall if len(comparison.in_overall) > 1 else None,
        in_overall=tuple(titles[benchmark] for benchmark in comparison.in_overall),
        left_out=tuple((titles[name], reason) for name, reason in pairing.left_out.items()),
        chart=build_differences_chart(shown, a, b),
        has_answers=has_answers,
    )


def _map_judges(runs: Sequence[Run], names: ShownNames) -> dict[str, str]:
    """Return the shown name of each judge of these runs' juries."""
    judges: dict[str, str] = {}
    for run in runs:
        shown_metrics = names.show_run(run).details.metrics
        for metric, shown in zip(run.details.metrics, shown_metrics, strict=True):
            judges |= zip(name_seats(metric.judges), name_seats(shown.judges), strict=True)
    return judges


def _show_pairing(pairing: Pairing, judges: Mapping[str, str]) -> Pairing:
    """Return the pairing with the judges' names as they are shown."""
    return replace(
        pairing, benchmarks=tuple(_show_paired(each, judges) for each in pairing.benchmarks)
    )


def _show_paired(paired: PairedBenchmark, judges: Mapping[str, str]) -> PairedBenchmark:
    side_a, side_b = paired.side_a, paired.side_b
    return replace(
        paired,
        side_a=replace(side_a, family=tuple(judges.get(name, name) for name in side_a.family)),
        side_b=replace(side_b, family=tuple(judges.get(name, name) for name in side_b.family)),
    )


def _build_line(
    comparison: BenchmarkComparison, runs: Mapping[str, Run], names: ShownNames
) -> ComparisonLine:
    paired = comparison.paired
    pairs = []
    for name_a, name_b in zip(paired.side_a.runs, paired.side_b.runs, strict=True):
        pairs.append((names.show_run(runs[name_a]), names.show_run(runs[name_b])))
    return ComparisonLine(
        name=name_benchmark([run_a for run_a, _ in pairs]),
        metric=paired.metric.display_name or paired.metric.name,
        low=paired.metric.low,
        high=paired.metric.high,
        difference=comparison.difference,
        holm_p=comparison.holm_p,
        words=comparison.describe(),
        remarks=tuple(list_remarks(comparison)),
        runs=tuple(_build_run_pair(run_a, run_b) for run_a, run_b in pairs),
    )


def _build_run_pair(run_a: Run, run_b: Run) -> RunPair:
    settings_a, settings_b = dict(list_settings(run_a)), dict(list_settings(run_b))
    differences = []
    for label in dict.fromkeys([*settings_a, *settings_b]):
        a, b = settings_a.get(label, "not set"), settings_b.get(label, "not set")
        if a != b and label != "Run":  # the name of a run contains its model
            differences.append((label, a, b))
    return RunPair(build_run_head(run_a), build_run_head(run_b), tuple(differences))


def list_shared_positions(
    store: Store, run_a: Run, run_b: Run, metric: str
) -> tuple[list[tuple[int, int]], int]:
    """Return the positions of shared instances in both runs, the greatest difference of scores first.

    An instance that only one of them scored differs most. The second value is the number that differ.
    """
    scores_b = {}
    if build_unit_prefix(run_a) == build_unit_prefix(run_b):  # otherwise other parts of the data
        for position, score in enumerate(store.scores.read_units(run_b.run_id, metric)):
            scores_b[score.instance_key] = position, score.value
    shared = []
    for position, score in enumerate(store.scores.read_units(run_a.run_id, metric)):
        other = scores_b.get(score.instance_key)
        if other is not None:
            shared.append((_measure_gap(score.value, other[1]), position, other[0]))
    shared.sort(key=lambda entry: (-entry[0], entry[1]))
    differing = sum(gap > 0 for gap, _, _ in shared)
    return [(position_a, position_b) for _, position_a, position_b in shared], differing


def _measure_gap(a: float | None, b: float | None) -> float:
    if a is None or b is None:
        return 0.0 if a is b else float("inf")
    return abs(a - b)
