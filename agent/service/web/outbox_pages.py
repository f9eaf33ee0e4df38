"""The pages of what would leave the site: all statements, one with every figure, and the hand-over to the steward.

The service never holds a steward's private key: it hands out the drafts as a file and takes back the signed one.
"""

from functools import partial

from starlette.responses import Response

from agent.access.roles import Action, Party, find_approval_fault
from agent.delivery.departure import list_site_keys
from agent.delivery.outbox import Outbox, State, Submission
from agent.delivery.state_words import explain_state
from agent.disclosure.exchange import REJECTION_WORDS, read_signed
from agent.disclosure.handover import reject_drafts, take_rejected, take_signed, write_drafts
from agent.disclosure.preview import GateWord, Page, make_page
from agent.disclosure.release_difference import compare_with_last
from agent.disclosure.site_gate import read_newest_registry, read_site_policy
from agent.errors import ConfigError, DisclosureError
from agent.io.days import today_day
from agent.service.web.authors import list_rejections, list_visible, read_authors
from agent.service.web.call import Call
from agent.service.web.service import Desk, redirect
from protocol.predicates import ABANDON_REASONS, WITHDRAW_REASONS
from protocol.registry import Registry

_MIN_PREFIX_LENGTH = 8
_UNSENT = frozenset({State.APPROVED, State.SENT})


def list_outbox(desk: Desk, call: Call) -> Response:
    """Show the statements that the caller may see, newest first."""
    caller = call.signed_in
    submissions = list_visible(desk, call)
    registry = read_newest_registry(desk.site)
    return desk.draw(
        "outbox.html",
        call,
        submissions=list(reversed(submissions)),
        states={item.digest: explain_state(item) for item in submissions},
        subjects={item.digest: name_subject(item, registry) for item in submissions},
        rejections=list_rejections(read_authors(desk), call),
        is_member=registry is not None,
        sees_all=caller.may(Action.VIEW_OUTBOX),
        waiting=sum(item.state is State.PREPARED for item in submissions),
        unsent=sum(item.state in _UNSENT for item in submissions),
        can_approve=caller.can_enter(Action.APPROVE_SUBMISSIONS),
        can_prepare=caller.can_enter(Action.PREPARE_SUBMISSIONS),
    )


def show_submission(desk: Desk, call: Call) -> Response:
    """Show exactly what would leave with one statement: every figure with its verdict, and the bytes."""
    submission = find_visible(desk, call)
    registry = read_newest_registry(desk.site)
    if registry is None:
        raise ConfigError(
            "this site is not enrolled with an aggregator", "See docs/submissions.md."
        )
    outbox = Outbox(desk.site.submissions)
    policy, others = read_site_policy(desk.site), outbox.list_submissions()
    verdicts = {} if submission.kind == "rotate" else outbox.read_verdicts(submission.digest)
    page = make_page(submission, registry, policy, verdicts, others)
    caller = call.signed_in
    return desk.draw(
        "submission.html",
        call,
        submission=submission,
        page=page,
        state=explain_state(submission),
        verdicts=_name_verdicts(page),
        difference=compare_with_last(submission, registry, policy, others),
        had_part=caller.account.account_id in read_authors(desk).list_parties(submission),
        can_approve=caller.can_enter(Action.APPROVE_SUBMISSIONS),
        can_prepare=caller.can_enter(Action.PREPARE_SUBMISSIONS),
        can_see_receipt=caller.can_enter(Action.VIEW_RECEIPTS),
        rejection_reasons=REJECTION_WORDS,
        withdraw_reasons=WITHDRAW_REASONS,
        abandon_reasons=ABANDON_REASONS,
    )


def _name_verdicts(page: Page) -> dict[str, str]:
    words: tuple[GateWord, ...] = page.gate_words
    return {word.cell: word.word for word in words}


def find_visible(desk: Desk, call: Call) -> Submission:
    """Return the statement of a route, if the caller may see it. Another's is answered like one that does not exist.

    Raises:
        DisclosureError: there is no such statement, or the caller may not see it.
    """
    prefix = call.path["digest"]
    matches: list[Submission] = []
    if len(prefix) >= _MIN_PREFIX_LENGTH:
        matches = [item for item in list_visible(desk, call) if item.digest.startswith(prefix)]
    if len(matches) != 1:
        raise DisclosureError(
            "there is no submission with this digest", "Choose one on the page of the outbox."
        )
    return matches[0]


