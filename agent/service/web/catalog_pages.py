"""The pages of what can be run: benchmarks with the state of their data, and models with their servers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from agent.access.roles import Action
from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.catalog.deployments import Deployment, read_deployments
from agent.catalog.taxonomy import taxonomy
from agent.datasets.manage.register import check_data
from agent.model_servers.running import list_running
from agent.service.boards import OWN
from agent.service.web.call import Call
from agent.service.web.service import Desk
from agent.site.directory import Site

_READY = "ready"
_SAMPLE = "sample only"  # the shipped sample can be run, but says little


@dataclass(frozen=True, slots=True)
class BenchmarkLine:
    """One benchmark with the state of its data.

    Attributes:
        subsets: arguments of run entries that choose a part of it, each as "name=value"; empty if it has one part.
        state: "ready", "sample only", or what is missing.
        detail: more about the state.
    """

    id: str
    name: str
    category: str
    access: str
    metric: str
    subsets: tuple[str, ...]
    state: str
    detail: str

    @property
    def is_ready(self) -> bool:
        """Whether the benchmark can be run now."""
        return self.state in (_READY, _SAMPLE)

    @property
    def is_sample(self) -> bool:
        """Whether only the shipped sample can be run."""
        return self.state == _SAMPLE

    @property
    def note(self) -> str:
        """The state, if there is something to say about it."""
        return "" if self.state == _READY else self.state


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
        subsets=tuple(_list_subsets(benchmark)),
        state=state.state,
        detail=state.detail,
    )


def _list_subsets(benchmark: Benchmark) -> list[str]:
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
        can_queue=call.signed_in.can_enter(Action.QUEUE_JOBS),
    )


@dataclass(frozen=True, slots=True)
class ModelLine:
    """One deployment: who serves it, and whether it can be used.

    Attributes:
        served_by: "this site" for a managed server, else "another program".
        state: in words, what is known without asking the server.
        runs: number of stored runs.
    """

    deployment: str
    model: str
    served_by: str
    state: str
    runs: int


def read_models(desk: Desk) -> list[ModelLine]:
    """Return the deployments in the order of their file. No server is asked."""
    counts: dict[str, int] = {}
    for run in desk.store.runs.select():
        counts[run.deployment] = counts.get(run.deployment, 0) + 1
    running = {server.deployment for server in list_running(desk.site.servers)}
    lines: list[ModelLine] = []
    for name, deployment in read_deployments(desk.site.deployments).items():
        lines.append(
            ModelLine(
                deployment=name,
                model=deployment.model_name,
                served_by="this site" if deployment.managed else "another program",
                state=_describe_deployment(deployment, is_running=name in running),
                runs=counts.get(name, 0),
            )
        )
    return lines


def _describe_deployment(deployment: Deployment, *, is_running: bool) -> str:
    if deployment.problem:
        return deployment.problem
    if deployment.managed is None:
        return "usable"
    return "runs" if is_running else "is started for a run"


def list_models(desk: Desk, call: Call) -> Response:
    """Show the deployments."""
    return desk.draw("models.html", call, models=read_models(desk))
