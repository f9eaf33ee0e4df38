"""Draft statements without figures, and discard drafts: plans, plans that are given up, and withdrawn results."""

from functools import partial

from starlette.responses import Response

from agent.delivery.outbox import Outbox
from agent.disclosure.approval import discard
from agent.disclosure.drafting import abandon_plan, plan_evaluation, withdraw_result
from agent.errors import AgentError, ConfigError, DisclosureError
from agent.io.wording import format_count
from agent.service.web.approval_pages import record_event
from agent.service.web.authors import BEGUN, read_authors
from agent.service.web.call import Call
from agent.service.web.drafting_pages import list_scorecard_names
from agent.service.web.outbox_pages import find_visible, require_registry
from agent.service.web.service import Desk
from protocol.predicates import ABANDON_REASONS, MODEL_ASSURANCES, WITHDRAW_REASONS

_MAX_PLAN_DAYS = 127  # the protocol's limit
_PLAN_DAYS = 30
_REFUSED = 409
_WAITS = "It waits for a steward."
_ASSURANCE_WORDS = {
    "served_claimed": "its server says so",
    "weights_hashed": "the agent itself serves it, and every run is made with the same weights",
}


def show_plan_form(desk: Desk, call: Call) -> Response:
    """Show the form for a plan."""
    return _draw_plan_form(desk, call)


def draft_plan(desk: Desk, call: Call) -> Response:
    """Draft a plan."""
    try:
        assurance = call.get("assurance", "served_claimed")
        if assurance not in MODEL_ASSURANCES:
            raise ConfigError("this is no evidence of the list", "Choose from the list.")
        model, days = call.require("model", "the model"), _read_days(call)
        record_event(desk, call, BEGUN, "kind=plan")
        drafted = plan_evaluation(
            desk.site,
            call.get("scorecard").strip() or None,
            model,
            assurance=assurance,
            days=days,
            today_day=desk.store.clock.today_day(),
            audit=partial(record_event, desk, call),
        )
    except AgentError as error:
        return _draw_plan_form(desk, call, status=_REFUSED, problem=f"{error}. {error.advice}")
    return desk.confirm(call, f"/outbox/{drafted.digest}", f"The plan is drafted. {_WAITS}")


def abandon(desk: Desk, call: Call) -> Response:
    """Draft the statement that a plan will have no result."""
    submission = find_visible(desk, call)
    reason = _read_reason(call, ABANDON_REASONS)
    record_event(desk, call, BEGUN, "kind=abandon")
    audit = partial(record_event, desk, call)
    drafted = abandon_plan(
        desk.site, submission.digest, reason, desk.store.clock.today_day(), audit
    )
    words = f"The statement that the plan is given up is drafted. {_WAITS}"
    return desk.confirm(call, f"/outbox/{drafted.digest}", words)


def withdraw(desk: Desk, call: Call) -> Response:
    """Draft the withdrawal of a result from the board."""
    submission = find_visible(desk, call)
    reason = _read_reason(call, WITHDRAW_REASONS)
    record_event(desk, call, BEGUN, "kind=withdraw")
    audit = partial(record_event, desk, call)
    drafted = withdraw_result(
        desk.site, submission.digest, reason, desk.store.clock.today_day(), audit
    )
    words = f"The withdrawal is drafted. {_WAITS}"
    return desk.confirm(call, f"/outbox/{drafted.digest}", words)


def discard_draft(desk: Desk, call: Call) -> Response:
    """Delete a draft of one's own, with the drafts that follow it. None of them has left the site."""
    submission = find_visible(desk, call)
    account = call.signed_in.account.account_id
    if account not in read_authors(desk).list_makers(submission):
        raise DisclosureError(
            f"draft {submission.digest[:12]} is not your work, so you cannot discard it",
            "A steward can reject it.",
        )
    gone = discard(
        Outbox(desk.site.submissions), submission.digest, audit=partial(record_event, desk, call)
    )
    return desk.confirm(call, "/outbox", f"{format_count(len(gone), 'draft')} discarded.")


def _draw_plan_form(desk: Desk, call: Call, *, status: int = 200, problem: str = "") -> Response:
    registry = require_registry(desk)
    return desk.draw(
        "plan.html",
        call,
        status,
        problem=problem,
        models=sorted(model.name for model in registry.models.values()),
        scorecards=list_scorecard_names(registry),
        assurances=_ASSURANCE_WORDS,
        chosen={
            "model": call.get("model"),
            "scorecard": call.get("scorecard"),
            "assurance": call.get("assurance", "served_claimed"),
            "days": call.get("days", str(_PLAN_DAYS)),
        },
        most_days=_MAX_PLAN_DAYS,
    )


def _read_days(call: Call) -> int:
    days = call.get("days").strip()
    is_number = days.isascii() and days.isdigit() and len(days) <= len(str(_MAX_PLAN_DAYS))
    if not (is_number and 1 <= int(days) <= _MAX_PLAN_DAYS):
        raise ConfigError(
            f"the days until the result is due must be a whole number from 1 to {_MAX_PLAN_DAYS}",
            "Correct the field.",
        )
    return int(days)


def _read_reason(call: Call, reasons: tuple[str, ...]) -> str:
    reason = call.require("reason", "the reason")
    if reason not in reasons:
        raise ConfigError("this is no reason of the list", "Choose a reason from the list.")
    return reason
