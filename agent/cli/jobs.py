"""The commands `jobs`: the queue of command lines that run one after another."""

import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from agent.cli.options import format_option
from agent.cli.output import fitting, show_rows, with_site
from agent.cli.queueable import NOT_DISPATCHED
from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.store import Job, Store

_SHOWN_ENDED = 10
_SEARCHED_ENDED = 10_000  # ended jobs among which a shortened id is looked for
_SHORTEST_ID = 4
_WATCH_EVERY_S = 1.0
_STDERR = 2  # the descriptor of standard error
_REMAINING_ARGUMENTS = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@click.group()
def jobs() -> None:
    """Show and change the queue of jobs.

    A job is a command line of this site that runs in a process of its own. `run`, `judge` and `rescore` queue one with
    --queue. Jobs that need the same inference server run one after another.
    """


@jobs.command("list")
@click.option(
    "--ended",
    type=click.IntRange(0),
    default=_SHOWN_ENDED,
    show_default=True,
    help="Number of ended jobs to show.",
)
@format_option()
@click.pass_obj
def list_command(site: Site, ended: int, form: str) -> None:
    """List open jobs in their order, then those that ended last."""
    from agent.jobs.dispatcher import is_dispatched

    with site.store() as store:
        open_jobs = store.jobs.list_open()
        shown = [*open_jobs, *store.jobs.list_recent(ended)]
        rows = [_build_row(site, store, job, open_jobs) for job in shown]
    if form == "json":
        show_rows(rows, {}, form)
        return
    if not rows:
        click.echo(with_site("The queue is empty; `intramural run ... --queue` adds a job."))
        return
    for row in rows:
        row["shown"] = f"{row['title']}; {row['note']}" if row["note"] else row["title"]
    columns = {
        "id": "Job",
        "state": "State",
        "account": "By",
        "queued": "Queued",
        "shown": "Title and progress",
    }
    show_rows(rows, fitting(rows, columns, ("account", "queued"), folds=True), form, folds=True)
    if open_jobs and not is_dispatched(site):
        click.echo(with_site(NOT_DISPATCHED), err=True)


@jobs.command("show")
@click.argument("job_id", metavar="ID")
@format_option()
@click.pass_obj
def show_command(site: Site, job_id: str, form: str) -> None:
    """Show one job. ID may be shortened."""
    import shlex

    with site.store() as store:
        job = find_job(store, job_id)
        row = _build_row(site, store, job, store.jobs.list_open())
    row |= {
        "command": shlex.join(("intramural", *job.arguments)),
        "folder": job.command.folder,
        "started": _format_time(job.started_at),
        "ended": _format_time(job.ended_at),
        "exit_code": job.exit_code,
        "attempts": job.attempts,
        "schedule": job.schedule_id,
    }
    if form == "json":
        show_rows([row], {}, form)
        return
    for key, value in row.items():
        if value not in (None, ""):
            click.echo(f"{key.replace('_', ' ') + ':':<11}{printable(str(value))}")


@jobs.command("log")
@click.argument("job_id", metavar="ID")
@click.pass_obj
def log_command(site: Site, job_id: str) -> None:
    """Print the output of a job. ID may be shortened."""
    from agent.jobs.logs import read_log

    with site.store() as store:
        job = find_job(store, job_id)
    for line in read_log(site, job.job_id).splitlines():
        click.echo(printable(line))


@jobs.command("watch")
@click.argument("job_id", metavar="ID")
@click.pass_obj
def watch_command(site: Site, job_id: str) -> None:
    """Show the progress of a job until it ends. ID may be shortened.

    The exit code is that of the job; 1 if it was cancelled or could not be run. Ctrl-C ends the display, not the job.
    """
    from agent.cli.job_watch import JobWatch

    with site.store() as store:
        job_id = find_job(store, job_id).job_id
        watch = JobWatch(site, sys.stderr)
        try:
            while not watch.show(store, job_id):
                time.sleep(_WATCH_EVERY_S)
        except KeyboardInterrupt:
            click.echo(f"\nJob {job_id} goes on; only the display has ended.", err=True)
            return
    raise click.exceptions.Exit(watch.exit_code)


