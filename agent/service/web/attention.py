"""What needs somebody's attention, for the first page: for each role what it can attend to."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from agent.access.roles import Action
from agent.delivery.outbox import State
from agent.disclosure.restored_site import describe_restoration, find_open_restoration
from agent.errors import AgentError
from agent.io.disk_room import find_room, is_nearly_full
from agent.io.wording import format_count, format_size
from agent.jobs.dispatcher import is_dispatched
from agent.service.web.authors import list_visible
from agent.service.web.call import Call
from agent.service.web.catalog_pages import BenchmarkLine, list_broken
from agent.service.web.model_lines import Models
from agent.service.web.service import Desk
from agent.service.web.shown_jobs import veil_job
from agent.service.web.site_pages import HEALTH
from agent.service.web.waiting_requests import list_waiting_requests
from agent.store import Job, JobState, Role, Run

_RECENT_JOBS: Final = 20
_RECENT_S: Final = 7 * 86_400.0
_SPOILT: Final = frozenset({"changed", "not attested", "cannot be read"})
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class AttentionPoint:
    """Something that needs attention, with the page on which to attend to it."""

    words: str
    path: str


@dataclass(frozen=True, slots=True)
class Known:
    """What the first page has read already."""

    benchmarks: Sequence[BenchmarkLine]
    models: Models
    runs: Sequence[Run]
    open_jobs: Sequence[Job]


def list_points(desk: Desk, call: Call, known: Known) -> Iterator[AttentionPoint]:
    """Yield what needs the caller's attention, the most urgent first."""
    caller = call.signed_in
    if caller.can_enter(Action.VIEW_HEALTH):
        yield from _list_clock(desk)
        yield from _list_machine(desk, known)
    if caller.can_enter(Action.MANAGE_KEYS):
        yield from _list_restored(desk)
    if caller.can_enter(Action.MANAGE_ACCOUNTS):
        yield from _list_accounts(desk)
    if caller.can_enter(Action.VIEW_OUTBOX):
        yield from _list_drafts(desk, call)
    if caller.can_enter(Action.APPROVE_SUBMISSIONS):
        yield from _list_key_requests(desk)
    yield from _list_failed_jobs(desk, call)
    yield from _list_unfinished(call, known)
    if caller.can_enter(Action.VIEW_MODELS):
        yield from _list_models(known.models)
    if caller.can_enter(Action.VIEW_DATA):
        yield from _list_data(desk, known.benchmarks)


def _list_machine(desk: Desk, known: Known) -> Iterator[AttentionPoint]:
    room = find_room(desk.site.directory)
    if is_nearly_full(room):
        yield AttentionPoint(f"The disk is nearly full: {format_size(room.free)} are free.", HEALTH)
    if known.open_jobs and not is_dispatched(desk.site):
        yield AttentionPoint("Jobs wait, and nothing works off the queue.", "/jobs")
    report = desk.service.health.report
    if report is not None and (failed := len(report.select("failed"))):
        yield AttentionPoint(f"{format_count(failed, 'check')} of the site failed.", HEALTH)


def _list_restored(desk: Desk) -> Iterator[AttentionPoint]:
    restoration = find_open_restoration(desk.site, desk.store)
    if restoration is not None:
        sentence = describe_restoration(restoration)
        yield AttentionPoint(
            f"{sentence[0].upper()}{sentence[1:]}. Nothing is submitted.", "/federation/reset"
        )


def _list_clock(desk: Desk) -> Iterator[AttentionPoint]:
    fault = desk.store.clock.find_fault()
    if fault is not None:
        sentence = fault.describe()
        yield AttentionPoint(f"{sentence[0].upper()}{sentence[1:]}.", HEALTH)


def _list_accounts(desk: Desk) -> Iterator[AttentionPoint]:
    accounts = [account for account in desk.store.accounts.read_all() if not account.locked]
    held = {role for account in accounts for role in account.roles}
    if Role.DATA_SCIENTIST not in held:
        yield AttentionPoint(
            "Nobody can run anything: no account is a data scientist.", "/accounts"
        )
    if Role.STEWARD not in held:
        yield AttentionPoint(
            "Nobody can approve a submission: no account is a steward.", "/accounts"
        )
    administrators = sum(Role.ADMINISTRATOR in account.roles for account in accounts)
    if administrators == 1:
        yield AttentionPoint(
            "There is only one administrator, whom nobody could unlock. Add a second one.",
            "/accounts",
        )


