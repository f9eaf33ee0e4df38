"""The site's requests to start a new epoch or to replace a key (`protocol.rekeying`).

    submissions/reset.dsse.json    the reset, signed by the agent; repeating the same request gives the same bytes
    submissions/rotate.dsse.json   the rotation, signed by the keys on this machine

A reset adds an entry to the ledger, with a number that no ledger of the site has had before. It is written before the
request, so that a crash cannot leave a request without its ledger.
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
_ASK_AGAIN: Final = "Nothing was sent. Create the request again, and have that file signed."


def set_ledger_aside(outbox: Outbox) -> int:
    """Rename the ledger's folder, to keep it as evidence, and return the number of its last entry.

    The caller holds the outbox.
    """
    last = _find_last_number(outbox.ledger)
    if last:
        folder = next(folder for folder in _list_aside_folders(outbox) if not folder.exists())
        outbox.ledger.rename(folder)
        sync_directory(outbox.directory)
    # Earlier folders count as well: there may have been a crash before the new ledger got its first entry.
    folders = outbox.directory.glob("ledger-set-aside-*")
    return max([last, *map(_find_last_number, folders)])


def _list_aside_folders(outbox: Outbox) -> "list[Path]":
    return [outbox.directory / f"ledger-set-aside-{number:04d}" for number in range(1, 10_000)]


def _find_last_number(ledger: Path) -> int:
    """Return the highest number in the names of a ledger's files, without reading them; 0 if there are none."""
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
        outbox: the site's outbox, where the request is stored.
        registry: the newest registry.
        comparison: the comparison with the aggregator's log.
        ledger: the site's ledger; an empty one if the old one was set aside.
        agent: the agent's key in the new epoch.
        steward: the steward's key in the new epoch.
        reason: one of RESET_REASONS.
        ledger_seal: the key for the ledger's MACs, see `derive_ledger_key`.
        today_day: days since 1970-01-01 UTC.
        set_aside: number of the last entry in the ledger that was set aside; 0 if none was.

    Raises:
        StoreError: a file cannot be written.
    """
    head = comparison.head
    kept = read_kept(outbox, "reset")
    if kept is not None:
        statement = parse_statement(envelope.decode(kept).payload)
        has_same_position = (statement.header.epoch, statement.header.prev) == (
            head.epoch + 1,
            head.digest,
        )
        wanted = ResetPredicate(statement.header, agent.public.der, steward.der, reason)
        if statement == wanted and has_same_position and ledger.holds(statement.header.ledger):
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
        outbox: the site's outbox, where the request is stored; the caller holds it.
        registry: the newest registry.
        site: the site's id.
        ledger: the site's ledger.
        role: role of the key that is replaced, `agent` or `steward`.
        signers: the agent's current key, and the new key if it is the agent's, by key id.
        new: the new key.

    Raises:
        DisclosureError: a waiting submission would become invalid by the rotation.
    """
    end = settle_chain(outbox, registry.sites[site], outbox.list_submissions())
    waiting = [
        submission for submission in outbox.list_submissions() if submission.state in _WAITING
    ]
    if waiting:
        raise DisclosureError(
            f"submission {waiting[0].digest[:12]} is {waiting[0].state.value}: a key that signed it would be replaced "
            "before it arrives",
            "Send waiting submissions and discard drafts before you replace a key.",
        )
    header = end.header(registry, site, ledger.head)
    payload = build_statement(RotatePredicate(header, role, new.der))
    return _keep(outbox, "rotate", envelope.sign(payload, list(signers.values())))


def check_signed(
    data: bytes, outbox: Outbox, kind: Kind, registry: Registry, site: str
) -> Envelope:
    """Check that a signed request is the one that was made here, with exactly the required signatures.

    Raises:
        DisclosureError: it is a different request, or a signature is missing, made by another key, or wrong.
    """
    kept = read_kept(outbox, kind)
    if kept is None:
        raise DisclosureError(
            f"no {kind} was requested here",
            f"Create a request with `intramural {kind} request`.",
        )
    try:
        opened = envelope.decode(data)
        if opened.digest != envelope.decode(kept).digest:
            raise DisclosureError("this is not the request that was made here", _ASK_AGAIN)
        needed = _list_needed_keys(opened, registry, site)
        signers = {signature.keyid for signature in opened.signatures}
        if signers != needed.keys():
            raise DisclosureError(
                f"the request has {len(signers)} signatures; it must have those of exactly {len(needed)} keys",
                "The steward signs it with `intramural-steward sign-request REQUEST --key KEY --out SIGNED`. To "
                "replace the steward's key, the steward signs with the old key and then with the new one.",
            )
        opened.verify(needed)
    except ProtocolError as error:
        raise DisclosureError(f"the request does not verify ({error.code})", _ASK_AGAIN) from None
    return opened


def _list_needed_keys(opened: Envelope, registry: Registry, site: str) -> dict[str, PublicKey]:
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
    """Return the last reset or rotation request, or None. Raises StoreError if it cannot be read."""
    path = _kept_path(outbox, kind)
    return (
        read_bounded(path, MAX_BYTES[STATEMENT_TYPE], f"the {kind} request")
        if path.exists()
        else None
    )


def read_reset_digest(outbox: Outbox) -> str:
    """Return the digest of the last request for a new epoch that was made here; "" if there is none."""
    kept = read_kept(outbox, "reset")
    return "" if kept is None else envelope.decode(kept).digest


def _keep(outbox: Outbox, kind: Kind, data: bytes) -> bytes:
    write_atomically(_kept_path(outbox, kind), data)
    return data


def _kept_path(outbox: Outbox, kind: Kind) -> Path:
    return outbox.directory / f"{kind}.dsse.json"
