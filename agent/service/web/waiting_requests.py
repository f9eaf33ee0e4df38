"""Requests about keys that were made here: which of them wait for a signature or for the central team."""

from dataclasses import dataclass
from typing import Final

from agent.delivery.membership import Federation
from agent.delivery.outbox import LIVE, Outbox, State
from agent.disclosure.rekeying import Kind, read_kept
from agent.disclosure.site_gate import read_newest_registry
from agent.service.web.service import Desk
from protocol.envelope import Envelope, decode
from protocol.predicates import ResetPredicate, RotatePredicate
from protocol.registry import Site
from protocol.statements import parse_statement

KINDS: Final[tuple[Kind, ...]] = ("rotate", "reset")
_SENT_EVENTS: Final = frozenset({"reset sent", "rotation sent"})


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A request to replace a key or to begin a new epoch, which is not in force.

    Attributes:
        kind: `rotate` or `reset`.
        data: the file, with the signatures that this machine can make.
        envelope: the decoded file.
        statement: the parsed statement.
        is_sent: whether a signed version of it was sent, so that it waits for the central team.
    """

    kind: Kind
    data: bytes
    envelope: Envelope
    statement: ResetPredicate | RotatePredicate
    is_sent: bool

    @property
    def digest(self) -> str:
        """The digest of the statement."""
        return self.envelope.digest


def list_waiting_requests(desk: Desk) -> list[WaitingRequest]:
    """Return the requests about keys that are not in force yet."""
    waiting: list[WaitingRequest] = []
    for kind in KINDS:
        request = find_waiting_request(desk, kind)
        if request is not None:
            waiting.append(request)
    return waiting


def find_waiting_request(desk: Desk, kind: str) -> WaitingRequest | None:
    """Return the request of a kind that is not in force yet; None if there is none."""
    known = next((name for name in KINDS if name == kind), None)
    outbox = Outbox(desk.site.submissions)
    data = None if known is None else read_kept(outbox, known)
    registry = read_newest_registry(desk.site)
    if known is None or data is None or registry is None:
        return None
    envelope = decode(data)
    statement = parse_statement(envelope.payload)
    entry = registry.sites.get(Federation(desk.site.submissions).read_membership().site)
    if entry is None or not isinstance(statement, ResetPredicate | RotatePredicate):
        return None
    if isinstance(statement, ResetPredicate):
        is_waiting = statement.header.epoch > entry.epoch
    else:
        is_waiting = (
            statement.header.epoch == entry.epoch
            and not is_key_listed(entry, statement)
            and _is_free(outbox, envelope, statement)
        )
    if not is_waiting:
        return None
    return WaitingRequest(known, data, envelope, statement, _was_sent(desk, envelope.digest))


def is_key_listed(entry: Site, rotation: RotatePredicate) -> bool:
    """Return whether the registry lists the new key of a rotation, so that the rotation is in force."""
    return any(key.key.der == rotation.new_key for key in entry.keys)


def _is_free(outbox: Outbox, envelope: Envelope, statement: RotatePredicate) -> bool:
    """Return whether the chain has nothing in the place of a rotation but the rotation itself, without a receipt."""
    place = (statement.header.epoch, statement.header.seq)
    for link in outbox.list_submissions():
        if link.digest == envelope.digest:
            return link.state is State.SENT
        if link.state in LIVE and link.place >= place:
            return False
    return True


def _was_sent(desk: Desk, digest: str) -> bool:
    words = f"digest={digest}"
    sent = (event for event in desk.read_events() if event.event in _SENT_EVENTS)
    return any(words in event.detail for event in sent)
