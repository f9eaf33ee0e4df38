"""The pages of receipts, each verified when it is shown, and of the ledger of releases."""

from dataclasses import dataclass

from starlette.responses import Response

from agent.access.roles import Action
from agent.delivery.outbox import Outbox, State, Submission
from agent.delivery.receipts import check_receipt
from agent.disclosure.ledger_report import (
    check_head,
    check_statements,
    list_rows,
    parse_head,
    read_site_ledger,
)
from agent.disclosure.record_check import AuditOutcome
from agent.disclosure.site_gate import read_newest_registry
from agent.errors import AgentError, DisclosureError
from agent.service.web.call import Call
from agent.service.web.outbox_pages import name_subject
from agent.service.web.service import Desk
from protocol.registry import Registry

_MIN_PREFIX_LENGTH = 8


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    """One receipt, verified just now.

    Attributes:
        submission: the statement that it is about.
        subject: what the statement is about.
        entry: number of the statement's entry in the log, from 0; None if the receipt does not verify.
        log_size: number of entries of the log that the receipt proves it to be in.
        fault: why it does not verify; empty if it does.
    """

    submission: Submission
    subject: str
    entry: int | None = None
    log_size: int | None = None
    fault: str = ""


def list_receipts(desk: Desk, call: Call) -> Response:
    """Show all receipts, newest first."""
    registry = read_newest_registry(desk.site)
    outbox = Outbox(desk.site.submissions)
    accepted = [item for item in outbox.list_submissions() if item.state is State.RECEIPTED]
    lines: list[ReceiptLine] = []
    if registry is not None:
        lines = [_verify(desk, outbox, registry, item) for item in reversed(accepted)]
    return desk.draw(
        "receipts.html",
        call,
        lines=lines,
        is_member=registry is not None,
        unproven=sum(line.submission.receipt_is_carried for line in lines),
        faulty=sum(bool(line.fault) for line in lines),
    )


def show_receipt(desk: Desk, call: Call) -> Response:
    """Show one receipt in full."""
    registry = read_newest_registry(desk.site)
    submission = _find_accepted(desk, call)
    outbox = Outbox(desk.site.submissions)
    if registry is None:
        raise DisclosureError("this site is not enrolled with an aggregator")
    return desk.draw(
        "receipt.html",
        call,
        line=_verify(desk, outbox, registry, submission),
        text=outbox.read_receipt(submission.digest),
        can_see_statement=call.signed_in.may(Action.VIEW_OUTBOX),
    )


def download_receipt(desk: Desk, call: Call) -> Response:
    """Hand out a receipt as a file, which anyone can verify with the aggregator's public keys."""
    submission = _find_accepted(desk, call)
    content = Outbox(desk.site.submissions).read_receipt(submission.digest)
    name = f"{submission.digest[:12]}.receipt"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content.encode(), headers=headers, media_type="text/plain; charset=utf-8")


def show_ledger(desk: Desk, call: Call) -> Response:
    """Show the entries of the ledger after a check, and compare it with all statements and with a head, if given."""
    submissions = Outbox(desk.site.submissions).list_submissions()
    given = call.get("head").strip()
    head = parse_head(given)
    try:
        ledger = read_site_ledger(desk.site)
    except AgentError as error:
        return desk.draw("ledger_fault.html", call, fault=f"{error}. {error.advice}")
    checks = check_statements(ledger, submissions)
    return desk.draw(
        "ledger.html",
        call,
        rows=list(reversed(list_rows(ledger, read_newest_registry(desk.site)))),
        statements=len(checks),
        differing=[check for check in checks if check.outcome == AuditOutcome.DIFFERENT],
        compared=check_head(ledger, head, f"Entry {head.length}") if head else None,
        given=given,
        is_no_head=bool(given) and head is None,
        head=ledger.head,
    )


def _verify(desk: Desk, outbox: Outbox, registry: Registry, submission: Submission) -> ReceiptLine:
    subject = name_subject(desk, submission, registry)
    try:
        text = outbox.read_receipt(submission.digest)
        receipt = check_receipt(text, submission.envelope.pae, registry)
    except (AgentError, UnicodeDecodeError) as error:
        return ReceiptLine(submission, subject, fault=str(error))
    return ReceiptLine(submission, subject, receipt.index, receipt.checkpoint.size)


def _find_accepted(desk: Desk, call: Call) -> Submission:
    """Return the statement of a route that has a receipt. Raises DisclosureError."""
    prefix = call.path["digest"]
    accepted: list[Submission] = []
    if len(prefix) >= _MIN_PREFIX_LENGTH:
        for item in Outbox(desk.site.submissions).list_submissions():
            if item.state is State.RECEIPTED and item.digest.startswith(prefix):
                accepted.append(item)
    if len(accepted) != 1:
        raise DisclosureError(
            "there is no receipt of a submission with this digest",
            "Choose one on the page of receipts.",
        )
    return accepted[0]
