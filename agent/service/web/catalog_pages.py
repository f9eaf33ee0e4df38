"""The list of all benchmarks with the state of their data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from agent.access.roles import Action
from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.catalog.taxonomy import taxonomy
from agent.datasets.manage.register import check_data, is_fetchable
from agent.service.boards import OWN
from agent.service.web.benchmark_words import list_metrics
from agent.service.web.call import Call
from agent.service.web.service import Desk
from agent.site.directory import Site

READY = "ready"
SAMPLE = "sample only"  # the shipped sample can be run, but says little


@dataclass(frozen=True, slots=True)
class BenchmarkLine:
    """One benchmark with the state of its data.

    Attributes:
        metric: the main metric's name in files, and its name on pages.
        subsets: arguments of run entries that choose a part of it, each as "name=value"; empty if it has one part.
        state: "ready", "sample only", or what is missing.
        detail: more about the state.
        is_fetchable: whether its data is public and can be downloaded.
    """

    id: str
    name: str
    category: str
    access: str
    metric: str
    metric_name: str
    subsets: tuple[str, ...]
    state: str
    detail: str
    is_fetchable: bool

    @property
    def is_ready(self) -> bool:
        """Whether the benchmark can be run now."""
        return self.state in (READY, SAMPLE)

    @property
    def is_sample(self) -> bool:
        """Whether only the shipped sample can be run."""
        return self.state == SAMPLE

    @property
    def note(self) -> str:
        """The state, if there is something to say about it."""
        return "" if self.state == READY else self.state


def read_benchmarks(site: Site) -> list[BenchmarkLine]:
    """Return all benchmarks by category, in MedHELM's order, with the site's own last."""
    readable, _ = survey_benchmarks(site.own_benchmarks)
    order = [*taxonomy(), ""]
    lines = [_build_line(benchmark, site) for benchmark in readable.values()]
    lines.sort(key=lambda line: (order.index(line.category), line.name))
    return lines


def _build_line(benchmark: Benchmark, site: Site) -> BenchmarkLine:
    state = check_data(benchmark, site.data)
    return BenchmarkLine(
        id=benchmark.id,
        name=benchmark.display_name,
        category=benchmark.category,
        access=benchmark.access,
        metric=benchmark.main_metric.name,
        metric_name=next(list_metrics(benchmark)).name,
        subsets=tuple(list_subsets(benchmark)),
        state=state.state,
        detail=state.detail,
        is_fetchable=is_fetchable(benchmark),
    )


def list_subsets(benchmark: Benchmark) -> list[str]:
    """Return the values of the argument that every run entry of the benchmark must pass."""
    subsets: list[str] = []
    for name, argument in benchmark.arguments.items():
        if argument.required:
            subsets += [f"{name}={value}" for value in argument.values]
    return subsets


def group_by_category(lines: Sequence[BenchmarkLine]) -> Mapping[str, list[BenchmarkLine]]:
    """Return the benchmarks by category, in their order."""
    groups: dict[str, list[BenchmarkLine]] = {}
    for line in lines:
        groups.setdefault(line.category or OWN, []).append(line)
    return groups


def list_benchmarks(desk: Desk, call: Call) -> Response:
    """Show all benchmarks with the state of their data."""
    lines = read_benchmarks(desk.site)
    return desk.draw(
        "benchmarks.html",
        call,
        groups=group_by_category(lines),
        ready=sum(line.is_ready for line in lines),
        samples=sum(line.is_sample for line in lines),
        count=len(lines),
        broken=list_broken(desk.site),
        can_add=call.signed_in.can_enter(Action.ADD_DATA),
        can_queue=call.signed_in.can_enter(Action.QUEUE_JOBS),
    )


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A definition of the site's own that cannot be used, and why."""

    name: str
    faults: tuple[str, ...]


def list_broken(site: Site) -> list[BrokenLine]:
    """Return the definitions that cannot be used, without the folders of this machine."""
    _, broken = survey_benchmarks(site.own_benchmarks)
    folder = f"{site.directory}/"
    return [
        BrokenLine(each.path.name, tuple(str(each.error).replace(folder, "").splitlines()))
        for each in broken
    ]
