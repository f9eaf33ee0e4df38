"""The first page: what is ready, what needs attention, what runs now, and the newest runs, for each role its part."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from starlette.responses import Response

from agent.access.roles import Action
from agent.io.disk_room import find_room
from agent.io.wording import format_count, format_size
from agent.service.heads import build_run_head
from agent.service.web.attention import Known, list_points
from agent.service.web.call import Call
from agent.service.web.catalog_pages import read_benchmarks
from agent.service.web.job_pages import explain_all_waiting
from agent.service.web.model_lines import read_models
from agent.service.web.service import Desk
from agent.service.web.shown_jobs import veil_jobs
from agent.service.web.site_pages import HEALTH
from agent.store import Run

_NEWEST: Final = 10


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of what is ready. `path` is a page about it, or empty."""

    name: str
    words: str
    path: str = ""


def show_start(desk: Desk, call: Call) -> Response:
    """Show the first page."""
    caller = call.signed_in
    runs = sorted(desk.store.runs.select(), key=lambda run: run.started_at, reverse=True)
    jobs = desk.store.jobs.list_open()
    known = Known(read_benchmarks(desk.site), read_models(desk), runs, jobs)
    newest = runs[:_NEWEST]
    return desk.draw(
        "start.html",
        call,
        facts=list(_list_facts(desk, call, known)),
        attention=list(list_points(desk, call, known)),
        jobs=veil_jobs(desk, jobs),
        standstill=desk.service.find_queue_problem(),
        waiting=explain_all_waiting(desk, jobs),
        runs=[build_run_head(run) for run in newest],
        states={run.run_id: _describe_state(run) for run in newest},
        can_queue=caller.can_enter(Action.QUEUE_JOBS),
    )


def _list_facts(desk: Desk, call: Call, known: Known) -> Iterator[Fact]:
    caller = call.signed_in
    if caller.can_enter(Action.VIEW_DATA):
        runnable = sum(line.is_ready for line in known.benchmarks)
        samples = sum(line.is_sample for line in known.benchmarks)
        words = f"{runnable} of {len(known.benchmarks)} can be run"
        if samples:
            words += f", {samples} of them on a sample only"
        yield Fact("Benchmarks", words, "/benchmarks")
    if caller.can_enter(Action.VIEW_MODELS):
        yield Fact("Models", _describe_models(known), "/models")
    suites = {run.suite for run in known.runs}
    words = f"{format_count(len(known.runs), 'run')} in {format_count(len(suites), 'suite')}"
    yield Fact("Results", words, "/results/index.html")
    if caller.can_enter(Action.VIEW_HEALTH):
        room = find_room(desk.site.directory)
        words = f"{format_size(room.free)} of {format_size(room.total)} are free"
        yield Fact("Disk", words, HEALTH)
    if caller.can_enter(Action.MANAGE_ACCOUNTS):
        accounts = desk.store.accounts.read_all()
        locked = sum(account.locked for account in accounts)
        words = format_count(len(accounts), "account") + (f", {locked} locked" if locked else "")
        yield Fact("People", words, "/accounts")


def _describe_models(known: Known) -> str:
    if known.models.faults:
        return "the file of deployments cannot be read"
    lines = known.models.lines
    if not lines:
        return "none yet"
    usable = sum(line.is_usable for line in lines)
    return f"{usable} of {format_count(len(lines), 'deployment')} can be asked"


def _describe_state(run: Run) -> str:
    return "has not ended" if run.state == "asking" else "ended"
