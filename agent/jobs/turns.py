"""Decide which queued jobs may start. Pure: no clock, processes or files.

Jobs start in their order. A job that has to wait for a server keeps its turn there: later jobs that need the same
server wait behind it, and others pass.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agent.io.wording import format_count
from agent.store import Job, JobState


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """How much may run at the same time.

    Attributes:
        jobs_at_once: maximum jobs.
        runs_per_server: maximum jobs that ask the same inference server.
    """

    jobs_at_once: int
    runs_per_server: int


def choose_next(
    jobs: Sequence[Job], limits: TurnLimits, starting: Collection[str] = ()
) -> list[Job]:
    """Return the queued jobs that may start now, in order.

    Args:
        jobs: the open jobs, in their order.
        limits: how much may run at the same time.
        starting: ids of queued jobs whose process has been started already.
    """
    busy: list[Job] = []
    queued: list[Job] = []
    for job in jobs:
        is_waiting = job.state is JobState.QUEUED and job.job_id not in starting
        (queued if is_waiting else busy).append(job)
    chosen: list[Job] = []
    waiting: list[Job] = []
    for job in queued:
        has_room = len(busy) + len(chosen) < limits.jobs_at_once
        if has_room and not _find_blockers(job, [*busy, *chosen, *waiting], limits):
            chosen.append(job)
        else:
            waiting.append(job)
    return chosen


def explain_waiting(job: Job, jobs: Sequence[Job], limits: TurnLimits) -> str:
    """Return why a queued job does not run yet, as a clause that begins with "waits"; empty if it may start.

    Args:
        job: one of `jobs`.
        jobs: the open jobs, in their order.
        limits: how much may run at the same time.
    """
    running = [other for other in jobs if other.state is not JobState.QUEUED]
    earlier = []
    for other in jobs:
        if other.state is JobState.QUEUED and other.place < job.place:
            earlier.append(other)
    blockers = _find_blockers(job, [*running, *earlier], limits)
    if blockers:
        return f"waits for job {blockers[0].job_id}"
    if len(running) >= limits.jobs_at_once:
        return f"waits: {format_count(len(running), 'job')} of at most {limits.jobs_at_once} at once running"
    return ""


def _find_blockers(job: Job, others: Sequence[Job], limits: TurnLimits) -> list[Job]:
    """Return the jobs that must end before this one may start; any of them if several share a server."""
    blockers: list[Job] = []
    for server in job.servers:
        users = [other for other in others if server in other.servers]
        if len(users) >= limits.runs_per_server:
            blockers += users
    for other in others:
        shares_suite = bool(job.order.suite) and job.order.suite == other.order.suite
        if shares_suite and (job.order.whole_suite or other.order.whole_suite):
            blockers.append(other)
    return blockers
