"""Decisions about drafts: the hand-over to the steward's own tool and back, and rejection on the page.

The service never holds a steward's private key: it hands out the drafts as a file and takes back the signed one.
Nobody decides about what they had a part in, whatever roles they hold.
"""

from collections.abc import Collection
from functools import partial

from starlette.responses import Response

from agent.access.roles import ApprovalFault, Party, find_approval_fault
from agent.delivery.departure import list_site_keys
from agent.delivery.outbox import Outbox, State, Submission
from agent.disclosure.exchange import REJECTION_WORDS, read_rejected, read_signed
from agent.disclosure.handover import reject_drafts, take_signed, write_drafts
from agent.disclosure.site_gate import read_newest_registry
from agent.errors import ConfigError, DisclosureError
from agent.io.wording import format_count
from agent.service.web.authors import read_authors
from agent.service.web.call import Call
from agent.service.web.outbox_pages import find_visible, list_decidable
from agent.service.web.service import Desk

_ANOTHER_STEWARD = "Another steward must decide about it."


def download_request(desk: Desk, call: Call) -> Response:
    """Hand out the file with the waiting drafts, which the steward reads and signs with their own tool."""
    drafts = list_decidable(desk, call, read_authors(desk))
    if not drafts:
        raise ConfigError(
            "no draft is waiting for your decision",
            "Drafts are decided about in their order; the outbox tells whether the first one is yours.",
        )
    content = write_drafts(desk.site, drafts, desk.store.clock.today_day())
    record_event(desk, call, "drafts handed out", f"drafts={len(drafts)}")
    headers = {"Content-Disposition": 'attachment; filename="request-for-approval.json"'}
    return Response(content, headers=headers, media_type="application/json")


def take_decision(desk: Desk, call: Call) -> Response:
    """Take the file that the steward's tool wrote: signed drafts, or rejected ones."""
    content = call.files.get("file", b"")
    if not content:
        raise ConfigError("no file was chosen", "Choose the file that the steward's tool wrote.")
    audit = partial(record_event, desk, call)
    if call.get("decision") == "rejected":
        rejection = read_rejected(content)
        _check_may_reject(desk, call, rejection.digests)
        rejected = reject_drafts(desk.site, rejection.digests, rejection.reason, audit)
        words = _describe_discarded(rejected.discarded)
    else:
        read_signed(content)  # says what kind of file it is, before anything is looked up
        check = partial(check_approver, desk, call)
        approved = take_signed(desk.site, content, desk.store.clock.today_day(), audit, check)
        words = f"{format_count(len(approved), 'statement')} approved. Nothing was sent yet."
    return desk.confirm(call, "/outbox", words)


def reject(desk: Desk, call: Call) -> Response:
    """Reject one draft with a reason of the list; the drafts that follow it are gone as well."""
    submission = find_visible(desk, call)
    reason = call.require("reason", "the reason")
    if reason not in REJECTION_WORDS:
        raise ConfigError("this is no reason of the list", "Choose a reason from the list.")
    if submission.state is not State.PREPARED:
        raise DisclosureError(
            f"submission {submission.digest[:12]} is not a draft, so it cannot be rejected",
            "Open the outbox again: somebody else has decided about it.",
        )
    _check_may_reject(desk, call, [submission.digest])
    audit = partial(record_event, desk, call)
    rejected = reject_drafts(desk.site, [submission.digest], reason, audit)
    return desk.confirm(call, "/outbox", _describe_discarded(rejected.discarded))


def _describe_discarded(digests: Collection[str]) -> str:
    return f"{format_count(len(digests), 'draft')} rejected and deleted."


def _check_may_reject(desk: Desk, call: Call, digests: Collection[str]) -> None:
    """Check that the caller had no part in the drafts that they reject. Raises DisclosureError."""
    authors, account = read_authors(desk), call.signed_in.account.account_id
    for draft in Outbox(desk.site.submissions).list_submissions():
        is_meant = draft.state is State.PREPARED and draft.digest in digests
        if is_meant and account in authors.list_parties(draft):
            raise DisclosureError(
                f"draft {draft.digest[:12]} cannot be rejected by you: {ApprovalFault.SAME_ACCOUNT}",
                f"{_ANOTHER_STEWARD} Whoever drafted it can discard it.",
            )


def check_approver(desk: Desk, call: Call, submission: Submission, steward_key: str) -> None:
    """Check that the approver had no part in a draft, and remember their key.

    Raises:
        DisclosureError: the account or the key belongs to someone who had a part in it.
    """
    accounts = read_authors(desk).list_parties(submission)
    fault = find_party_fault(desk, call, accounts, submission.header.site, {steward_key})
    if fault:
        raise DisclosureError(
            f"draft {submission.digest[:12]} cannot be approved by you: {fault}",
            "Another steward must hand in the signed file.",
        )
    desk.store.accounts.add_key(call.signed_in.account.account_id, steward_key)


def find_party_fault(
    desk: Desk, call: Call, authors: frozenset[str], site_id: str, signing_keys: set[str]
) -> str:
    """Return the reason why the caller may not approve something, or "" if they may.

    Args:
        desk: what the handler works with.
        call: the request of the approver.
        authors: ids of the accounts that had a part in it.
        site_id: the site that it is of.
        signing_keys: ids of the steward's keys that signed the approval.
    """
    approver = call.signed_in.account
    accounts = desk.store.accounts
    parties = Party(authors, _list_agent_keys(desk, site_id) | accounts.read_keys(authors))
    return find_approval_fault(
        approver, accounts.read_keys([approver.account_id]) | signing_keys, parties
    )


def _list_agent_keys(desk: Desk, site_id: str) -> frozenset[str]:
    """Return the ids of the keys with which the site itself signs."""
    registry = read_newest_registry(desk.site)
    if registry is None:
        return frozenset()
    return frozenset(list_site_keys(registry, site_id, "agent"))


def record_event(desk: Desk, call: Call, event: str, detail: str) -> None:
    """Write an event to the audit log, with the account that asks."""
    desk.store.audit.record(event, detail, by=call.signed_in.account.account_id)
