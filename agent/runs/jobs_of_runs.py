"""The jobs that have to do with a run: those that may work on it now, and those whose titles tell about it."""

from agent.errors import ConfigError
from agent.store import COMMAND_LINE, Job, JobState, Run, Store


def check_no_job_works_on(store: Store, run: Run) -> None:
    """Check that no job may be reading or changing a run.

    Raises:
        ConfigError: a job of its suite runs.
    """
    for job in store.jobs.list_open():
        if job.state is not JobState.QUEUED and _may_work_on(job, run):
            raise ConfigError(
                f"job {job.job_id} works on the suite of this run",
                "Wait until it has ended, or cancel it.",
            )


def _may_work_on(job: Job, run: Run) -> bool:
    """Return whether a job may read or change a run. One that makes private runs leaves those of others alone."""
    if job.command.suite != run.suite:
        return False
    is_by_owner = job.account == (COMMAND_LINE if run.owner is None else run.owner)
    return is_by_owner or not job.command.private


def keep_jobs_private(store: Store, run: Run) -> None:
    """Keep the jobs that could tell about a private run from others, also when the run is deleted.

    These are the jobs of its owner in its suite, and those of the command line, which sees private runs of everyone.
    """
    store.jobs.keep_private(run.suite, COMMAND_LINE)
    if run.owner is not None:
        store.jobs.keep_private(run.suite, run.owner)
