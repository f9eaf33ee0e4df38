"""Queue jobs in the name of an account. The audit log keeps it, and later tells who had a part in a result."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from agent.jobs.queue import queue_job
from agent.service.web.call import Call
from agent.service.web.service import Desk
from agent.store import AuditEvent, Job

_EVENT: Final = "job queued"
_DETAIL = re.compile(r"job=(?P<job>\w+) suite=(?P<suite>\S*) account=(?P<account>\w+)")


def queue_for_caller(desk: Desk, call: Call, arguments: Sequence[str], title: str = "") -> Job:
    """Queue a command line in the name of who asks.

    Raises:
        ConfigError, BenchmarkError: the command line may not be queued, or something in it is wrong.
    """
    account = call.signed_in.account.account_id
    job = queue_job(desk.site, arguments, title=title, account=account)
    detail = f"job={job.job_id} suite={job.command.suite} account={account}"
    desk.store.audit.record(_EVENT, detail)
    return job


def find_queuers(events: Iterable[AuditEvent], suite: str) -> frozenset[str]:
    """Return the accounts that queued a job of a suite, or of no particular one; with an empty suite, any job."""
    accounts: set[str] = set()
    for event in events:
        found = _DETAIL.fullmatch(event.detail) if event.event == _EVENT else None
        if found is not None and (not suite or found["suite"] in ("", suite)):
            accounts.add(found["account"])
    return frozenset(accounts)
