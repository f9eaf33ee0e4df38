"""The HTTP interface under /api/v1: what pages show, as JSON for programs. Its document is /api/v1/openapi.json."""

import time
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, Field

from agent.service.heads import build_run_head
from agent.service.web import catalog_pages
from agent.service.web.call import Call
from agent.service.web.model_lines import read_models
from agent.service.web.queueing import queue_for_caller
from agent.service.web.service import Desk
from agent.service.web.shown_jobs import veil_job
from agent.store.jobs import Job

_JOBS_SHOWN = 100


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Me(_Answer):
    """Who asks, and what they may do."""

    name: str
    roles: list[str]
    actions: list[str]


class BenchmarkLine(_Answer):
    """One benchmark with the state of its data."""

    id: str
    name: str
    category: str
    access: str
    metric: str
    subsets: list[str]
    state: str
    detail: str


class DeploymentLine(_Answer):
    """One deployment."""

    deployment: str
    model: str
    served_by: str
    state: str
    runs: int


class RunLine(_Answer):
    """One run."""

    run_id: str
    suite: str
    name: str
    benchmark: str
    model: str
    deployment: str
    state: str
    began: datetime
    private: bool


class ProgressLine(_Answer):
    """The progress of a running job."""

    label: str
    phase: str
    done: int
    failed: int
    unscored: int
    total: int
    seconds: float
    left: str


class JobLine(_Answer):
    """One job of the queue."""

    job_id: str
    title: str
    account: str
    state: str
    queued: datetime
    started: datetime | None
    ended: datetime | None
    exit_code: int | None
    problem: str
    attempts: int
    progress: ProgressLine | None


class NewJob(BaseModel):
    """A command line for the queue, without `intramural --site DIR`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    arguments: list[str] = Field(min_length=1, max_length=2000)
    title: str = Field("", max_length=200)


def show_me(desk: Desk, call: Call) -> Me:
    """Who asks, and what they may do."""
    from agent.access.roles import Action

    del desk
    caller = call.signed_in
    return Me(
        name=caller.account.name,
        roles=sorted(caller.account.roles),
        actions=sorted(action for action in Action if caller.can_enter(action)),
    )


def list_benchmarks(desk: Desk, call: Call) -> list[BenchmarkLine]:
    """All benchmarks with the state of their data."""
    del call
    return [
        BenchmarkLine(
            id=line.id,
            name=line.name,
            category=line.category,
            access=line.access,
            metric=line.metric,
            subsets=list(line.subsets),
            state=line.state,
            detail=line.detail,
        )
        for line in catalog_pages.read_benchmarks(desk.site)
    ]


def list_deployments(desk: Desk, call: Call) -> list[DeploymentLine]:
    """All deployments; no server is asked."""
    del call
    return [
        DeploymentLine(
            deployment=line.deployment,
            model=line.model,
            served_by=line.served_by,
            state=line.state,
            runs=line.runs,
        )
        for line in read_models(desk).lines
    ]


def list_runs(desk: Desk, call: Call) -> list[RunLine]:
    """All runs, or those of one suite."""
    runs = desk.store.runs.select(call.get("suite") or None)
    lines = []
    for run in runs:
        head = build_run_head(run)
        lines.append(
            RunLine(
                run_id=run.run_id,
                suite=run.suite,
                name=run.name,
                benchmark=run.benchmark,
                model=run.model,
                deployment=run.deployment,
                state=run.state,
                began=head.began,
                private=run.is_private,
            )
        )
    return lines


def list_jobs(desk: Desk, call: Call) -> list[JobLine]:
    """The jobs that are running or waiting in their order, then those that ended last."""
    del call
    jobs = [*desk.store.jobs.list_open(), *desk.store.jobs.list_recent(_JOBS_SHOWN)]
    return [_build_job(desk, job) for job in jobs]


def show_job(desk: Desk, call: Call) -> JobLine | None:
    """One job."""
    job = desk.store.jobs.find(call.path["job_id"])
    return None if job is None else _build_job(desk, job)


def queue_job(desk: Desk, call: Call, body: NewJob) -> JobLine:
    """Queue a command line of those that may be queued."""
    return _build_job(desk, queue_for_caller(desk, call, body.arguments, body.title))


def cancel_job(desk: Desk, call: Call) -> JobLine | None:
    """Cancel a job, or ask for a running one to be stopped."""
    job_id = call.path["job_id"]
    if desk.store.jobs.cancel(job_id, time.time()):
        account = call.signed_in.account.account_id
        desk.store.audit.record("job cancelled", f"job={job_id} account={account}")
    return show_job(desk, call)


def _build_job(desk: Desk, job: Job) -> JobLine:
    """Return a job as the caller may see it."""
    job = veil_job(desk, job)
    at = job.progress
    return JobLine(
        job_id=job.job_id,
        title=job.title,
        account=job.account,
        state=job.state.value,
        queued=_convert_time(job.queued_at),
        started=None if job.started_at is None else _convert_time(job.started_at),
        ended=None if job.ended_at is None else _convert_time(job.ended_at),
        exit_code=job.exit_code,
        problem=job.problem,
        attempts=job.attempts,
        progress=None
        if at is None
        else ProgressLine(
            label=at.label,
            phase=at.phase,
            done=at.done,
            failed=at.failed,
            unscored=at.unscored,
            total=at.total,
            seconds=at.seconds,
            left=at.left,
        ),
    )


def _convert_time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
