"""Ask for a new epoch of the site's chain, after a comparison of this machine with the aggregator's log."""

from functools import partial

from starlette.responses import Response

from agent.disclosure.key_requests import ResetWish, draft_reset
from agent.disclosure.restored_site import (
    continue_after_restore,
    describe_restoration,
    find_open_restoration,
)
from agent.disclosure.site_standing import (
    SiteStanding,
    choose_reset_reason,
    describe_history,
    read_standing,
)
from agent.errors import AgentError, ConfigError
from agent.service.web.approval_pages import record_event
from agent.service.web.authors import BEGUN
from agent.service.web.call import Call
from agent.service.web.outbox_pages import require_registry
from agent.service.web.rotation_pages import require_steward_public
from agent.service.web.service import Desk

_REFUSED = 409
_REASONS = {
    "restored": "this machine was restored from a backup",
    "fork": "two machines ran as this site",
    "lost_agent_key": "the agent’s key is lost",
    "lost_steward_key": "the steward’s key is lost",
    "stolen_key": "a key was stolen",
}
"""RESET_REASONS of the protocol, in words."""


def show_reset_form(desk: Desk, call: Call) -> Response:
    """Show what a new epoch means, and the form. The aggregator is asked only when the form is sent."""
    return _draw_reset_form(desk, call)


def answer_reset_form(desk: Desk, call: Call) -> Response:
    """Compare this machine with the aggregator's log and, when that was asked for, go on or make the request."""
    standing = None
    try:
        step = call.get("step")
        wish = None if step in ("compare", "continue") else _read_reset_wish(call)
        standing = read_standing(desk.site, _read_carried_head(call), desk.store.clock.today_day())
        if step == "continue":
            return _continue(desk, call, standing)
        if wish is None:
            return _draw_reset_form(desk, call, standing=standing)
        record_event(desk, call, BEGUN, "kind=reset")
        draft_reset(
            desk.site,
            standing,
            wish,
            desk.store.clock.today_day(),
            partial(record_event, desk, call),
        )
    except AgentError as error:
        problem = f"{error}. {error.advice}"
        return _draw_reset_form(desk, call, status=_REFUSED, problem=problem, standing=standing)
    words = "The request is made. It waits for a steward, in the outbox."
    return desk.confirm(call, "/federation/requests/reset", words)


def _continue(desk: Desk, call: Call, standing: SiteStanding) -> Response:
    """Let a restored site submit again, which has lost nothing."""
    if call.get("head"):
        raise ConfigError(
            "a head that was carried here may be older than what this site has sent since",
            "On the site's machine, `intramural reset continue --head FILE --head-is-new` takes a new one.",
        )
    if call.get("alone") != "yes":
        raise ConfigError(
            "somebody must know that no other machine runs as this site",
            "Tick the box, or ask for a new epoch.",
        )
    continue_after_restore(desk.site, standing, partial(record_event, desk, call))
    return desk.confirm(call, "/federation", "Nothing is lost. This site submits again.")


def _read_reset_wish(call: Call) -> ResetWish:
    reason = call.require("reason", "the reason")
    if reason not in _REASONS:
        raise ConfigError("this is no reason of the list", "Choose a reason from the list.")
    new_agent_key = call.get("new_agent_key") == "yes"
    has_steward = bool(call.files.get("file"))
    if reason == "lost_steward_key" and not has_steward:
        raise ConfigError(
            "the steward's new public key is missing", "Choose the .pub file next to the new key."
        )
    if reason == "stolen_key" and not (has_steward or new_agent_key):
        raise ConfigError(
            "a stolen key needs a new one",
            "Tick the box for a new agent key, choose the steward's new .pub file, or both.",
        )
    return ResetWish(
        reason=reason,
        steward=require_steward_public(call) if has_steward else None,
        new_agent_key=new_agent_key,
        new_ledger=call.get("new_ledger") == "yes",
    )


def _read_carried_head(call: Call) -> str | None:
    """Return the aggregator's signed head that was pasted; browsers send its line ends as CR and LF."""
    text = call.get("head").replace("\r\n", "\n").strip()
    return f"{text}\n" if text else None


def _draw_reset_form(
    desk: Desk,
    call: Call,
    *,
    status: int = 200,
    problem: str = "",
    standing: SiteStanding | None = None,
) -> Response:
    require_registry(desk)
    suggested = call.get("reason")
    restoration = find_open_restoration(desk.site, desk.store)
    if standing is not None and not suggested and not standing.comparison.is_whole:
        suggested = choose_reset_reason(standing)
    return desk.draw(
        "reset.html",
        call,
        status,
        problem=problem,
        history=describe_history(standing) if standing else [],
        is_whole=standing is not None and standing.comparison.is_whole,
        ledger_is_lost=standing is not None and standing.ledger is None,
        reasons=_REASONS,
        chosen=suggested,
        head=call.get("head"),
        restored="" if restoration is None else describe_restoration(restoration),
    )
