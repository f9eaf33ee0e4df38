"""Delete a run with its texts: after that, nothing in the store tells what it asked, or what came back."""

from typing import Final

from agent.errors import ConfigError, StoreError
from agent.runs.jobs_of_runs import check_no_job_works_on, keep_jobs_private
from agent.runs.reviewed_copies import purge_copies
from agent.runs.submissions_of_runs import (
    describe_submissions,
    list_audited_submissions,
    list_digests,
    list_waiting_submissions,
)
from agent.site.directory import Site
from agent.store import COMMAND_LINE, Run, RunContent, Store

DELETED_EVENT: Final = "run deleted"


def delete_run(site: Site, store: Store, run: Run, *, by: str = COMMAND_LINE) -> RunContent:
    """Delete a run: its scores, verdicts, answers and questions, as far as no other run has them too.

    Copies of its texts in samples for the review of redaction are deleted as well. What left the site, the ledger, the
    audit log and the logs of jobs stay. The audit log names the submissions that cannot be computed again without it.

    Args:
        site: the site.
        store: its open store.
        run: the run.
        by: id of the account that asks, for the audit log.

    Returns:
        What was deleted.

    Raises:
        ConfigError: see `check_deletable`; or the run was deleted already.
        StoreError: another process works on the run, begins one or drafts results, or the store cannot be written.
    """
    with (
        store.runs.lock(run.run_id),
        store.runs.hold_beginnings(),
        store.runs.hold_drafting(),
        store.transaction(),
    ):
        if store.runs.find(run.run_id) is None:
            raise ConfigError("the run was deleted already", "See `intramural runs list`.")
        check_deletable(site, store, run)
        submissions = list_digests(list_audited_submissions(site, run))
        purge_copies(store, run)
        if run.is_private:
            keep_jobs_private(store, run)
        content = store.delete_run(run.run_id)
        counts = f"instances={content.instances} texts={content.texts}"
        store.audit.record(
            DELETED_EVENT, f"run={run.run_id} {counts} submissions={submissions} account={by}"
        )
    _rewrite_file(store)
    return content


def check_deletable(site: Site, store: Store, run: Run) -> None:
    """Check that nothing needs a run.

    Raises:
        ConfigError: a job may be working on it, or a submission without a receipt was prepared from it.
    """
    check_no_job_works_on(store, run)
    waiting = list_waiting_submissions(site, run)
    if waiting:
        raise ConfigError(
            f"the outbox needs this run: {describe_submissions(waiting)}",
            "Discard the draft, or wait for the receipt.",
        )


def _rewrite_file(store: Store) -> None:
    try:
        store.rewrite_file()
    except StoreError as error:
        raise StoreError(
            f"the run was deleted, but traces of its encrypted texts may remain in the store's file ({error})",
            "`intramural purge` writes the file anew; a large number of days deletes nothing else.",
        ) from None