@jobs.command("cancel")
@click.argument("job_id", metavar="ID")
@click.pass_obj
def cancel_command(site: Site, job_id: str) -> None:
    """Cancel a job. ID may be shortened.

    A running job stops within a minute. The answers that it has stored are kept.
    """
    with site.store() as store:
        job = find_job(store, job_id)
        if not store.jobs.cancel(job.job_id, time.time()):
            raise ConfigError(f"job {job.job_id} has ended already", "There is nothing to cancel.")
        job = find_job(store, job.job_id)
    done = "is cancelled" if not job.state.is_open else "is being stopped"
    click.echo(f"job {job.job_id} {done}")


@jobs.command("move")
@click.argument("job_id", metavar="ID")
@click.option("--before", metavar="ID", help="The queued job that it is to precede.")
@click.option("--last", is_flag=True, help="Move it to the end of the queue.")
@click.pass_obj
def move_command(site: Site, job_id: str, before: str | None, last: bool) -> None:
    """Move a queued job. IDs may be shortened."""
    if (before is None) == (not last):
        raise click.UsageError("give --before ID or --last")
    with site.store() as store:
        job = find_job(store, job_id)
        next_id = None if before is None else find_job(store, before).job_id
        if not store.jobs.move(job.job_id, next_id):
            raise ConfigError(
                "only queued jobs can be moved, and only before other queued jobs",
                "See `intramural jobs list`.",
            )
    where = "to the end" if next_id is None else f"before {next_id}"
    click.echo(f"job {job.job_id} moved {where}")


@jobs.command("retry")
@click.argument("job_id", metavar="ID")
@click.pass_obj
def retry_command(site: Site, job_id: str) -> None:
    """Queue an ended job again. ID may be shortened.

    A run resumes where it stopped, and asks for no answer that is stored.
    """
    from agent.jobs.queue import retry_job

    with site.store() as store:
        job = retry_job(store, find_job(store, job_id))
    click.echo(f"queued as job {job.job_id}: {printable(job.title)}")


@jobs.command("dispatch")
@click.pass_obj
def dispatch_command(site: Site) -> None:
    """Work off the queue until Ctrl-C, without pages.

    Running jobs are then stopped and stay in the queue.
    """
    import signal

    from agent.jobs.dispatcher import Dispatcher

    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    with Dispatcher(site, note=_print_note):
        click.echo("Working off the queue; stop it with Ctrl-C.")
        stopped.wait()
        click.echo("Stopping; running jobs stay in the queue.")


@jobs.command("work", hidden=True)
@click.argument("job_id", metavar="ID")
@click.option("--lifeline", is_flag=True, help="Stop when standard input ends.")
@click.pass_obj
def work_command(site: Site, job_id: str, lifeline: bool) -> None:
    """Run one job of the queue in this process. The dispatcher starts this command."""
    from agent.cli.main import run_command_line
    from agent.cli.unread import hide_examples
    from agent.jobs.worker import Worker
    from agent.monitoring.log import list_child_options, name_job

    log_options = list_child_options(_STDERR)

    def run_job(arguments: Sequence[str]) -> int:
        return run_command_line([*log_options, *arguments])

    with name_job(job_id), hide_examples():  # the output is kept in a file
        Worker(site, job_id, run_job).work(lifeline=lifeline)


@jobs.group()
def schedule() -> None:
    """Queue command lines at the times of a cron expression."""


