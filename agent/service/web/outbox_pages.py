"""The pages of what would leave the site: all statements, and one with every figure and every byte."""

from starlette.responses import Response

from agent.access.roles import Action
from agent.delivery.outbox import Outbox, State, Submission
from agent.delivery.state_words import STATE_WORDS, explain_state
from agent.disclosure.exchange import REJECTION_WORDS
from agent.disclosure.plans import list_open_plans
from agent.disclosure.preview import make_page
from agent.disclosure.release_difference import compare_with_last
from agent.disclosure.site_gate import read_newest_registry, read_site_policy
from agent.errors import ConfigError, DisclosureError
from agent.service.web.authors import Authors, list_rejections, list_visible, read_authors
from agent.service.web.call import Call
from agent.service.web.job_pages import name_accounts
from agent.service.web.service import Desk
from agent.service.web.statement_steps import list_endings, list_steps
from agent.service.web.waiting_requests import list_waiting_requests
from protocol.predicates import ABANDON_REASONS, WITHDRAW_REASONS
from protocol.registry import Registry

_MIN_PREFIX_LENGTH = 8
_UNSENT = frozenset({State.APPROVED, State.SENT})


def list_outbox(desk: Desk, call: Call, *, status: int = 200, problem: str = "") -> Response:
    """Show the statements that the caller may see, newest first.

    Args:
        desk: what the handler works with.
        call: the request.
        status: the status of the answer.
        problem: why something that was just asked for could not be done; shown at the top.
    """
    caller = call.signed_in
    can_approve = caller.can_enter(Action.APPROVE_SUBMISSIONS)
    authors = read_authors(desk)
    submissions = list_visible(desk, call)
    registry = read_newest_registry(desk.site)
    rejections = list_rejections(authors, call)
    return desk.draw(
        "outbox.html",
        call,
        status,
        problem=problem,
        submissions=list(reversed(submissions)),
        states={item.digest: explain_state(item) for item in submissions},
        subjects={item.digest: name_subject(desk, item, registry) for item in submissions},
        rejections=rejections,
        rejected={
            item.digest: _name_about(desk, item.kind, item.about, registry) for item in rejections
        },
        names=name_accounts(desk),
        is_member=registry is not None,
        sees_all=caller.may(Action.VIEW_OUTBOX),
        waiting=sum(item.state is State.PREPARED for item in submissions),
        decidable=len(list_decidable(desk, call, authors)),
        unsent=sum(item.state in _UNSENT for item in submissions),
        key_requests=list_waiting_requests(desk) if can_approve else [],
        can_approve=can_approve,
        can_prepare=caller.can_enter(Action.PREPARE_SUBMISSIONS),
        can_register=caller.can_enter(Action.ADD_DATA),
        can_send=caller.can_enter(Action.SEND_SUBMISSIONS),
        can_see_receipts=caller.can_enter(Action.VIEW_RECEIPTS),
    )


def show_submission(desk: Desk, call: Call) -> Response:
    """Show exactly what would leave with one statement: every figure with its verdict, and the bytes."""
    visible = list_visible(desk, call)
    submission = _choose(visible, call.path["digest"])
    registry = require_registry(desk)
    outbox = Outbox(desk.site.submissions)
    policy, others = read_site_policy(desk.site), outbox.list_submissions()
    verdicts = {} if submission.kind == "rotate" else outbox.read_verdicts(submission.digest)
    page = make_page(submission, registry, policy, verdicts, others)
    caller = call.signed_in
    authors, account = read_authors(desk), caller.account.account_id
    names = name_accounts(desk)
    difference = compare_with_last(submission, registry, policy, others)
    return desk.draw(
        "submission.html",
        call,
        submission=submission,
        page=page,
        state=explain_state(submission),
        verdicts={word.cell: word.word for word in page.gate_words},
        steps=list_steps(authors.events, submission.digest, names),
        endings=list_endings(submission, others, authors.events, names),
        visible={item.digest for item in visible},
        state_words=STATE_WORDS,
        difference=difference,
        can_see_previous=difference is not None
        and any(item.digest == difference.previous for item in visible),
        following=_count_following_drafts(submission, others),
        had_part=account in authors.list_parties(submission),
        is_maker=account in authors.list_makers(submission),
        is_open_plan=submission.digest in {plan.digest for plan in list_open_plans(outbox)},
        can_approve=caller.can_enter(Action.APPROVE_SUBMISSIONS),
        can_prepare=caller.can_enter(Action.PREPARE_SUBMISSIONS),
        can_see_receipt=caller.can_enter(Action.VIEW_RECEIPTS),
        rejection_reasons=REJECTION_WORDS,
        withdraw_reasons=WITHDRAW_REASONS,
        abandon_reasons=ABANDON_REASONS,
    )


