"""Register a version of protected data: what would be frozen and stated, and then the draft for the steward."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from starlette.responses import Response

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.catalog.run_entries import find_named_benchmark
from agent.datasets.frozen import describe_registration
from agent.disclosure.drafting import describe_candidate, register_dataset
from agent.disclosure.registration import Registered, check_benchmark
from agent.disclosure.site_gate import read_newest_registry
from agent.errors import AgentError
from agent.io.wording import format_count
from agent.service.web.approval_pages import record_event
from agent.service.web.authors import BEGUN
from agent.service.web.call import Call
from agent.service.web.service import Desk
from protocol.registry import Registry

_REFUSED = 409


@dataclass(frozen=True, slots=True)
class DatasetLine:
    """One gated or private benchmark.

    Attributes:
        benchmark: the benchmark.
        registered: its newest registered version, and what is newer.
        problem: why its data cannot be registered at all; empty if it can.
    """

    benchmark: Benchmark
    registered: str
    problem: str


def list_datasets(desk: Desk, call: Call) -> Response:
    """Show the benchmarks whose figures may leave only for registered versions of their data."""
    registry = read_newest_registry(desk.site)
    readable, _ = survey_benchmarks(desk.site.own_benchmarks)
    lines: list[DatasetLine] = []
    for benchmark in readable.values():
        if benchmark.access != "public":
            lines.append(_build_line(desk, benchmark, registry))
    lines.sort(key=lambda line: line.benchmark.display_name)
    return desk.draw(
        "datasets.html",
        call,
        lines=[line for line in lines if not line.problem],
        others=[line for line in lines if line.problem],
        is_member=registry is not None,
    )


def ask(desk: Desk, call: Call) -> Response:
    """Show what would be frozen, or why nothing can be: everything is read and checked, and nothing is written."""
    benchmark = find_named_benchmark(call.path["benchmark"], desk.site.own_benchmarks)
    try:
        would_be = register_dataset(
            desk.site,
            desk.store,
            benchmark.id,
            desk.store.clock.today_day(),
            partial(record_event, desk, call),
            dry_run=True,
        )
    except AgentError as error:
        return _draw(desk, call, benchmark, problem=f"{error}. {error.advice}")
    return _draw(desk, call, benchmark, lines=_describe(would_be))


def register(desk: Desk, call: Call) -> Response:
    """Freeze the data, write it to the ledger, and draft the statement."""
    benchmark = find_named_benchmark(call.path["benchmark"], desk.site.own_benchmarks)
    record_event(desk, call, BEGUN, "kind=dataset")
    try:
        done = register_dataset(
            desk.site,
            desk.store,
            benchmark.id,
            desk.store.clock.today_day(),
            partial(record_event, desk, call),
        )
    except AgentError as error:
        return _draw(desk, call, benchmark, status=_REFUSED, problem=f"{error}. {error.advice}")
    assert done.submission is not None, "this was no dry run"
    words = "The data is frozen, and the statement about it drafted. It waits for a steward."
    return desk.confirm(call, f"/outbox/{done.submission.digest}", words)


def _draw(
    desk: Desk,
    call: Call,
    benchmark: Benchmark,
    *,
    status: int = 200,
    problem: str = "",
    lines: Sequence[str] = (),
) -> Response:
    registered = describe_registration(benchmark, desk.site.data)
    return desk.draw(
        "dataset.html",
        call,
        status,
        benchmark=benchmark,
        registered=registered,
        problem=problem,
        lines=lines,
    )


def _describe(would_be: Registered) -> list[str]:
    entry = would_be.candidate.entry
    persons = format_count(len(entry.list_persons()), "unit")
    return [
        f"{persons} in {format_count(entry.instances, 'row')}",
        *describe_candidate(would_be),
    ]


def _build_line(desk: Desk, benchmark: Benchmark, registry: Registry | None) -> DatasetLine:
    problem = ""
    if registry is not None:
        try:
            check_benchmark(benchmark, registry)
        except AgentError as error:
            problem = f"{error}. {error.advice}"
    return DatasetLine(benchmark, describe_registration(benchmark, desk.site.data), problem)
