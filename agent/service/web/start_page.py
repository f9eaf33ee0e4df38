"""The first page: what is ready, what needs attention, what runs now, and the newest runs."""

from dataclasses import dataclass

from starlette.responses import Response

from agent.access.roles import Action
from agent.catalog.deployments import read_deployments
from agent.delivery.outbox import Outbox
from agent.service.heads import build_run_head
from agent.service.web.call import Call
from agent.service.web.catalog_pages import read_benchmarks
from agent.service.web.job_pages import explain_all_waiting
from agent.service.web.service import Desk
from agent.service.web.shown_jobs import veil_jobs
from agent.store import Run

_NEWEST = 10


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of what is ready. `path` is a page about it, or empty."""

    name: str
    words: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """Something that needs attention, with the page on which to attend to it."""

    words: str
    path: str


def show_start(desk: Desk, call: Call) -> Response:
    """Show the first page."""
    caller = call.signed_in
    jobs = desk.store.jobs.list_open()
    waiting = explain_all_waiting(desk, jobs)
    runs = sorted(desk.store.runs.select(), key=lambda run: run.started_at, reverse=True)
    newest = runs[:_NEWEST]
    return desk.draw(
        "start.html",
        call,
        facts=_list_facts(desk, call, runs),
        attention=_list_points(desk, call, runs),
        jobs=veil_jobs(desk, jobs),
        waiting=waiting,
        runs=[build_run_head(run) for run in newest],
        states={run.run_id: _describe_state(run) for run in newest},
        can_queue=caller.can_enter(Action.QUEUE_JOBS),
    )


def _list_facts(desk: Desk, call: Call, runs: list[Run]) -> list[Fact]:
    site, caller = desk.site, call.signed_in
    benchmarks = read_benchmarks(site)
    runnable = sum(line.is_ready for line in benchmarks)
    samples = sum(line.is_sample for line in benchmarks)
    deployments = read_deployments(site.deployments)
    usable = sum(deployment.problem is None for deployment in deployments.values())
    suites = {run.suite for run in runs}
    return [
        Fact(
            "Benchmarks",
            f"{runnable} of {len(benchmarks)} can be run, {samples} on a sample only",
            "/benchmarks" if caller.can_enter(Action.VIEW_DATA) else "",
        ),
        Fact(
            "Models",
            f"{usable} of {len(deployments)} deployments can be used"
            if deployments
            else "none yet",
            "/models" if caller.can_enter(Action.VIEW_MODELS) else "",
        ),
        Fact(
            "Results",
            f"{_count(len(runs), 'run')} in {_count(len(suites), 'suite')}",
            "/results/index.html",
        ),
    ]


def _list_points(desk: Desk, call: Call, runs: list[Run]) -> list[Point]:
    """List what waits for somebody: unfinished runs, failed jobs, drafts without an approval."""
    points: list[Point] = []
    open_jobs = {job.state for job in desk.store.jobs.list_open()}
    unfinished = [run for run in runs if run.state == "asking"]
    if unfinished and not open_jobs:
        points.append(
            Point(
                f"{_count(len(unfinished), 'run')} did not end. Started again, a run continues where it stopped.",
                f"/results/runs/{unfinished[0].run_id}/index.html",
            )
        )
    failed = [job for job in desk.store.jobs.list_recent(_NEWEST) if job.state == "failed"]
    if failed:
        points.append(
            Point(
                f"Among the last {_NEWEST} jobs, {len(failed)} failed.", f"/jobs/{failed[0].job_id}"
            )
        )
    if call.signed_in.can_enter(Action.VIEW_OUTBOX):
        waiting = [
            draft
            for draft in Outbox(desk.site.submissions).list_submissions()
            if draft.state.value == "prepared"
        ]
        if waiting:
            points.append(
                Point(
                    f"{_count(len(waiting), 'draft')} for the aggregator to be approved.", "/outbox"
                )
            )
    return points


def _describe_state(run: Run) -> str:
    return "has not ended" if run.state == "asking" else "ended"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
