"""Who had a part in the statements of the outbox, as the audit log tells.

Nobody approves what they had a part in, and a data scientist sees nothing else in the outbox.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from agent.access.roles import Action
from agent.delivery.outbox import Outbox, Submission
from agent.disclosure.exchange import REJECTION_WORDS
from agent.service.web.call import Call
from agent.service.web.queueing import NO_SUITE, index_queuers, list_suite_names
from agent.service.web.service import Desk
from agent.store import AuditEvent
from protocol.identity import NONE

_DRAFTED: Final = frozenset(
    {
        "submission prepared",
        "plan drafted",
        "plan given up",
        "withdrawal drafted",
        "dataset registered",
        "rotation requested",
        "reset requested",
    }
)
_PREPARED: Final = "suite prepared"
BEGUN: Final = "drafting begun"
"""Recorded before something is drafted, for the case that the machine stops before the draft's own event."""
_STATEMENT = re.compile(
    r".*\b(?:digest|statement)=(?P<digest>[0-9a-f]{64})\b.* account=(?P<account>\w+)"
)
_SUITE = re.compile(r"suite=(?P<suite>\S+) day=\d+ account=(?P<account>\w+)")
_DATA: Final = frozenset({"data added", "data removed"})
_BENCHMARK = re.compile(r"benchmark=(?P<benchmark>\S+) .* account=(?P<account>\w+)")
_BEGINNER = re.compile(r"kind=\w+ account=(?P<account>\w+)")

_REJECTED = re.compile(
    r"digest=(?P<digest>[0-9a-f]{64}) reason=(?P<reason>\w+)"
    r"(?: kind=(?P<kind>\w+) about=(?P<about>\w+))?(?: account=(?P<account>\w+))?"
)
_REJECTIONS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Rejection:
    """A draft that a steward rejected.

    Attributes:
        digest: its digest.
        kind: its kind; empty if an earlier version logged the rejection.
        about: what it was about, as `Submission.about`; empty if that is not known.
        words: the reason in words.
        account: id of the account that rejected it; empty if that was done on the command line.
        at: when, in seconds since 1970.
    """

    digest: str
    kind: str
    about: str
    words: str
    account: str
    at: int


@dataclass(slots=True)
class _Parts:
    """Who did what, from one pass over the audit log.

    Attributes:
        drafters: accounts that drafted a statement, by its digest.
        preparers: accounts that prepared the results of a suite, by its name.
        queuers: accounts that queued a job of a suite, by its name as the log has it.
        suppliers: accounts that added or removed data of a benchmark, by its name.
        beginners: accounts that began to draft something, other than the results of a suite.
    """

    drafters: dict[str, set[str]] = field(default_factory=dict)
    preparers: dict[str, set[str]] = field(default_factory=dict)
    queuers: Mapping[str, set[str]] = field(default_factory=dict)
    suppliers: dict[str, set[str]] = field(default_factory=dict)
    beginners: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Authors:
    """Who had a part in statements.

    Attributes:
        events: the audit log.
        outbox: the site's outbox.
        desk: the service's desk, whose store knows the owners of runs.
    """

    events: Sequence[AuditEvent]
    outbox: Outbox
    desk: Desk

    @cached_property
    def _parts(self) -> _Parts:
        return _collect_parts(self.events)

    def list_makers(self, submission: Submission) -> frozenset[str]:
        """Return the accounts whose work a statement is: who drafted it, and who made the runs of its figures."""
        accounts = set(self.find_drafters(submission.digest))
        suite = self._find_suite(submission)
        if suite:
            for name in list_suite_names(self.desk.store, suite):
                accounts |= self._parts.queuers.get(name, set())
            accounts |= self._parts.preparers.get(suite, set())
            accounts |= {run.owner for run in self.desk.store.runs.select(suite) if run.owner}
        return frozenset(accounts)

    def list_parties(self, submission: Submission) -> frozenset[str]:
        """Return all accounts that had a part in a statement, and so may not approve it.

        These are its makers, those of the datasets and the plan that a result names, and who changed data of its
        benchmarks on their pages. A job of no particular suite
        counts as a part in each; it does not make a statement one's own work. If it is not known who drafted a
        statement or which suite a result is of, whoever queued any job or began any draft counts.
        """
        accounts = set(self.list_makers(submission))
        is_known = bool(accounts)
        if submission.is_result:
            is_known = bool(self._find_suite(submission))
            result = submission.result
            accounts |= self._parts.queuers.get(NO_SUITE, set())
            for benchmark in result.data:
                accounts |= self._parts.suppliers.get(benchmark, set())
            for digest in {*result.data.values(), result.plan} - {NONE}:
                accounts |= self.find_drafters(digest)
        if not is_known:
            accounts |= set().union(*self._parts.queuers.values()) | self._parts.beginners
        return frozenset(accounts)

    def find_drafters(self, digest: str) -> frozenset[str]:
        """Return the accounts that drafted the statement with this digest."""
        return frozenset(self._parts.drafters.get(digest, ()))

    def find_beginners(self) -> frozenset[str]:
        """Return the accounts that began to draft something, other than the results of a suite."""
        return frozenset(self._parts.beginners)

    def _find_suite(self, submission: Submission) -> str:
        """Return the suite of a result; empty for other statements, and if the file of verdicts does not say it."""
        if not submission.is_result:
            return ""
        suite = self.outbox.read_verdicts(submission.digest).get("suite")
        return suite if isinstance(suite, str) else ""


