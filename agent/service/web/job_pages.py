"""The pages of the queue: all jobs, and one job with its progress and what it printed."""

import shlex
import time
from collections.abc import Mapping

from starlette.responses import Response

from agent.access.roles import Action
from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.jobs.logs import read_log
from agent.service.web.call import Call
from agent.service.web.service import Desk, redirect
from agent.store.jobs import Job, JobState

_ENDED_SHOWN = 50
_LOG_SHOWN = 64 * 1024  # bytes at the end of a log


def list_jobs(desk: Desk, call: Call) -> Response:
    """Show the jobs that are running or waiting, and those that ended last."""
    return desk.draw(
        "jobs.html",
        call,
        open=desk.store.jobs.list_open(),
        ended=desk.store.jobs.list_recent(_ENDED_SHOWN),
        names=name_accounts(desk),
        can_queue=call.signed_in.can_enter(Action.QUEUE_JOBS),
    )


def show_job(desk: Desk, call: Call) -> Response:
    """Show one job. Its command and what it printed are for those who may change it."""
    job = find_job(desk, call.path["job_id"])
    can_change = call.signed_in.may(Action.CHANGE_JOBS, job.account)
    return desk.draw(
        "job.html",
        call,
        job=job,
        names=name_accounts(desk),
        can_change=can_change,
        command=shlex.join(("intramural", *job.arguments)) if can_change else "",
        log=_read_log(desk, job.job_id) if can_change else None,
    )


def _read_log(desk: Desk, job_id: str) -> str:
    """Return the end of what a job printed, without control characters."""
    lines = read_log(desk.site, job_id, _LOG_SHOWN).splitlines()
    return "\n".join(map(printable, lines))


def cancel(desk: Desk, call: Call) -> Response:
    """Cancel a job, or ask for a running one to be stopped."""
    job = find_job(desk, call.path["job_id"])
    if desk.store.jobs.cancel(job.job_id, time.time()):
        desk.store.audit.record(
            "job cancelled", f"job={job.job_id} account={call.signed_in.account.account_id}"
        )
    return redirect(f"/jobs/{job.job_id}")


def move_first(desk: Desk, call: Call) -> Response:
    """Move a waiting job before all other waiting ones."""
    job = find_job(desk, call.path["job_id"])
    waiting = [other for other in desk.store.jobs.list_open() if other.state is JobState.QUEUED]
    if waiting and waiting[0].job_id != job.job_id:
        desk.store.jobs.move(job.job_id, waiting[0].job_id)
    return redirect(f"/jobs/{job.job_id}")


def find_owner(desk: Desk, call: Call) -> str | None:
    """Return the account that queued the job of a route."""
    job = desk.store.jobs.find(call.path["job_id"])
    return None if job is None else job.account


def find_job(desk: Desk, job_id: str) -> Job:
    """Return the job with this id.

    Raises:
        ConfigError: there is none.
    """
    job = desk.store.jobs.find(job_id)
    if job is None:
        raise ConfigError("there is no such job", "Choose one from the list of jobs.")
    return job


def name_accounts(desk: Desk) -> Mapping[str, str]:
    """Return the names of all accounts by id."""
    return {account.account_id: account.name for account in desk.store.accounts.read_all()}