def _list_drafts(desk: Desk, call: Call) -> Iterator[AttentionPoint]:
    try:
        submissions = list_visible(desk, call)
    except AgentError as error:
        yield AttentionPoint(f"The outbox cannot be read: {error}.", "/outbox")
        return
    waiting = sum(item.state is State.PREPARED for item in submissions)
    if not waiting:
        return
    verb = "waits" if waiting == 1 else "wait"
    if call.signed_in.can_enter(Action.APPROVE_SUBMISSIONS):
        yield AttentionPoint(
            f"{format_count(waiting, 'draft')} {verb} for a steward’s decision.", "/outbox"
        )
    else:
        yield AttentionPoint(
            f"{format_count(waiting, 'draft')} of yours {verb} for the steward.", "/outbox"
        )


def _list_key_requests(desk: Desk) -> Iterator[AttentionPoint]:
    """Yield the requests about keys that no steward has signed yet."""
    try:
        requests = list_waiting_requests(desk)
    except AgentError:
        return  # `_list_drafts` says that the outbox cannot be read
    for request in requests:
        if not request.is_sent:
            subject = "The replacement of a key" if request.kind == "rotate" else "A new epoch"
            words = f"{subject} waits for a steward’s signature."
            yield AttentionPoint(words, f"/outbox/requests/{request.kind}")


def _list_failed_jobs(desk: Desk, call: Call) -> Iterator[AttentionPoint]:
    """Yield the jobs that failed lately and that the caller may start again, unless a later one did the same."""
    done: set[tuple[str, ...]] = {job.arguments for job in desk.store.jobs.list_open()}
    named = 0
    for job in desk.store.jobs.list_recent(_RECENT_JOBS):
        is_superseded = job.arguments in done
        done.add(job.arguments)
        is_old = job.ended_at is None or time.time() - job.ended_at > _RECENT_S
        if job.state is not JobState.FAILED or is_superseded or is_old:
            continue
        if named < _MOST_NAMED and call.signed_in.may(Action.CHANGE_JOBS, job.account):
            named += 1
            yield AttentionPoint(
                f"The job “{veil_job(desk, job).title}” failed.", f"/jobs/{job.job_id}"
            )


def _list_unfinished(call: Call, known: Known) -> Iterator[AttentionPoint]:
    unfinished = [run for run in known.runs if run.state == "asking"]
    if not unfinished or known.open_jobs or not call.signed_in.can_enter(Action.QUEUE_JOBS):
        return
    words = f"{format_count(len(unfinished), 'run')} did not end. Started again, a run continues where it stopped."
    yield AttentionPoint(words, f"/results/runs/{unfinished[0].run_id}/index.html")


def _list_models(models: Models) -> Iterator[AttentionPoint]:
    if models.faults:
        yield AttentionPoint(
            "The file of deployments cannot be read, so no model can be asked.", "/models"
        )
    for line in models.lines:
        if line.has_failed:
            words = (
                f"The server of {line.deployment} could not be used when it was probed, {line.age}."
            )
            yield AttentionPoint(words, f"/models/{quote(line.deployment)}")


def _list_data(desk: Desk, benchmarks: Sequence[BenchmarkLine]) -> Iterator[AttentionPoint]:
    spoilt = [line for line in benchmarks if line.state in _SPOILT]
    for line in spoilt[:_MOST_NAMED]:
        yield AttentionPoint(f"The data of {line.name}: {line.state}.", f"/benchmarks/{line.id}")
    if len(spoilt) > _MOST_NAMED:
        others = format_count(len(spoilt) - _MOST_NAMED, "other benchmark")
        yield AttentionPoint(f"The data of {others} needs attention, too.", "/benchmarks")
    broken = len(list_broken(desk.site))
    if broken:
        words = f"{format_count(broken, 'definition')} of this site’s benchmarks cannot be used."
        yield AttentionPoint(words, "/benchmarks")
