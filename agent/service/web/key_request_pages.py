"""A request about keys: its page for whoever asked and for stewards, and the hand-in of what a steward signed.

No private key of a steward is ever asked for. Who asked for a request cannot hand it in, whatever roles they hold.
"""

from functools import partial

from starlette.responses import Response

from agent.access.roles import Action
from agent.delivery.departure import list_site_keys
from agent.delivery.membership import Federation
from agent.disclosure.key_requests import send_reset, send_rotation
from agent.errors import ConfigError, DeliveryError, DisclosureError
from agent.service.web.approval_pages import find_party_fault, record_event
from agent.service.web.authors import read_authors
from agent.service.web.call import Call
from agent.service.web.outbox_pages import require_registry
from agent.service.web.service import Desk
from agent.service.web.waiting_requests import WaitingRequest, find_waiting_request
from protocol.describe import describe_request
from protocol.envelope import Envelope
from protocol.keys import load_public
from protocol.predicates import ResetPredicate, RotatePredicate
from protocol.statements import parse_statement


def show_request(desk: Desk, call: Call) -> Response:
    """Show exactly what a request about keys says, with its bytes."""
    request = _find_request(desk, call)
    account = call.signed_in.account.account_id
    return desk.draw(
        "key_request.html",
        call,
        request=request,
        description=describe_request(request.envelope.payload),
        signatures=len(request.envelope.signatures),
        is_twice=isinstance(request.statement, RotatePredicate)
        and request.statement.role == "steward",
        had_part=account in _list_parties(desk, request.digest),
        can_approve=call.signed_in.can_enter(Action.APPROVE_SUBMISSIONS),
        can_manage=call.signed_in.can_enter(Action.MANAGE_KEYS),
    )


def download_request(desk: Desk, call: Call) -> Response:
    """Hand out the request, which the steward reads and signs with their own tool."""
    request = _find_request(desk, call)
    record_event(desk, call, "key request handed out", f"digest={request.digest}")
    headers = {"Content-Disposition": f'attachment; filename="{request.kind}-request.json"'}
    return Response(request.data, headers=headers, media_type="application/json")


def hand_in(desk: Desk, call: Call) -> Response:
    """Take the request that the steward signed, and send it. The central team decides about it."""
    request = _find_request(desk, call)
    content = call.files.get("file", b"")
    if not content:
        raise ConfigError("no file was chosen", "Choose the file that the steward's tool wrote.")
    audit, check = partial(record_event, desk, call), partial(_check_signer, desk, call)
    try:
        if request.kind == "rotate":
            send_rotation(desk.site, content, desk.store.clock.today_day(), audit, check=check)
        else:
            send_reset(desk.site, content, desk.store.clock.today_day(), audit, check=check)
    except DeliveryError as error:
        raise DeliveryError(
            f"the request was not delivered: {error}", "Hand the same file in again later."
        ) from None
    words = "The request is signed and sent. The central team decides about it."
    return desk.confirm(call, "/outbox", words)


def _check_signer(desk: Desk, call: Call, opened: Envelope) -> None:
    """Check that who hands a signed request in had no part in it, and remember the steward's keys that signed it.

    Raises:
        DisclosureError: the account or a key belongs to someone who asked for it.
    """
    statement = parse_statement(opened.payload)
    site_id = statement.header.site
    signing_keys = _list_steward_keys(desk, opened, statement)
    fault = find_party_fault(desk, call, _list_parties(desk, opened.digest), site_id, signing_keys)
    if fault:
        raise DisclosureError(
            f"this request cannot be handed in by you: {fault}",
            "A steward who did not ask for it must hand in the signed file.",
        )
    for keyid in sorted(signing_keys):
        desk.store.accounts.add_key(call.signed_in.account.account_id, keyid)


def _list_steward_keys(desk: Desk, opened: Envelope, statement: object) -> set[str]:
    """Return the ids of the steward's keys, old and new, that signed a request."""
    site_id = Federation(desk.site.submissions).read_membership().site
    stewards = set(list_site_keys(require_registry(desk), site_id, "steward"))
    if isinstance(statement, ResetPredicate):
        stewards.add(load_public(statement.steward_key).keyid)
    if isinstance(statement, RotatePredicate) and statement.role == "steward":
        stewards.add(load_public(statement.new_key).keyid)
    return stewards & {signature.keyid for signature in opened.signatures}


def _list_parties(desk: Desk, digest: str) -> frozenset[str]:
    """Return the accounts that asked for a request; if that is unknown, all that ever began to draft something."""
    authors = read_authors(desk)
    return frozenset(authors.find_drafters(digest) or authors.find_beginners())


def _find_request(desk: Desk, call: Call) -> WaitingRequest:
    """Return the request of a route. Raises ConfigError if there is none."""
    request = find_waiting_request(desk, call.path["kind"])
    if request is None:
        raise ConfigError(
            "no such request is waiting",
            "An administrator makes one on the page of the federation; one in force needs nothing more.",
        )
    return request
