"""The HTTP interface under /api/v1: what pages show, as JSON for programs. Its document is /api/v1/openapi.json."""

import time
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from agent.errors import ConfigError
from agent.service.heads import build_run_head
from agent.service.instance_lists import ScoreRange
from agent.service.instance_views import ALL, InstancesPage
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


class BenchmarkAnswer(_Answer):
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


class RunAnswer(_Answer):
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


OutcomeName = Literal["all", "right", "wrong", "unscored", "lowest", "highest"]
"""Which instances are listed: all in their order, those with an outcome, or all with a score in the order of scores."""
Bound = Annotated[float | None, Query(ge=-1e9, le=1e9, allow_inf_nan=False)]
PageNumber = Annotated[int, Query(ge=1, le=10**8)]


class InstanceText(_Answer):
    """A message of a prompt, redacted."""

    role: str
    text: str


class InstanceLine(_Answer):
    """One instance, counted from 1, with its outcome under the listed metric; texts are redacted, or null if gone."""

    number: int
    outcome: str
    score: float | None
    reason: str
    prompt: list[InstanceText] | None
    answer: str | None


class InstanceList(_Answer):
    """Twenty instances of a run at most, and how many the list has."""

    run_id: str
    metric: str
    label: str
    count: int
    page: int
    pages: int
    instances: list[InstanceLine]


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


def list_benchmarks(desk: Desk, call: Call) -> list[BenchmarkAnswer]:
    """All benchmarks with the state of their data."""
    del call
    return [
        BenchmarkAnswer(
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


def list_runs(desk: Desk, call: Call) -> list[RunAnswer]:
    """All runs, or those of one suite."""
    runs = desk.store.runs.select(call.get("suite") or None)
    lines = []
    for run in runs:
        head = build_run_head(run)
        lines.append(
            RunAnswer(
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


def list_instances(desk: Desk, call: Call) -> InstanceList | None:
    """Instances of a run, twenty a page: by outcome, or with scores from min_score to max_score, lowest first."""
    low, high = call.values["min_score"], call.values["max_score"]
    outcome = call.values["outcome"]
    stem = ALL if outcome == "all" else f"{ALL}-{outcome}"
    if low is not None or high is not None:
        if outcome != "all":
            raise ConfigError(
                "outcome and a range of scores cannot be combined", "Leave one of them out."
            )
        if low is not None and high is not None and low > high:
            raise ConfigError("min_score is above max_score", "Exchange the two.")
        stem = ScoreRange(low, high).stem
    page = call.values["page"]
    view = desk.service.texts.read_list(call.path["run_id"], stem, page, desk.audience)
    return None if view is None else _build_list(view)


def _build_list(view: InstancesPage) -> InstanceList:
    lines: list[InstanceLine] = []
    for shown in view.cases:
        case = shown.case
        prompt = None
        if case.prompt is not None:
            prompt = [InstanceText(role=part.role, text=part.text) for part in case.prompt]
        line = InstanceLine(
            number=case.position + 1,
            outcome=shown.outcome,
            score=shown.score,
            reason=shown.reason_code,
            prompt=prompt,
            answer=case.answer,
        )
        lines.append(line)
    return InstanceList(
        run_id=view.run.id,
        metric=view.metric,
        label=view.label,
        count=view.count,
        page=view.page,
        pages=view.pages,
        instances=lines,
    )


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
