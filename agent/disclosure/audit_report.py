"""Check the audit log, and recompute submitted results from the store; the command line and the page call this."""

from collections.abc import Iterable, Sequence
from typing import Final

from agent.delivery.outbox import LIVE, Outbox, Submission
from agent.disclosure.recomputation import recompute_submission
from agent.disclosure.record_check import AuditOutcome, RecordCheck, split_head
from agent.disclosure.site_gate import open_gate
from agent.errors import DisclosureError
from agent.site.directory import Site
from agent.store import AuditHead, Store

_SHORT: Final = 12  # characters of a digest that are shown


def check_log(store: Store) -> RecordCheck:
    """Return the number of events in the log. Raises StoreError if the log was changed."""
    events = len(store.audit.read_events())
    return RecordCheck("audit log", AuditOutcome.MATCH, f"{events} events, all unchanged")


def check_heads(store: Store, heads: Iterable[AuditHead]) -> list[RecordCheck]:
    """Compare the log with heads that somebody else kept."""
    checks: list[RecordCheck] = []
    for head in sorted(set(heads)):
        finding = store.audit.compare_head(*head)
        checks.append(
            RecordCheck(
                f"head {head.number}",
                AuditOutcome.DIFFERENT if finding else AuditOutcome.MATCH,
                finding,
            )
        )
    return checks


def check_results(
    site: Site, store: Store, digest: str | None, today_day: int
) -> list[RecordCheck]:
    """Recompute every approved result, or only the one that is named by at least 8 characters of its digest.

    Raises:
        ConfigError, DisclosureError: the site is not enrolled, or there is no such result.
    """
    outbox = Outbox(site.submissions)
    chosen: Sequence[Submission] = [
        item for item in outbox.list_submissions() if item.state in LIVE and item.is_result
    ]
    if digest is not None:
        chosen = [require_result(outbox.find(digest))]
    if not chosen:
        return []
    gate = open_gate(site, today_day)
    checks: list[RecordCheck] = []
    for submission in chosen:
        found = recompute_submission(store, gate, submission, site.own_benchmarks)
        subject = f"submission {submission.digest[:_SHORT]}"
        checks.append(RecordCheck(subject, found.outcome, found.finding))
    return checks


def require_result(submission: Submission) -> Submission:
    """Return a submission that is a result. Raises DisclosureError for others."""
    if not submission.is_result:
        raise DisclosureError(
            "this submission is not a result, so it has no figures", "Name a result."
        )
    return submission


def parse_audit_head(text: str) -> AuditHead | None:
    """Return the head in the form NUMBER:LINK, in which `intramural audit` prints it; None for other texts."""
    head = split_head(text)
    return None if head is None or head[0] < 1 else AuditHead(*head)