def _collect_parts(events: Sequence[AuditEvent]) -> _Parts:
    parts = _Parts(queuers=index_queuers(events))
    for event in events:
        if event.event in _DRAFTED:
            if found := _STATEMENT.fullmatch(event.detail):
                parts.drafters.setdefault(found["digest"], set()).add(found["account"])
        elif event.event == _PREPARED:
            if found := _SUITE.fullmatch(event.detail):
                parts.preparers.setdefault(found["suite"], set()).add(found["account"])
        elif event.event in _DATA:
            if found := _BENCHMARK.fullmatch(event.detail):
                parts.suppliers.setdefault(found["benchmark"], set()).add(found["account"])
        elif event.event == BEGUN and (found := _BEGINNER.fullmatch(event.detail)):
            parts.beginners.add(found["account"])
    return parts


def list_rejections(authors: Authors, call: Call) -> list[Rejection]:
    """Return the drafts that stewards rejected, newest first: all of them, or those that the caller drafted."""
    sees_all = call.signed_in.may(Action.VIEW_OUTBOX)
    account = call.signed_in.account.account_id
    rejections: list[Rejection] = []
    for event in reversed(authors.events):
        found = _REJECTED.match(event.detail) if event.event == "submission rejected" else None
        if found is None:
            continue
        if sees_all or account in authors.find_drafters(found["digest"]):
            words = REJECTION_WORDS.get(found["reason"], REJECTION_WORDS["other"])
            about = found["about"] or ""
            rejections.append(
                Rejection(
                    digest=found["digest"],
                    kind=found["kind"] or "",
                    about="" if about == NONE else about,
                    words=words,
                    account=found["account"] or "",
                    at=event.at,
                )
            )
    return rejections[:_REJECTIONS_SHOWN]


def read_authors(desk: Desk) -> Authors:
    """Return who had a part in what, from the audit log. Raises StoreError if it was changed."""
    events = desk.read_events()
    known = desk.reading.derived
    if not isinstance(known, Authors):
        known = Authors(events, Outbox(desk.site.submissions), desk)
        desk.reading.derived = known
    return known


def list_visible(desk: Desk, call: Call) -> list[Submission]:
    """Return the statements that the caller may see, in the order of the chain: all of them, or their own."""
    submissions = Outbox(desk.site.submissions).list_submissions()
    if call.signed_in.may(Action.VIEW_OUTBOX):
        return submissions
    authors = read_authors(desk)
    account = call.signed_in.account.account_id
    visible: list[Submission] = []
    for submission in submissions:
        if account in authors.list_makers(submission):
            visible.append(submission)
    return visible
