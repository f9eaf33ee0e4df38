"""Check the audit log, and recompute submitted results from the store; the command line and the page call this."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from agent.delivery.outbox import LIVE, Outbox, Submission
from agent.disclosure.recomputation import recompute_submission
from agent.disclosure.site_gate import open_gate
from agent.errors import DisclosureError
from agent.site.directory import Site
from agent.store import AuditHead, Store

MATCH: Final = "match"
DIFFERENT: Final = "different"
_SHORT: Final = 12  # characters of a digest that are shown
_LINK_DIGITS: Final = 64
_HEX_DIGITS: Final = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """The outcome of one check: MATCH, DIFFERENT, or that it cannot be checked, with the finding in words."""

    subject: str
    outcome: str
    finding: str


def check_log(store: Store) -> AuditCheck:
    """Return the number of events in the log. Raises StoreError if the log was changed."""
    events = len(store.audit.read_events())
    return AuditCheck("audit log", MATCH, f"{events} events, all unchanged")


def check_heads(store: Store, heads: Iterable[AuditHead]) -> list[AuditCheck]:
    """Compare the log with heads that somebody else kept."""
    checks: list[AuditCheck] = []
    for head in sorted(set(heads)):
        finding = store.audit.compare_head(*head)
        checks.append(AuditCheck(f"head {head.number}", DIFFERENT if finding else MATCH, finding))
    return checks


def check_results(site: Site, store: Store, digest: str | None, today_day: int) -> list[AuditCheck]:
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
    checks: list[AuditCheck] = []
    for submission in chosen:
        found = recompute_submission(store, gate, submission, site.own_benchmarks)
        subject = f"submission {submission.digest[:_SHORT]}"
        checks.append(AuditCheck(subject, found.outcome.value, found.finding))
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
    number, _, link = text.strip().partition(":")
    is_number = number.isascii() and number.isdecimal() and int(number) >= 1
    if not is_number or not is_link(link):
        return None
    return AuditHead(int(number), link)


def is_link(value: object) -> bool:
    """Return whether a value is the link of an event: 64 hex digits."""
    return isinstance(value, str) and len(value) == _LINK_DIGITS and set(value) <= _HEX_DIGITS