def _count_following_drafts(submission: Submission, others: list[Submission]) -> int:
    """Return the number of drafts that refer to a draft, and so are deleted with it."""
    drafts = [other for other in others if other.state is State.PREPARED]
    return sum(draft.place > submission.place for draft in drafts)


def require_registry(desk: Desk) -> Registry:
    """Return the newest registry. Raises ConfigError for a site that is not enrolled."""
    registry = read_newest_registry(desk.site)
    if registry is None:
        raise ConfigError(
            "this site is not enrolled with an aggregator",
            "An administrator begins that: their page Federation says how.",
        )
    return registry


def find_visible(desk: Desk, call: Call) -> Submission:
    """Return the statement of a route, if the caller may see it. Another's is answered like one that does not exist.

    Raises:
        DisclosureError: there is no such statement, or the caller may not see it.
    """
    return _choose(list_visible(desk, call), call.path["digest"])


def _choose(visible: list[Submission], prefix: str) -> Submission:
    matches: list[Submission] = []
    if len(prefix) >= _MIN_PREFIX_LENGTH:
        matches = [item for item in visible if item.digest.startswith(prefix)]
    if len(matches) != 1:
        raise DisclosureError(
            "there is no submission with this digest", "Choose one on the page of the outbox."
        )
    return matches[0]


def list_decidable(desk: Desk, call: Call, authors: Authors) -> list[Submission]:
    """Return the drafts that the caller can decide about now, in the order of the chain; none unless a steward.

    Drafts are approved in their order, so that the first one in which the caller had a part ends the list.
    """
    if not call.signed_in.can_enter(Action.APPROVE_SUBMISSIONS):
        return []
    account = call.signed_in.account.account_id
    decidable: list[Submission] = []
    for draft in Outbox(desk.site.submissions).list_submissions():
        if draft.state is not State.PREPARED:
            continue
        if account in authors.list_parties(draft):
            break
        decidable.append(draft)
    return decidable


def name_subject(desk: Desk, submission: Submission, registry: Registry | None) -> str:
    """Return what a statement is about: a model, a benchmark, another statement or a key, by its name on pages."""
    return _name_about(desk, submission.kind, submission.about, registry)


def _name_about(desk: Desk, kind: str, about: str, registry: Registry | None) -> str:
    match kind:
        case "result" | "plan":
            return _name_model(about, registry)
        case "dataset":
            return desk.name_benchmark(_find_benchmark(about, registry))
        case "withdraw":
            return f"result {about[:12]}"
        case "abandon":
            return f"plan {about[:12]}"
        case "rotate":
            return f"{about}’s key"
        case _:
            return about


def _name_model(digest: str, registry: Registry | None) -> str:
    model = registry.models.get(digest) if registry else None
    return model.name if model else digest


def _find_benchmark(definition: str, registry: Registry | None) -> str:
    for registered in registry.scorecards.values() if registry else ():
        for entry in registered.scorecard.benchmarks:
            if entry.definition == definition:
                return entry.id
    return definition
