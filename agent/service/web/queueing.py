"""Queue jobs in the name of an account. The audit log keeps it, and later tells who had a part in a result."""

import re
import time
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.jobs.cron import check_cron
from agent.jobs.queue import prepare_command
from agent.runs.privacy import SHARED_EVENT
from agent.service.web.call import Call
from agent.service.web.service import Desk
from agent.store import AuditEvent, Job, QueuedCommand, Schedule, Store

_PARTS: Final = frozenset({"job queued", "job scheduled", SHARED_EVENT})
_DETAIL = re.compile(r"(?:job|schedule|run)=\w+ suite=(?P<suite>\S*) account=(?P<account>\w+)")
NO_SUITE: Final = ""
"""In the audit log, the suite of a job that works on none in particular."""
# What one account can put into the queue, whose pages and whose dispatcher read all of it again and again.
MOST_OPEN: Final = 100
MOST_SCHEDULES: Final = 50
_LONGEST: Final = 128 * 1024  # characters of a command line; one for 400 runs has half of that


def queue_for_caller(desk: Desk, call: Call, arguments: Sequence[str], title: str = "") -> Job:
    """Queue a command line in the name of who asks.

    The job and its entry in the audit log are written together: there is no job without the name of who queued it.

    Raises:
        ConfigError, BenchmarkError: the command line may not be queued, or something in it is wrong; or the account has
            too many open jobs.
    """
    account = call.signed_in.account.account_id
    open_jobs = sum(job.account == account for job in desk.store.jobs.list_open())
    if open_jobs >= MOST_OPEN:
        raise ConfigError(
            f"{open_jobs} jobs of yours are open, as many as one account can have",
            "Wait until some have ended, or cancel them.",
        )
    command = _prepare(desk, account, arguments, title)
    with desk.store.transaction():
        job = desk.store.jobs.add(command, time.time())
        suite = _name_suite(desk, command)
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
    schedules = sum(each.command.account == account for each in desk.store.jobs.list_schedules())
    if schedules >= MOST_SCHEDULES:
        raise ConfigError(
            f"{schedules} schedules are yours, as many as one account can have", "End one of them."
        )
    cron = check_cron(cron)
    command = _prepare(desk, account, arguments, title)
    with desk.store.transaction():
        schedule = desk.store.jobs.add_schedule(cron, command, time.time())
        suite = _name_suite(desk, command)
        detail = f"schedule={schedule.schedule_id} suite={suite} account={account}"
        desk.store.audit.record("job scheduled", detail)
    return schedule


def _prepare(desk: Desk, account: str, arguments: Sequence[str], title: str) -> QueuedCommand:
    """Check a command line of an account. Raises ConfigError or BenchmarkError."""
    if sum(map(len, arguments)) > _LONGEST:
        raise ConfigError(
            f"the command line has more than {_LONGEST:,} characters", "Queue several jobs."
        )
    title = " ".join(printable(title).split())
    return prepare_command(desk.site, arguments, title=title, account=account)


def list_suite_names(store: Store, suite: str) -> frozenset[str]:
    """Return how the audit log may call a suite: by its name, or by a mark if it was private at that time."""
    return frozenset({suite, store.identities.suite_mark(suite)})


def find_queuers(
    events: Iterable[AuditEvent], suites: Collection[str] | None = None
) -> frozenset[str]:
    """Return the accounts that queued a job of one of these suites, or showed a private run of it to others.

    Args:
        events: the audit log.
        suites: suites as `list_suite_names` returns them, and NO_SUITE for jobs of none; None for any job.
    """
    accounts: set[str] = set()
    for suite, queuers in index_queuers(events).items():
        if suites is None or suite in suites:
            accounts |= queuers
    return frozenset(accounts)


def index_queuers(events: Iterable[AuditEvent]) -> dict[str, set[str]]:
    """Return the accounts of `find_queuers` by the suite's name in the audit log."""
    accounts: dict[str, set[str]] = {}
    for event in events:
        found = _DETAIL.fullmatch(event.detail) if event.event in _PARTS else None
        if found is not None:
            accounts.setdefault(found["suite"], set()).add(found["account"])
    return accounts


def _name_suite(desk: Desk, command: QueuedCommand) -> str:
    """Return the suite of a command for the audit log, which others read: a mark in place of a private suite's name."""
    is_hidden = command.private or desk.store.runs.is_private_suite(command.suite)
    return desk.store.identities.suite_mark(command.suite) if is_hidden else command.suite
