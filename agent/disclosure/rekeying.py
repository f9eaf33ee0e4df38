"""Requests of the site to start a new epoch or to replace a key (`protocol.rekeying`): made, kept, and checked again.

    submissions/reset.dsse.json    the reset as the agent signed it; asking for the same again gives the same bytes
    submissions/rotate.dsse.json   the rotation likewise

A reset adds an entry to the ledger, with a number that no ledger of the site had before; it is written before the
request, so that no crash leaves a request whose ledger nobody has.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from agent.delivery.departure import list_site_keys
from agent.delivery.outbox import Outbox, State
from agent.disclosure.chain import settle_chain
from agent.disclosure.ledger import Ledger, append_entry
from agent.disclosure.recovery import HistoryComparison, follow_with_reset
from agent.errors import DisclosureError
from agent.io.atomic_files import read_bounded, sync_directory, write_atomically
from protocol import envelope
from protocol.envelope import MAX_BYTES, STATEMENT_TYPE, Envelope
from protocol.errors import ProtocolError
from protocol.keys import PublicKey, Signer, load_public
from protocol.predicates import START_SEQ, Header, ResetPredicate, RotatePredicate
from protocol.registry import Registry
from protocol.statements import build_statement, parse_statement

Kind = Literal["reset", "rotate"]
_WAITING: Final = frozenset({State.PREPARED, State.APPROVED, State.SENT})
_ASK_AGAIN: Final = "Nothing was sent. Make the request again, and have exactly that file signed."


def set_ledger_aside(outbox: Outbox) -> int:
    """Move the ledger's folder aside, as evidence; return the number of its last entry. The caller holds the outbox."""
    last = _last_number(outbox.ledger)
    if last:
        place = next(place for place in _aside_places(outbox) if not place.exists())
        outbox.ledger.rename(place)
        sync_directory(outbox.directory)
    # A crash may have come between setting aside and the new ledger's first entry.
    return max(
        last, *(_last_number(place) for place in outbox.directory.glob("ledger-set-aside-*")), 0
    )


def _aside_places(outbox: Outbox) -> "list[Path]":
    return [outbox.directory / f"ledger-set-aside-{number:04d}" for number in range(1, 10_000)]


def _last_number(ledger: Path) -> int:
    """Return the highest number in the names of a ledger's files, whatever they hold; 0 for none."""
    numbers = [int(path.stem) for path in ledger.glob("*.json") if path.stem.isdecimal()]
    return max(numbers, default=0)


def request_reset(
    outbox: Outbox,
    registry: Registry,
    comparison: HistoryComparison,
    ledger: Ledger,
    *,
    agent: Signer,
    steward: PublicKey,
    reason: str,
    ledger_seal: bytes,
    today_day: int,
    set_aside: int = 0,
) -> bytes:
    """Return the request for a new epoch with the agent's signature. The caller holds the outbox.

    Args:
        outbox: where it is kept.
        registry: the newest.
        comparison: with the aggregator's word.
        ledger: the site's; an empty one where the old one was set aside.
        agent: the key that signs from now on.
        steward: the steward's from now on.
        reason: one of RESET_REASONS.
        ledger_seal: see `derive_ledger_key`.
        today_day: days since 1970-01-01 UTC.
        set_aside: number of the last entry of the ledger that was set aside.

    Raises:
        StoreError: the disk refuses.
    """
    head = comparison.head
    kept = read_kept(outbox, "reset")
    if kept is not None:
        statement = parse_statement(envelope.decode(kept).payload)
        same_place = (statement.header.epoch, statement.header.prev) == (
            head.epoch + 1,
            head.digest,
        )
        wanted = ResetPredicate(statement.header, agent.public.der, steward.der, reason)
        if statement == wanted and same_place and ledger.holds(statement.header.ledger):
            return kept
    followed = follow_with_reset(ledger, comparison, today_day=today_day, set_aside=set_aside)
    if followed != ledger:
        append_entry(outbox.ledger, followed, ledger_seal)
    header = Header(
        registry.deployment,
        head.site,
        head.epoch + 1,
        START_SEQ,
        head.digest,
        registry.version,
        followed.head,
    )
    statement = ResetPredicate(header, agent.public.der, steward.der, reason)
    return _keep(outbox, "reset", envelope.sign(build_statement(statement), [agent]))


