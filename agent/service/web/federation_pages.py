"""The page of the site's membership: how the registry lists it, its keys, and what waits about them."""

from dataclasses import dataclass

from starlette.responses import Response

from agent.delivery.membership import Federation
from agent.delivery.outbox import Outbox, State
from agent.disclosure.registry_update import describe_enrolment, update_registry
from agent.disclosure.site_gate import list_scorecards, read_newest_registry
from agent.errors import AgentError, DeliveryError
from agent.io.days import today_day
from agent.service.web.approval_pages import record_event
from agent.service.web.call import Call
from agent.service.web.service import Desk
from agent.service.web.waiting_requests import is_key_listed, list_waiting_requests
from agent.site.new_keys import load_agent_keys
from protocol.description import format_day, name_both
from protocol.predicates import RotatePredicate
from protocol.registry import Site, SiteKey

_FAILED = 502
_REFUSED = 409
_ALMOST_EXPIRED_DAYS = 30


@dataclass(frozen=True, slots=True)
class KeyLine:
    """One key of the site in the registry.

    Attributes:
        role: agent or steward.
        fingerprint: the fingerprint, as people read it to each other.
        state: in force, replaced or revoked.
        is_here: whether this machine holds its private part.
    """

    role: str
    fingerprint: str
    state: str
    is_here: bool


def show_federation(
    desk: Desk, call: Call, *, status: int = 200, problem: str = "", notice: str = ""
) -> Response:
    """Show how the registry lists this site, and what an administrator can do about its keys."""
    federation = Federation(desk.site.submissions)
    registry = read_newest_registry(desk.site)
    if not federation.is_member:
        return desk.draw("federation_none.html", call, status, problem=problem)
    membership = federation.read_membership()
    entry = None if registry is None else registry.sites.get(membership.site)
    return desk.draw(
        "federation.html",
        call,
        status,
        problem=problem,
        notice=notice,
        membership=membership,
        registry=registry,
        standing=_describe(desk, membership.site),
        expires=format_day(registry.expires_day) if registry else "",
        days_left=registry.expires_day - today_day() if registry else 0,
        soon=_ALMOST_EXPIRED_DAYS,
        site_name=name_both(entry.display_name, membership.site) if entry else membership.site,
        keys=[_build_line(key, _list_own_keys(desk)) for key in (entry.keys if entry else ())],
        scorecards=[f"{card.name} version {card.version}" for card in list_scorecards(registry)]
        if registry
        else [],
        requests=list_waiting_requests(desk),
        has_pending_rotation=_has_pending_rotation(desk, entry),
    )


def update(desk: Desk, call: Call) -> Response:
    """Fetch the newest registry. If the aggregator cannot be reached, the present one stays in use."""
    try:
        done = update_registry(desk.site, desk.store.clock.today_day())
    except AgentError as error:
        status = _FAILED if isinstance(error, DeliveryError) else _REFUSED
        problem = f"{error}. The registry that this site has stays in use."
        return show_federation(desk, call, status=status, problem=problem)
    record_event(desk, call, "registry updated", f"version={done.registry.version}")
    notice = f"This is version {done.registry.version}, the newest."
    if done.has_new_agent_key:
        notice += (
            " The new agent key is in force and installed. A data scientist or a steward sends the statement about it "
            "in the outbox, for its receipt."
        )
    return show_federation(desk, call, notice=notice)


def _describe(desk: Desk, site_id: str) -> str:
    registry = read_newest_registry(desk.site)
    if registry is None:
        return (
            "this site has no registry yet: fetch it, after the central team has enrolled the site"
        )
    try:
        return describe_enrolment(desk.site, registry, site_id)
    except AgentError as error:
        return f"{error}. {error.advice}"


def _has_pending_rotation(desk: Desk, entry: Site | None) -> bool:
    """Return whether the replacement of a key was sent and is not in force, so that it can be taken back."""
    for link in Outbox(desk.site.submissions).list_submissions():
        rotation = link.statement
        if link.state is not State.SENT or not isinstance(rotation, RotatePredicate):
            continue
        if entry is None or not is_key_listed(entry, rotation):
            return True
    return False


def _list_own_keys(desk: Desk) -> frozenset[str]:
    """Return the ids of the agent's keys on this machine; none if they cannot be read."""
    try:
        return frozenset(signer.public.keyid for signer in load_agent_keys(desk.site.keys))
    except AgentError:
        return frozenset()


def _build_line(key: SiteKey, own_keys: frozenset[str]) -> KeyLine:
    state = "in force"
    if key.revoked_from is not None:
        state = "revoked"
    elif key.until_index is not None:
        state = "replaced"
    return KeyLine(key.role, key.key.fingerprint, state, key.key.keyid in own_keys)
