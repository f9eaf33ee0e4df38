"""The pages of what would leave the site: all statements, one with every figure, and the hand-over to the steward.

The service never holds a steward's private key: it hands out the drafts as a file and takes back the signed one.
"""

from datetime import UTC, date, datetime
from functools import partial

from starlette.responses import Response

from agent.access.roles import Action, Party, find_approval_fault
from agent.delivery.departure import list_site_keys
from agent.delivery.membership import Federation
from agent.delivery.outbox import Outbox, State, Submission
from agent.disclosure.exchange import read_signed
from agent.disclosure.handover import take_rejected, take_signed, write_drafts
from agent.disclosure.policy import read_policy
from agent.disclosure.preview import make_page
from agent.errors import ConfigError, DisclosureError
from agent.service.web.call import Call
from agent.service.web.queueing import find_queuers
from agent.service.web.service import Desk, redirect
from protocol.registry import Registry, RootPins


def list_outbox(desk: Desk, call: Call) -> Response:
    """Show all statements of the site, newest first."""
    submissions = Outbox(desk.site.submissions).list_submissions()
    registry = _read_registry(desk)
    return desk.draw(
        "outbox.html",
        call,
        submissions=list(reversed(submissions)),
        subjects={item.digest: name_model(item, registry) for item in submissions},
        is_member=registry is not None,
        waiting=sum(item.state is State.PREPARED for item in submissions),
        can_approve=call.signed_in.can_enter(Action.APPROVE_SUBMISSIONS),
    )


def show_submission(desk: Desk, call: Call) -> Response:
    """Show exactly what would leave with one statement: every figure with its verdict, and the bytes."""
    outbox = Outbox(desk.site.submissions)
    submission = outbox.find(call.path["digest"])
    registry = _read_registry(desk)
    if registry is None:
        raise ConfigError(
            "this site is not enrolled with an aggregator", "See docs/submissions.md."
        )
    verdicts = {} if submission.kind == "rotate" else outbox.read_verdicts(submission.digest)
    policy = read_policy(desk.site.settings.disclosure_policy, desk.site.directory)
    page = make_page(submission, registry, policy, verdicts, outbox.list_submissions())
    return desk.draw("submission.html", call, submission=submission, page=page)


def download_request(desk: Desk, call: Call) -> Response:
    """Hand out the file with all waiting drafts, which the steward reads and signs with their own tool."""
    drafts = [draft for draft in _list_submissions(desk) if draft.state is State.PREPARED]
    if not drafts:
        raise ConfigError("no draft is waiting for approval", "Prepare one first.")
    content = write_drafts(desk.site, drafts, _today_day())
    account = call.signed_in.account.account_id
    desk.store.audit.record("drafts handed out", f"drafts={len(drafts)} account={account}")
    headers = {"Content-Disposition": 'attachment; filename="request-for-approval.json"'}
    return Response(content, headers=headers, media_type="application/json")


def take_decision(desk: Desk, call: Call) -> Response:
    """Take the file that the steward's tool wrote: signed drafts, or rejected ones."""
    content = call.files.get("file", b"")
    if not content:
        raise ConfigError("no file was chosen", "Choose the file that the steward's tool wrote.")
    audit = partial(_record_event, desk, call)
    if call.get("decision") == "rejected":
        take_rejected(desk.site, content, audit)
    else:
        read_signed(content)  # says what kind of file it is, before anything is looked up
        take_signed(desk.site, content, _today_day(), audit, partial(_check_approver, desk, call))
    return redirect("/outbox")


def _check_approver(desk: Desk, call: Call, submission: Submission, steward_key: str) -> None:
    """Check that the approver had no part in a draft, and remember their key.

    Raises:
        DisclosureError: the account or the key belongs to someone who had a part in it.
    """
    approver = call.signed_in.account
    authors = _find_authors(desk, submission)
    own_keys = desk.store.accounts.read_keys([approver.account_id])
    fault = find_approval_fault(approver, own_keys | {steward_key}, authors)
    if fault:
        raise DisclosureError(
            f"draft {submission.digest[:12]} cannot be approved by you: {fault}",
            "Another steward must hand in the signed file.",
        )
    desk.store.accounts.add_key(approver.account_id, steward_key)


def _find_authors(desk: Desk, submission: Submission) -> Party:
    """Return everyone who had a part in a draft, with the keys that they ever handed in, and the site's own key.

    The audit log tells who queued jobs of the draft's suite, because the queue forgets its jobs after a while. Of a
    draft whose suite is not known, whoever queued any job counts as an author.
    """
    is_result = submission.kind != "rotate"
    outbox = Outbox(desk.site.submissions)
    suite = outbox.read_verdicts(submission.digest).get("suite") if is_result else None
    accounts = find_queuers(desk.store.audit.read_events(), suite if isinstance(suite, str) else "")
    return Party(
        accounts, _list_agent_keys(desk, submission) | desk.store.accounts.read_keys(accounts)
    )


def _list_agent_keys(desk: Desk, submission: Submission) -> frozenset[str]:
    """Return the ids of the keys with which the site itself signs."""
    registry = _read_registry(desk)
    if registry is None:
        return frozenset()
    return frozenset(list_site_keys(registry, submission.header.site, "agent"))


def _list_submissions(desk: Desk) -> list[Submission]:
    return Outbox(desk.site.submissions).list_submissions()


def _record_event(desk: Desk, call: Call, event: str, detail: str) -> None:
    account = call.signed_in.account.account_id
    desk.store.audit.record(event, f"{detail} account={account}")


def _today_day() -> int:
    return (datetime.now(UTC).date() - date(1970, 1, 1)).days


def _read_registry(desk: Desk) -> Registry | None:
    """Return the newest stored registry; None for a site that is not enrolled."""
    federation = Federation(desk.site.submissions)
    if not federation.is_member:
        return None
    trusted = federation.read_trusted()
    return None if isinstance(trusted, RootPins) else trusted


def name_model(submission: Submission, registry: Registry | None) -> str:
    """Return the registered name of the model of a result or plan; "" for other kinds."""
    if submission.is_result:
        digest = submission.result.model
    elif submission.plan is not None:
        digest = submission.plan.model
    else:
        return ""
    model = registry.models.get(digest) if registry else None
    return model.name if model else digest
