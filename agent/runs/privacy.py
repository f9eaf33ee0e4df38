"""Show a private run to others, or keep a run from them."""

from typing import Final

from agent.errors import ConfigError
from agent.runs.waiting_submissions import describe_submissions, list_waiting_submissions
from agent.site.directory import Site
from agent.store import COMMAND_LINE, Run, Store

SHARED_EVENT: Final = "run shown to others"
_HIDDEN_EVENT: Final = "run kept from others"


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

    Args:
        site: the site.
        store: its open store.
        run: the run.
        by: id of the account that asks, for the audit log.

    Raises:
        ConfigError: a submission without a receipt contains its figures.
    """
    waiting = list_waiting_submissions(site, run)
    if waiting:
        raise ConfigError(
            f"the run's figures are in the outbox: {describe_submissions(waiting)}",
            "Discard the draft, or wait for the receipt. What was sent stays published.",
        )
    with store.transaction():
        if store.runs.set_privacy(run.run_id, private=True):
            store.audit.record(_HIDDEN_EVENT, f"run={run.run_id} account={by}")
