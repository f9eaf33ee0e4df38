"""Jobs and schedules as a caller may see them. Of somebody else's private run, only that there is a job."""

from collections.abc import Sequence
from dataclasses import replace

from agent.service.web.service import Desk
from agent.store import COMMAND_LINE, Job, QueuedCommand, Schedule

PRIVATE_TITLE = "Private run"


def veil_job(desk: Desk, job: Job) -> Job:
    """Return a job as the caller may see it."""
    if not is_veiled(desk, job.command):
        return job
    progress = job.progress and replace(job.progress, label="")
    return replace(job, command=_hide(job.command), progress=progress)


def veil_jobs(desk: Desk, jobs: Sequence[Job]) -> list[Job]:
    """Return jobs as the caller may see them."""
    return [veil_job(desk, job) for job in jobs]


def veil_schedule(desk: Desk, schedule: Schedule) -> Schedule:
    """Return a schedule as the caller may see it."""
    if not is_veiled(desk, schedule.command):
        return schedule
    return replace(schedule, command=_hide(schedule.command))


def is_veiled(desk: Desk, command: QueuedCommand) -> bool:
    """Return whether the words of a job could tell about a private run that the caller may not see.

    They could if it makes private runs, if whoever queued it has some in its suite, or if it works on the whole suite
    from the command line, which sees those of everyone.
    """
    if command.account == desk.audience.account:
        return False
    if command.private:
        return True
    owners = desk.store.runs.list_hidden_owners(command.suite)
    if command.account != COMMAND_LINE:
        return command.account in owners
    return None in owners or (command.whole_suite and bool(owners))


def _hide(command: QueuedCommand) -> QueuedCommand:
    """Return the command with nothing but its account, and that it is private."""
    return QueuedCommand((), PRIVATE_TITLE, command.account, private=True)
