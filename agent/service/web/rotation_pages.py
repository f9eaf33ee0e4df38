"""Ask for the replacement of a key: what will happen, and the request that a steward signs elsewhere."""

from functools import partial

from starlette.responses import Response

from agent.disclosure.key_requests import cancel_rotation, draft_rotation
from agent.disclosure.site_standing import read_standing
from agent.errors import AgentError, ConfigError
from agent.keys import parse_public
from agent.service.web.approval_pages import record_event
from agent.service.web.authors import BEGUN
from agent.service.web.call import Call
from agent.service.web.federation_pages import show_federation
from agent.service.web.outbox_pages import require_registry
from agent.service.web.service import Desk
from protocol.keys import PublicKey

_REFUSED = 409
_PRIVATE = b"PRIVATE KEY"


def show_rotation_form(desk: Desk, call: Call) -> Response:
    """Show what happens when a key is replaced, and the form."""
    return _draw_rotation_form(desk, call)


def request_rotation(desk: Desk, call: Call) -> Response:
    """Make the request to replace a key."""
    try:
        steward_public = None
        if call.get("role") == "steward":
            steward_public = require_steward_public(call)
        elif call.get("role") != "agent":
            raise ConfigError("no key is chosen", "Choose the agent's or the steward's.")
        record_event(desk, call, BEGUN, "kind=rotation")
        draft_rotation(
            desk.site,
            steward_public,
            desk.store.clock.today_day(),
            partial(record_event, desk, call),
        )
    except AgentError as error:
        return _draw_rotation_form(desk, call, status=_REFUSED, problem=f"{error}. {error.advice}")
    words = "The request is made. It waits for a steward, in the outbox."
    return desk.confirm(call, "/federation/requests/rotate", words)


def cancel(desk: Desk, call: Call) -> Response:
    """Cancel a rotation that the central team will not put in force."""
    try:
        standing = read_standing(desk.site, None, desk.store.clock.today_day())
        cancel_rotation(
            desk.site, standing, desk.store.clock.today_day(), partial(record_event, desk, call)
        )
    except AgentError as error:
        return show_federation(desk, call, status=_REFUSED, problem=f"{error}. {error.advice}")
    return desk.confirm(call, "/federation", "The rotation is cancelled.")


def require_steward_public(call: Call) -> PublicKey:
    """Return the steward's new public key from the file that was sent.

    Raises:
        ConfigError: no file was chosen, or it holds a private key, which nobody but its steward may have.
        StoreError: it is not a public key.
    """
    content = call.files.get("file", b"")
    if not content:
        raise ConfigError(
            "the steward's new public key is missing", "Choose the .pub file next to the new key."
        )
    if _PRIVATE in content:
        raise ConfigError(
            "this is a private key; it was not kept",
            "It was sent over the network, so the steward should make another key, and hand over its .pub file only.",
        )
    return parse_public(content)


def _draw_rotation_form(
    desk: Desk, call: Call, *, status: int = 200, problem: str = ""
) -> Response:
    require_registry(desk)
    return desk.draw("rotate.html", call, status, problem=problem, role=call.get("role", "agent"))
