"""Build the pages behind the table of a suite or release: one benchmark, charts, juries, and tokens, time and cost."""

from dataclasses import dataclass
from typing import Literal

from agent.plots.charts import Chart
from agent.plots.costs import CostChart
from agent.results.efficiency import Efficiency
from agent.results.summarize import MetricSummary, Note, RunSummary
from agent.service.boards import Board, LeaderboardView, UsageLine, build_leaderboard


@dataclass(frozen=True, slots=True)
class Collection:
    """A suite or release, with one summary per benchmark and model as they are shown.

    Attributes:
        kind: which of the two.
        name: its name.
        summaries: the results.
        efficiencies: what the answers of each summary took, in the same order.
    """

    kind: Literal["suite", "release"]
    name: str
    summaries: tuple[RunSummary, ...]
    efficiencies: tuple[Efficiency | None, ...]

    def list_benchmarks(self) -> list[str]:
        """Return the ids of its benchmarks."""
        return list(dict.fromkeys(summary.run.benchmark for summary in self.summaries))

    def select(self, benchmark: str) -> "Collection":
        """Return the results of one benchmark."""
        summaries = []
        efficiencies = []
        for summary, efficiency in zip(self.summaries, self.efficiencies, strict=True):
            if summary.run.benchmark == benchmark:
                summaries.append(summary)
                efficiencies.append(efficiency)
        return Collection(self.kind, self.name, tuple(summaries), tuple(efficiencies))

    def build_leaderboard(self) -> LeaderboardView:
        """Return the leaderboard of all these results."""
        return build_leaderboard(self.summaries, self.efficiencies)


@dataclass(frozen=True, slots=True)
class Parent:
    """The suite or release to which a page belongs."""

    kind: Literal["suite", "release"]
    name: str


@dataclass(frozen=True, slots=True)
class JudgedLine:
    """A metric that a jury graded, for one benchmark and model."""

    benchmark: str
    model: str
    metric: MetricSummary


@dataclass(frozen=True, slots=True)
class BenchmarkPage:
    """All results in one benchmark, with a board for each main metric.

    Attributes:
        parent: the suite or release.
        name: display name, with the subset if all results are on the same one.
        boards: the results, best mean first.
        legend: short words of each note that any row has.
        imported: whether any row was imported.
        chart: the results as a drawing.
        judged: the metrics that a jury graded.
        usage: what the answers of each model took.
    """

    parent: Parent
    name: str
    boards: tuple[Board, ...]
    legend: dict[Note, str]
    imported: bool
    chart: Chart
    judged: tuple[JudgedLine, ...]
    usage: tuple[UsageLine, ...]


@dataclass(frozen=True, slots=True)
class ChartsPage:
    """Drawings of all results."""

    parent: Parent
    chart: Chart


@dataclass(frozen=True, slots=True)
class CostsPage:
    """What the answers of each model took, and the models by score and cost; without the costs of judging."""

    parent: Parent
    usage: tuple[UsageLine, ...]
    usage_of_models: tuple[UsageLine, ...]
    cost_chart: CostChart | None


@dataclass(frozen=True, slots=True)
class JuriesPage:
    """What the juries did."""

    parent: Parent
    judged: tuple[JudgedLine, ...]


BoardPage = BenchmarkPage | ChartsPage | CostsPage | JuriesPage


def build_benchmark_page(collection: Collection, benchmark: str) -> BenchmarkPage:
    """Build the page of one benchmark of a suite or release."""
    view = collection.select(benchmark).build_leaderboard()
    names = list(dict.fromkeys(board.name for board in view.boards))
    return BenchmarkPage(
        parent=Parent(collection.kind, collection.name),
        name=", ".join(names),
        boards=view.boards,
        legend=dict(view.legend),
        imported=view.imported,
        chart=view.chart,
        judged=list_judged(view.boards),
        usage=view.usage,
    )


def build_charts_page(collection: Collection) -> ChartsPage:
    """Build the page with the drawings."""
    view = collection.build_leaderboard()
    return ChartsPage(Parent(collection.kind, collection.name), view.chart)


def build_costs_page(collection: Collection) -> CostsPage:
    """Build the page about tokens, time and cost."""
    view = collection.build_leaderboard()
    return CostsPage(
        Parent(collection.kind, collection.name),
        view.usage,
        view.usage_of_models,
        view.cost_chart,
    )


def build_juries_page(collection: Collection) -> JuriesPage:
    """Build the page about the juries."""
    view = collection.build_leaderboard()
    return JuriesPage(Parent(collection.kind, collection.name), list_judged(view.boards))


def list_judged(boards: tuple[Board, ...]) -> tuple[JudgedLine, ...]:
    """Return the metrics on these boards that a jury graded."""
    lines = []
    for board in boards:
        for row in board.rows:
            if row.judged is not None:
                lines.append(JudgedLine(board.name, row.run.model, row.judged))
    return tuple(lines)
