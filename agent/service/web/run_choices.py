"""The choices that the form for a new run offers, and those of an earlier job, if the form can show all of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from agent.catalog.run_entries import collect_run_entries
from agent.errors import AgentError
from agent.jobs.command_lines import read_command_line
from agent.jobs.known_commands import find_commands
from agent.service.web.service import Desk
from agent.store import Job
from agent.vocabulary import RunEntry

DEFAULT_SUITE: Final = "default"
# The options of `run` that the form has; which servers a run starts depends on those that run at that time.
_OPTIONS: Final = frozenset(
    {"descriptions", "suite", "max_eval_instances", "no_judging", "private", "served"}
)
_EXPANDERS: Final = frozenset({"model", "model_deployment"})


@dataclass(frozen=True, slots=True)
class Wish:
    """What the form asks for.

    Attributes:
        benchmarks: as in run entries, each with the argument that chooses its part: "med_dialog:subset=icliniq".
        deployments: names of deployments.
        suite: name of the suite.
        instances: most instances of each run; empty for all.
        judging: whether juries are asked as well.
        private: whether the runs are kept from others.
        cron: times at which the run is queued again and again; empty for once and now.
    """

    benchmarks: tuple[str, ...]
    deployments: tuple[str, ...]
    suite: str
    instances: str
    judging: bool
    private: bool
    cron: str = ""

    def names(self, benchmark_id: str) -> bool:
        """Return whether a part of this benchmark is wished for."""
        return any(name.startswith(f"{benchmark_id}:") for name in self.benchmarks)

    def list_missing(
        self, benchmarks: Collection[str], deployments: Collection[str]
    ) -> tuple[str, ...]:
        """Return the names that are wished for and not offered."""
        missing = [name for name in self.benchmarks if name not in benchmarks]
        missing += [name for name in self.deployments if name not in deployments]
        return tuple(missing)


def read_choices(desk: Desk, job: Job) -> Wish | None:
    """Return what the form would have to ask for to queue a job again; None if it cannot ask for exactly that."""
    try:
        line = read_command_line(desk.site, find_commands(), job.arguments, files_allowed=False)
        if line.words != ("run",):
            return None
        plain = read_command_line(desk.site, find_commands(), line.words, files_allowed=False)
        entries = collect_run_entries(line.options["descriptions"], ())
    except AgentError:
        return None
    for name, value in line.options.items():
        if name not in _OPTIONS and value != plain.options[name]:
            return None
    pairs = _pair_names(entries)
    if pairs is None:
        return None
    benchmarks = tuple(dict.fromkeys(benchmark for benchmark, _ in pairs))
    deployments = tuple(dict.fromkeys(deployment for _, deployment in pairs))
    if set(pairs) != set(product(benchmarks, deployments)):
        return None
    most = line.options["max_eval_instances"]
    return Wish(
        benchmarks=benchmarks,
        deployments=deployments,
        suite=line.suite or DEFAULT_SUITE,
        instances="" if most is None else str(most),
        judging=not line.options["no_judging"],
        private=bool(line.options["private"]),
    )


def _pair_names(entries: Sequence[RunEntry]) -> list[tuple[str, str]] | None:
    """Return the benchmark, as the form names it, and the deployment of each entry; None if an entry says more."""
    pairs: list[tuple[str, str]] = []
    for entry in entries:
        if not entry.model_deployment or entry.expanders.keys() - _EXPANDERS:
            return None
        arguments = [f"{name}={value}" for name, value in entry.arguments.items()]
        if len(arguments) > 1:
            return None
        pairs.append((":".join((entry.benchmark, *arguments)), entry.model_deployment))
    return pairs or None
