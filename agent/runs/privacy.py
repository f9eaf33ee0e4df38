"""Show a private run to others, or keep a run from them."""

from typing import Final

from agent.errors import ConfigError
from agent.runs.jobs_of_runs import check_no_job_works_on
from agent.runs.reviewed_copies import purge_copies
from agent.runs.submissions_of_runs import (
    describe_submissions,
    list_audited_submissions,
    list_digests,
    list_waiting_submissions,
)
from agent.site.directory import Site
from agent.store import COMMAND_LINE, Run, Store

SHARED_EVENT: Final = "run shown to others"
HIDDEN_EVENT: Final = "run kept from others"


def share_run(store: Store, run: Run) -> None:
    """Show a run to everyone on the service.

    The audit log names the run's owner and suite, because the owner had a part in whatever is submitted of the suite,
    and jobs of private runs are in the log without their suite.
    """
    with store.transaction():
        if store.runs.set_privacy(run.run_id, private=False):
            owner = "-" if run.owner is None else run.owner
            detail = f"run={run.run_id} suite={run.suite} account={owner}"
            store.audit.record(SHARED_EVENT, detail)


def unshare_run(site: Site, store: Store, run: Run, *, by: str = COMMAND_LINE) -> None:
    """Keep a run from everyone but its owner on the service.

    Samples for the review of redaction lose the copies of its texts. The audit log names the submissions that cannot be
    computed again while the run is private.

    Args:
        site: the site.
        store: its open store.
        run: the run.
        by: id of the account that asks, for the audit log.

    Raises:
        ConfigError: a submission without a receipt contains its figures, or a job works on its suite.
        StoreError: another process works on it, or drafts results.
    """
    with store.runs.lock(run.run_id), store.runs.hold_drafting(), store.transaction():
        check_no_job_works_on(store, run)
        waiting = list_waiting_submissions(site, run)
        if waiting:
            raise ConfigError(
                f"the run's figures are in the outbox: {describe_submissions(waiting)}",
                "Discard the draft, or wait for the receipt. What was sent stays published.",
            )
        if store.runs.set_privacy(run.run_id, private=True):
            purge_copies(store, run)
            submissions = list_digests(list_audited_submissions(site, run))
            store.audit.record(
                HIDDEN_EVENT, f"run={run.run_id} submissions={submissions} account={by}"
            )
