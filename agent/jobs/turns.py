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
    claims = _Claims(limits)
    queued: list[Job] = []
    room = limits.jobs_at_once
    for job in jobs:
        if job.state is JobState.QUEUED and job.job_id not in starting:
            queued.append(job)
        else:
            claims.add(job)
            room -= 1
    chosen: list[Job] = []
    for job in queued:
        if len(chosen) >= room:
            break
        if claims.find_blocker(job) is None:
            chosen.append(job)
        claims.add(job)
    return chosen


def explain_waiting(job: Job, jobs: Sequence[Job], limits: TurnLimits) -> str:
    """Return why a queued job does not run yet, as a clause that begins with "waits"; empty if it may start.

    Args:
        job: one of `jobs`.
        jobs: the open jobs, in their order.
        limits: how much may run at the same time.
    """
    claims = _Claims(limits)
    running = [other for other in jobs if other.state is not JobState.QUEUED]
    for other in running:
        claims.add(other)
    for other in jobs:
        if other.state is JobState.QUEUED and other.place < job.place:
            claims.add(other)
    blocker = claims.find_blocker(job)
    if blocker is not None:
        return f"waits for job {blocker.job_id}"
    if len(running) >= limits.jobs_at_once:
        return f"waits: {format_count(len(running), 'job')} of at most {limits.jobs_at_once} at once running"
    return ""


class _Claims:
    """The servers and suites of jobs that run, or wait in front."""

    def __init__(self, limits: TurnLimits) -> None:
        self._limits = limits
        self._by_server: dict[str, list[Job]] = {}
        self._by_suite: dict[str, list[Job]] = {}
        self._whole_suites: dict[str, list[Job]] = {}

    def add(self, job: Job) -> None:
        """Add the claims of a job."""
        for server in job.servers:
            self._by_server.setdefault(server, []).append(job)
        suite = job.command.suite
        if suite:
            self._by_suite.setdefault(suite, []).append(job)
        if suite and job.command.whole_suite:
            self._whole_suites.setdefault(suite, []).append(job)

    def find_blocker(self, job: Job) -> Job | None:
        """Return a job that has to end before this one may start; None if there is none."""
        for server in job.servers:
            users = self._by_server.get(server, [])
            if len(users) >= self._limits.runs_per_server:
                return users[0]
        by_suite = self._by_suite if job.command.whole_suite else self._whole_suites
        others = by_suite.get(job.command.suite, [])
        return others[0] if others else None
