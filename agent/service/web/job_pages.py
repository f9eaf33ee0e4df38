"""The pages of the queue: all jobs, and one job with its progress and what it printed."""

import shlex
import time
from collections.abc import Mapping

from starlette.responses import Response

from agent.access.roles import Action
from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.io.wording import format_count
from agent.jobs.logs import read_log
from agent.jobs.turns import TurnLimits, find_waits
from agent.service.pages import suite_slug
from agent.service.web.call import Call
from agent.service.web.queueing import queue_for_caller
from agent.service.web.run_choices import read_choices
from agent.service.web.service import Desk
from agent.service.web.shown_jobs import is_veiled, veil_job, veil_jobs
from agent.store.jobs import Job, JobState

_ENDED_SHOWN = 50
_LOG_SHOWN = 8 * 1024  # bytes at the end of a log, on the job's own page


def list_jobs(desk: Desk, call: Call) -> Response:
    """Show the jobs that are running or waiting, and those that ended last."""
    jobs = desk.store.jobs.list_open()
    return desk.draw(
        "jobs.html",
        call,
        open=veil_jobs(desk, jobs),
        standstill=desk.service.find_queue_problem(),
        waiting=explain_all_waiting(desk, jobs),
        ended=veil_jobs(desk, desk.store.jobs.list_recent(_ENDED_SHOWN)),
        names=name_accounts(desk),
        can_queue=call.signed_in.can_enter(Action.QUEUE_JOBS),
    )


def show_job(desk: Desk, call: Call) -> Response:
    """Show one job. Its command and what it printed are for those who may change it."""
    job = find_job(desk, call.path["job_id"])
    caller = call.signed_in
    can_change = caller.may(Action.CHANGE_JOBS, job.account)
    can_read = can_change and not is_veiled(desk, job.command)
    can_repeat = can_read and caller.can_enter(Action.QUEUE_JOBS)
    shown = veil_job(desk, job)
    return desk.draw(
        "job.html",
        call,
        job=shown,
        results_path=_find_results(desk, shown),
        standstill=desk.service.find_queue_problem(),
        waiting=explain_all_waiting(desk, desk.store.jobs.list_open()),
        names=name_accounts(desk),
        can_change=can_change,
        can_repeat=can_repeat,
        can_choose_again=can_repeat and read_choices(desk, job) is not None,
        command=shlex.join(("intramural", *job.arguments)) if can_read else "",
        log=_read_log(desk, job.job_id, _LOG_SHOWN) if can_read else None,
    )


def _find_results(desk: Desk, job: Job) -> str:
    """Return the address of the results of a job's suite; empty if the caller sees none."""
    suite = job.command.suite
    if suite not in desk.store.runs.list_suites():
        return ""
    return f"/results/suites/{suite_slug(suite)}/index.html"


def show_log(desk: Desk, call: Call) -> Response:
    """Show everything that a job printed."""
    job = find_readable_job(desk, call.path["job_id"])
    return desk.draw("job_log.html", call, job=job, log=_read_log(desk, job.job_id))


def cancel(desk: Desk, call: Call) -> Response:
    """Cancel a job, or ask for a running one to be stopped."""
    job = find_job(desk, call.path["job_id"])
    words = "The job had ended already."
    if desk.store.jobs.cancel(job.job_id, time.time()):
        desk.store.audit.record(
            "job cancelled", f"job={job.job_id} account={call.signed_in.account.account_id}"
        )
        is_running = job.state is not JobState.QUEUED
        words = "The job stops within a minute." if is_running else "The job is cancelled."
    return desk.confirm(call, f"/jobs/{job.job_id}", words)


def move_first(desk: Desk, call: Call) -> Response:
    """Move a waiting job before all other waiting ones."""
    job = find_job(desk, call.path["job_id"])
    waiting = [other for other in desk.store.jobs.list_open() if other.state is JobState.QUEUED]
    if waiting and waiting[0].job_id != job.job_id:
        desk.store.jobs.move(job.job_id, waiting[0].job_id)
    return _confirm_move(desk, call, job, "The job is the first of those that wait.")


def move_last(desk: Desk, call: Call) -> Response:
    """Move a waiting job behind all other waiting ones."""
    job = find_job(desk, call.path["job_id"])
    desk.store.jobs.move(job.job_id, None)
    return _confirm_move(desk, call, job, "The job is the last of those that wait.")


def _confirm_move(desk: Desk, call: Call, job: Job, words: str) -> Response:
    if find_job(desk, job.job_id).state is not JobState.QUEUED:
        words = "The job does not wait any more, so nothing was changed."
    return desk.confirm(call, f"/jobs/{job.job_id}", words)


def retry(desk: Desk, call: Call) -> Response:
    """Queue an ended job again, in the name of who asks. It resumes where it stopped."""
    job = find_readable_job(desk, call.path["job_id"])
    if job.state.is_open:
        raise ConfigError("this job has not ended", "Wait until it has ended, or cancel it.")
    check_may_queue(call)
    again = queue_for_caller(desk, call, job.arguments, job.title)
    return desk.confirm(call, f"/jobs/{again.job_id}", "The job is queued again, as this new one.")


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


def find_readable_job(desk: Desk, job_id: str) -> Job:
    """Return the job with this id, whose command line the caller may know.

    Raises:
        ConfigError: there is no such job, or it is about a private run of somebody else.
    """
    job = find_job(desk, job_id)
    if is_veiled(desk, job.command):
        raise ConfigError(
            "this job is about a private run", "Its owner can show the run to others."
        )
    return job


def check_may_queue(call: Call) -> None:
    """Check that the caller may queue jobs, on a route of those who may change them. Raises ConfigError."""
    if not call.signed_in.can_enter(Action.QUEUE_JOBS):
        raise ConfigError(
            "your account may not queue jobs", "Data scientists can; ask one of them."
        )


def name_accounts(desk: Desk) -> Mapping[str, str]:
    """Return the names of all accounts by id."""
    return {account.account_id: account.name for account in desk.store.accounts.read_all()}


def explain_all_waiting(desk: Desk, jobs: list[Job]) -> Mapping[str, str]:
    """Return why each queued job does not run yet, by its id, in words for the caller.

    Args:
        desk: where the caller asks.
        jobs: the open jobs, in their order.
    """
    settings = desk.site.settings
    limits = TurnLimits(settings.jobs_at_once, settings.runs_per_server)
    words: dict[str, str] = {}
    for job_id, wait in find_waits(jobs, limits).items():
        if wait.job is None:
            words[job_id] = f"waits: {format_count(limits.jobs_at_once, 'job')} may run at once"
        elif is_veiled(desk, wait.job.command):
            words[job_id] = "waits for a private run"
        else:
            words[job_id] = f"waits for “{wait.job.title}”, which {wait.reason}"
    return words


def _read_log(desk: Desk, job_id: str, max_bytes: int | None = None) -> str:
    """Return the end of what a job printed, without control characters."""
    log = (
        read_log(desk.site, job_id) if max_bytes is None else read_log(desk.site, job_id, max_bytes)
    )
    return "\n".join(map(printable, log.splitlines()))