@schedule.command("add", context_settings=_REMAINING_ARGUMENTS)
@click.option(
    "--cron",
    required=True,
    help='Minute, hour, day, month and weekday in local time: "0 3 * * *" is daily at 3, "0 20 * * FRI" on Fridays '
    "at 20.",
)
@click.argument("arguments", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND...")
@click.pass_obj
def add_schedule_command(site: Site, cron: str, arguments: Sequence[str]) -> None:
    """Queue a command line at the times of a cron expression.

    COMMAND is a command line such as `run --suite weekly --conf-paths FILE`. While an earlier job of the schedule is
    queued or running, no further one is added.
    """
    from agent.jobs.cron import find_next_time
    from agent.jobs.queue import add_schedule

    added = add_schedule(site, cron, arguments, files_allowed=True)
    next_time = _format_time(find_next_time(added.cron, time.time()))
    click.echo(f"schedule {added.schedule_id}, for the first time at {next_time}")


@schedule.command("list")
@format_option()
@click.pass_obj
def list_schedules_command(site: Site, form: str) -> None:
    """List the schedules."""
    from agent.jobs.cron import find_next_time

    now = time.time()
    rows = []
    with site.store() as store:
        for each in store.jobs.list_schedules():
            rows.append(
                {
                    "id": each.schedule_id,
                    "cron": each.cron,
                    "next": _format_time(find_next_time(each.cron, now)),
                    "account": _name_account(store, each.command.account),
                    "title": each.command.title,
                }
            )
    if not rows and form != "json":
        click.echo("There is no schedule.")
        return
    columns = {
        "id": "Schedule",
        "cron": "Cron",
        "next": "Next",
        "account": "By",
        "title": "Title",
    }
    show_rows(rows, fitting(rows, columns, ("account",), folds=True), form, folds=True)


@schedule.command("remove")
@click.argument("schedule_id", metavar="ID")
@click.pass_obj
def remove_schedule_command(site: Site, schedule_id: str) -> None:
    """Remove a schedule. ID may be shortened. Its jobs stay."""
    with site.store() as store:
        ids = [each.schedule_id for each in store.jobs.list_schedules()]
        full_id = _complete_id(schedule_id, ids, "schedule")
        store.jobs.remove_schedule(full_id)
    click.echo(f"schedule {full_id} removed")


def find_job(store: "Store", job_id: str) -> "Job":
    """Return the job with this id, of which the beginning is enough.

    Raises:
        ConfigError: there is none, or there are several.
    """
    job = store.jobs.find(job_id)
    if job is not None:
        return job
    every = [*store.jobs.list_open(), *store.jobs.list_recent(_SEARCHED_ENDED)]
    by_id = {each.job_id: each for each in every}
    return by_id[_complete_id(job_id, list(by_id), "job")]


def _complete_id(shortened: str, ids: Sequence[str], noun: str) -> str:
    matches = [each for each in ids if each.startswith(shortened)]
    if shortened in ids:
        return shortened
    if len(matches) == 1 and len(shortened) >= _SHORTEST_ID:
        return matches[0]
    problem = f"several {noun}s have ids that begin with" if matches else f"no {noun} has the id"
    if matches and len(shortened) < _SHORTEST_ID:
        problem = f"give at least {_SHORTEST_ID} characters of the {noun}'s id, not"
    raise ConfigError(
        f"{problem} {printable(shortened)}",
        "See `intramural jobs list`." if noun == "job" else "See `intramural jobs schedule list`.",
    )


def _build_row(
    site: Site, store: "Store", job: "Job", open_jobs: "Sequence[Job]"
) -> dict[str, Any]:
    return {
        "id": job.job_id,
        "state": job.state.value,
        "title": job.title,
        "account": _name_account(store, job.account),
        "queued": _format_time(job.queued_at),
        "note": _describe_now(site, job, open_jobs),
    }


def _name_account(store: "Store", account_id: str) -> str:
    """Return the name of an account; jobs of the command line have none, and keep their word for it."""
    account = store.accounts.find_id(account_id)
    return account_id if account is None else account.name


def _describe_now(site: Site, job: "Job", open_jobs: "Sequence[Job]") -> str:
    """Return the progress of a running job, why a queued one waits, or why an ended one failed."""
    from agent.cli.job_watch import read_report
    from agent.jobs.turns import TurnLimits, explain_waiting
    from agent.store import JobState

    if job.state is JobState.QUEUED:
        limits = TurnLimits(site.settings.jobs_at_once, site.settings.runs_per_server)
        return explain_waiting(job, open_jobs, limits)
    if job.state.is_open and job.progress is not None:
        return read_report(job.progress, time.time()).write_line()
    return job.problem


def _format_time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _print_note(note: str) -> None:
    click.echo(f"{time.strftime('%H:%M:%S')} {printable(note)}")
