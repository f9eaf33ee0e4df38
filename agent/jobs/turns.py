"""Decide which queued jobs may start. Pure: no clock, processes or files.

Jobs start in their order. A job that has to wait for a server keeps its turn there: later jobs that need the same
server wait behind it, and others pass.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

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
        if claims.find_wait(job) is None:
            chosen.append(job)
        claims.add(job)
    return chosen


class WaitReason(StrEnum):
    """The reason why a queued job does not run yet, in words about the job for which it waits."""

    SAME_SERVER = "asks the same inference server"
    SAME_SUITE = "works on the same suite"
    LIMIT = "is one of as many as may run at once"


@dataclass(frozen=True, slots=True)
class Wait:
    """Why a queued job does not run yet.

    Attributes:
        reason: the reason.
        job: the job that has to end first; None if any running one may.
    """

    reason: WaitReason
    job: Job | None = None


def explain_waiting(job: Job, jobs: Sequence[Job], limits: TurnLimits) -> str:
    """Return why a queued job does not run yet, as a clause that begins with "waits"; empty if it may start.

    For the arguments see `find_wait`.
    """
    wait = find_wait(job, jobs, limits)
    if wait is None:
        return ""
    if wait.job is not None:
        return f"waits for job {wait.job.job_id}, which {wait.reason}"
    running = sum(other.state is not JobState.QUEUED for other in jobs)
    return f"waits: {format_count(running, 'job')} of at most {limits.jobs_at_once} at once running"


def find_wait(job: Job, jobs: Sequence[Job], limits: TurnLimits) -> Wait | None:
    """Return why a queued job does not run yet; None if it may start.

    Args:
        job: one of `jobs`.
        jobs: the open jobs, in their order.
        limits: how much may run at the same time.
    """
    return find_waits(jobs, limits).get(job.job_id)


def find_waits(jobs: Sequence[Job], limits: TurnLimits) -> dict[str, Wait]:
    """Return why queued jobs do not run yet, by their ids; for the arguments see `find_wait`."""
    claims = _Claims(limits)
    running = [job for job in jobs if job.state is not JobState.QUEUED]
    for job in running:
        claims.add(job)
    waits: dict[str, Wait] = {}
    for job in jobs:
        if job.state is not JobState.QUEUED:
            continue
        wait = claims.find_wait(job)
        if wait is None and len(running) >= limits.jobs_at_once:
            wait = Wait(WaitReason.LIMIT)
        if wait is not None:
            waits[job.job_id] = wait
        claims.add(job)
    return waits


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

    def find_wait(self, job: Job) -> Wait | None:
        """Return the job that has to end before this one may start, with the reason; None if there is none."""
        for server in job.servers:
            users = self._by_server.get(server, [])
            if len(users) >= self._limits.runs_per_server:
                return Wait(WaitReason.SAME_SERVER, users[0])
        by_suite = self._by_suite if job.command.whole_suite else self._whole_suites
        others = by_suite.get(job.command.suite, [])
        return Wait(WaitReason.SAME_SUITE, others[0]) if others else None