def download_request(desk: Desk, call: Call) -> Response:
    """Hand out the file with all waiting drafts, which the steward reads and signs with their own tool."""
    submissions = Outbox(desk.site.submissions).list_submissions()
    drafts = [draft for draft in submissions if draft.state is State.PREPARED]
    if not drafts:
        raise ConfigError("no draft is waiting for approval", "Prepare one first.")
    content = write_drafts(desk.site, drafts, today_day())
    account = call.signed_in.account.account_id
    desk.store.audit.record("drafts handed out", f"drafts={len(drafts)} account={account}")
    headers = {"Content-Disposition": 'attachment; filename="request-for-approval.json"'}
    return Response(content, headers=headers, media_type="application/json")


def take_decision(desk: Desk, call: Call) -> Response:
    """Take the file that the steward's tool wrote: signed drafts, or rejected ones."""
    content = call.files.get("file", b"")
    if not content:
        raise ConfigError("no file was chosen", "Choose the file that the steward's tool wrote.")
    audit = partial(record_event, desk, call)
    if call.get("decision") == "rejected":
        take_rejected(desk.site, content, audit)
    else:
        read_signed(content)  # says what kind of file it is, before anything is looked up
        take_signed(desk.site, content, today_day(), audit, partial(check_approver, desk, call))
    return redirect("/outbox")


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
    reject_drafts(desk.site, [submission.digest], reason, partial(record_event, desk, call))
    return redirect("/outbox")


def check_approver(desk: Desk, call: Call, submission: Submission, steward_key: str) -> None:
    """Check that the approver had no part in a draft, and remember their key.

    Raises:
        DisclosureError: the account or the key belongs to someone who had a part in it.
    """
    approver = call.signed_in.account
    accounts = read_authors(desk).list_parties(submission)
    agent_keys = _list_agent_keys(desk, submission)
    authors = Party(accounts, agent_keys | desk.store.accounts.read_keys(accounts))
    own_keys = desk.store.accounts.read_keys([approver.account_id])
    fault = find_approval_fault(approver, own_keys | {steward_key}, authors)
    if fault:
        raise DisclosureError(
            f"draft {submission.digest[:12]} cannot be approved by you: {fault}",
            "Another steward must hand in the signed file.",
        )
    desk.store.accounts.add_key(approver.account_id, steward_key)


def _list_agent_keys(desk: Desk, submission: Submission) -> frozenset[str]:
    """Return the ids of the keys with which the site itself signs."""
    registry = read_newest_registry(desk.site)
    if registry is None:
        return frozenset()
    return frozenset(list_site_keys(registry, submission.header.site, "agent"))


def record_event(desk: Desk, call: Call, event: str, detail: str) -> None:
    """Write an event to the audit log, with the account that asks."""
    account = call.signed_in.account.account_id
    desk.store.audit.record(event, f"{detail} account={account}")


def name_subject(submission: Submission, registry: Registry | None) -> str:
    """Return what a statement is about: a model, a benchmark, another statement or a key, by its registered name."""
    if submission.is_result:
        return _name_model(submission.result.model, registry)
    if submission.plan is not None:
        return _name_model(submission.plan.model, registry)
    if submission.dataset is not None:
        return _name_benchmark(submission.dataset.definition, registry)
    statement = submission.statement
    for name in ("result", "plan"):
        digest = getattr(statement, name, "")
        if digest:
            return f"{name} {digest[:12]}"
    role = getattr(statement, "role", "")
    return f"{role}'s key" if role else ""


def _name_model(digest: str, registry: Registry | None) -> str:
    model = registry.models.get(digest) if registry else None
    return model.name if model else digest


def _name_benchmark(definition: str, registry: Registry | None) -> str:
    for registered in registry.scorecards.values() if registry else ():
        for entry in registered.scorecard.benchmarks:
            if entry.definition == definition:
                return entry.id
    return definition