def request_rotation(
    outbox: Outbox,
    registry: Registry,
    site: str,
    ledger: Ledger,
    *,
    role: str,
    signers: Mapping[str, Signer],
    new: PublicKey,
) -> bytes:
    """Return the request to replace a key, with the signatures that this machine can make.

    Args:
        outbox: where it is kept; the caller holds it.
        registry: the newest.
        site: the site's id.
        ledger: the site's.
        role: `agent` or `steward`: whose key is replaced.
        signers: by key id: the agent's present key, and the new one where it is the agent's.
        new: the new key.

    Raises:
        DisclosureError: a submission waits, whose place or signatures the rotation would take away.
    """
    end = settle_chain(outbox, registry.sites[site], outbox.list_submissions())
    waiting = [
        submission for submission in outbox.list_submissions() if submission.state in _WAITING
    ]
    if waiting:
        raise DisclosureError(
            f"submission {waiting[0].digest[:12]} is {waiting[0].state.value}: its keys would end before it arrives",
            "Send what waits, and discard drafts, before a key is replaced.",
        )
    header = end.header(registry, site, ledger.head)
    payload = build_statement(RotatePredicate(header, role, new.der))
    return _keep(outbox, "rotate", envelope.sign(payload, list(signers.values())))


def check_signed(
    data: bytes, outbox: Outbox, kind: Kind, registry: Registry, site: str
) -> Envelope:
    """Check that a request came back as it was made here, with every signature that it needs and no other.

    Raises:
        DisclosureError: it is another one, or a signature is missing, of somebody else, or wrong.
    """
    kept = read_kept(outbox, kind)
    if kept is None:
        raise DisclosureError(
            f"no {kind} was requested here", f"Make one with `intramural {kind} request`."
        )
    try:
        opened = envelope.decode(data)
        if opened.digest != envelope.decode(kept).digest:
            raise DisclosureError("this is not the request that was made here", _ASK_AGAIN)
        needed = _needed_keys(opened, registry, site)
        signers = {signature.keyid for signature in opened.signatures}
        if signers != needed.keys():
            raise DisclosureError(
                f"the request has {len(signers)} signatures; it needs those of {len(needed)} keys, and no other",
                "The steward signs it with `intramural-steward sign-request REQUEST --key KEY --out SIGNED`; where the "
                "steward's key is replaced, with the old key and then with the new one.",
            )
        opened.verify(needed)
    except ProtocolError as error:
        raise DisclosureError(f"the request does not verify ({error.code})", _ASK_AGAIN) from None
    return opened


def _needed_keys(opened: Envelope, registry: Registry, site: str) -> dict[str, PublicKey]:
    statement = parse_statement(opened.payload)
    if isinstance(statement, ResetPredicate):
        keys = [load_public(statement.agent_key), load_public(statement.steward_key)]
        return {key.keyid: key for key in keys}
    assert isinstance(statement, RotatePredicate), "it is the request that was made here"
    new = load_public(statement.new_key)
    return {
        **list_site_keys(registry, site, "agent"),
        **list_site_keys(registry, site, "steward"),
        new.keyid: new,
    }


def read_kept(outbox: Outbox, kind: Kind) -> bytes | None:
    """Return the request that was made last, None if there was none. Raises StoreError."""
    path = _kept_path(outbox, kind)
    return (
        read_bounded(path, MAX_BYTES[STATEMENT_TYPE], f"the {kind} request")
        if path.exists()
        else None
    )


def _keep(outbox: Outbox, kind: Kind, data: bytes) -> bytes:
    write_atomically(_kept_path(outbox, kind), data)
    return data


def _kept_path(outbox: Outbox, kind: Kind) -> Path:
    return outbox.directory / f"{kind}.dsse.json"
