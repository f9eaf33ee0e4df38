"""Queue jobs in the name of an account. The audit log keeps it, and later tells who had a part in a result."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from agent.jobs.queue import add_schedule, queue_job
from agent.runs.privacy import SHARED_EVENT
from agent.service.web.call import Call
from agent.service.web.service import Desk
from agent.store import AuditEvent, Job, QueuedCommand, Schedule

_PARTS: Final = frozenset({"job queued", "job scheduled", SHARED_EVENT})
_DETAIL = re.compile(r"(?:job|schedule|run)=\w+ suite=(?P<suite>\S*) account=(?P<account>\w+)")
# In place of the name of a suite that only its owner knows: no suite has this name. If one of its runs is shown to
# others, an entry with the suite's name follows.
_HIDDEN_SUITE: Final = "-"


def queue_for_caller(desk: Desk, call: Call, arguments: Sequence[str], title: str = "") -> Job:
    """Queue a command line in the name of who asks.

    Raises:
        ConfigError, BenchmarkError: the command line may not be queued, or something in it is wrong.
    """
    account = call.signed_in.account.account_id
    job = queue_job(desk.site, arguments, title=title, account=account)
    suite = _name_suite(desk, job.command)
    desk.store.audit.record("job queued", f"job={job.job_id} suite={suite} account={account}")
    return job


def schedule_for_caller(
    desk: Desk, call: Call, cron: str, arguments: Sequence[str], title: str = ""
) -> Schedule:
    """Have a command line queued again and again in the name of who asks.

    Raises:
        ConfigError, BenchmarkError: the cron expression is wrong, or see `queue_for_caller`.
    """
    account = call.signed_in.account.account_id
    schedule = add_schedule(desk.site, cron, arguments, title=title, account=account)
    suite = _name_suite(desk, schedule.command)
    detail = f"schedule={schedule.schedule_id} suite={suite} account={account}"
    desk.store.audit.record("job scheduled", detail)
    return schedule


def find_queuers(events: Iterable[AuditEvent], suite: str) -> frozenset[str]:
    """Return the accounts that had a part in a suite: queued a job of it, or showed a private run of it to others.

    A job of no particular suite counts for each; with an empty `suite`, any job counts.
    """
    accounts: set[str] = set()
    for event in events:
        found = _DETAIL.fullmatch(event.detail) if event.event in _PARTS else None
        if found is not None and (not suite or found["suite"] in ("", suite)):
            accounts.add(found["account"])
    return frozenset(accounts)


def _name_suite(desk: Desk, command: QueuedCommand) -> str:
    """Return the suite of a command for the audit log, which others read."""
    is_hidden = command.private or desk.store.runs.is_private_suite(command.suite)
    return _HIDDEN_SUITE if is_hidden else command.suite
