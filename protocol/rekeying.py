"""Requests by which a site changes its keys or starts a new epoch (rule 8.8), and the registry entries they lead to.

A rotation is a link of the chain; both old keys and the new one sign it. A reset starts a new epoch after a roll-back,
a fork or a lost key; the two keys of the new epoch sign it. Neither is in force until the root keys have signed a
registry that includes it, before which a person at the aggregator compares the fingerprints.
"""

from dataclasses import dataclass, replace
from typing import Literal

from protocol import envelope
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey, load_public
from protocol.predicates import START_SEQ, Header, ResetPredicate, RotatePredicate
from protocol.registry import Registry, Role, Site, SiteKey
from protocol.statements import parse_statement
from protocol.verification import ChainHead, History, check_chain, check_context, check_ledger


@dataclass(frozen=True, slots=True)
class Rekeying:
    """A rotation or reset with valid signatures. A person still has to compare the fingerprints of new keys.

    Attributes:
        digest, pae: identity and leaf of the statement.
        keys: the site's two keys after the request, by role.
    """

    predicate: RotatePredicate | ResetPredicate
    digest: str
    pae: bytes
    keys: dict[Role, PublicKey]

    @property
    def header(self) -> Header:
        """The statement's header."""
        return self.predicate.header

    @property
    def head(self) -> ChainHead:
        """The site's chain head once the request is in force."""
        return ChainHead(self.header.epoch, self.header.seq, self.digest)


def open_rekeying(data: bytes, registry: Registry, history: History, *, log_index: int) -> Rekeying:
    """Check a request to rotate a key or to start a new epoch.

    Args:
        data: the envelope file.
        registry: the newest registry.
        history: the history of the site that the request names.
        log_index: index that its log entry would get.

    Raises:
        ProtocolError: MALFORMED, UNKNOWN_KEY, WRONG_KEYS, WEAK_KEY, DUPLICATE_KEY, BAD_SIGNATURE or WRONG_TYPE, or as
            `check_context` and `check_chain`; for a reset also WRONG_EPOCH, WRONG_PREV and LEDGER_ROLLED_BACK.
    """
    opened = envelope.decode(data)
    predicate = parse_statement(opened.payload)
    site = registry.sites.get(predicate.header.site)
    if site is None:
        raise ProtocolError(Code.UNKNOWN_KEY, "the site is not enrolled")
    match predicate:
        case RotatePredicate():
            return _open_rotation(opened, predicate, site, registry, history, log_index)
        case ResetPredicate():
            return _open_reset(opened, predicate, site, registry, history)
    raise ProtocolError(Code.WRONG_TYPE, "expected reset/v1 or rotate/v1")


def _open_rotation(
    opened: envelope.Envelope,
    predicate: RotatePredicate,
    site: Site,
    registry: Registry,
    history: History,
    log_index: int,
) -> Rekeying:
    new_key = load_public(predicate.new_key)
    _refuse_known(new_key, registry)
    old = {entry.role: entry.key for entry in site.keys if entry.valid_at(log_index)}
    signers = {key.keyid: key for key in (*old.values(), new_key)}
    _check_signed_by(opened, signers, count=3)
    check_context(predicate.header, registry)
    check_chain(predicate.header, registry, history)
    role: Role = "agent" if predicate.role == "agent" else "steward"
    return Rekeying(predicate, opened.digest, opened.pae, {**old, role: new_key})


def _open_reset(
    opened: envelope.Envelope,
    predicate: ResetPredicate,
    site: Site,
    registry: Registry,
    history: History,
) -> Rekeying:
    keys: dict[Role, PublicKey] = {
        "agent": load_public(predicate.agent_key),
        "steward": load_public(predicate.steward_key),
    }
    held = {entry.key.keyid: entry for entry in site.keys}
    for role, key in keys.items():
        entry = held.get(key.keyid)
        if entry is None:
            _refuse_known(key, registry)
        elif entry.role != role or entry.revoked_from is not None or entry.until_index is not None:
            raise ProtocolError(
                Code.WRONG_KEYS, f"the {role} key was replaced or revoked, or has the other role"
            )
    _check_signed_by(opened, {key.keyid: key for key in keys.values()}, count=2)
    header = predicate.header
    check_context(header, registry)
    head = history.head or ChainHead(site.epoch, START_SEQ, site.start)
    if header.epoch != head.epoch + 1:
        raise ProtocolError(Code.WRONG_EPOCH, f"epoch {header.epoch}; expected {head.epoch + 1}")
    if header.prev != head.digest:
        raise ProtocolError(Code.WRONG_PREV, "prev does not name the last accepted link")
    check_ledger(header.ledger, history.ledger)
    return Rekeying(predicate, opened.digest, opened.pae, keys)


def _refuse_known(key: PublicKey, registry: Registry) -> None:
    if registry.holds(key.keyid):
        raise ProtocolError(Code.DUPLICATE_KEY, f"key {key.keyid} is already in the registry")


def _check_signed_by(
    opened: envelope.Envelope, signers: dict[str, PublicKey], *, count: Literal[2, 3]
) -> None:
    if (
        len(signers) != count
        or {signature.keyid for signature in opened.signatures} != signers.keys()
    ):
        raise ProtocolError(
            Code.WRONG_KEYS,
            f"expected the signatures of {count} keys: every key that the request names or replaces",
        )
    opened.verify(signers)


def site_after(site: Site, rekeying: Rekeying, log_index: int) -> Site:
    """Return the site's registry entry once `rekeying` is in the log at `log_index`.

    A rotated key ends with the rotation. A reset revokes every key that it does not name.
    """
    is_reset = isinstance(rekeying.predicate, ResetPredicate)
    wanted = {key.keyid for key in rekeying.keys.values()}
    entries = []
    for entry in site.keys:
        ended = entry.until_index is not None or entry.revoked_from is not None
        if entry.key.keyid in wanted or ended:
            entries.append(entry)
        elif is_reset:
            entries.append(replace(entry, revoked_from=log_index))
        else:
            entries.append(replace(entry, until_index=log_index + 1))
    held = {entry.key.keyid for entry in entries}
    for role, key in rekeying.keys.items():
        if key.keyid not in held:
            entries.append(SiteKey(key, role, from_index=log_index + 1))
    if not is_reset:
        return replace(site, keys=tuple(entries))
    return replace(site, keys=tuple(entries), start=rekeying.digest, epoch=rekeying.header.epoch)


def answers(before: Site, after: Site, rekeying: Rekeying, log_index: int) -> bool:
    """Return whether a site's new registry entry implements a request in the log at `log_index`.

    Signing by several roots takes time, so the entry may have been made when the log was shorter. It may also grant
    less than the request, for example revoke a key from an earlier index.
    """
    proposed_at = {log_index}
    for entry in after.keys:
        proposed_at.add(entry.from_index - 1)
        if entry.until_index is not None:
            proposed_at.add(entry.until_index - 1)
        if entry.revoked_from is not None:
            proposed_at.add(entry.revoked_from)
    for index in proposed_at:
        if not 0 <= index <= log_index:
            continue
        asked = site_after(before, rekeying, index)
        has_all_keys = {entry.key.keyid for entry in asked.keys} == {
            entry.key.keyid for entry in after.keys
        }
        if has_all_keys and only_restricts(asked, after):
            return True
    return False


def only_restricts(before: Site, after: Site) -> bool:
    """Return whether `after` has no key or epoch that `before` lacks, and no key that may sign for longer.

    A key's start must not change: a later start would invalidate earlier signatures of the key without a revocation.
    """
    if (before.start, before.epoch) != (after.start, after.epoch):
        return False
    known = {entry.key.keyid: entry for entry in before.keys}
    for entry in after.keys:
        old = known.get(entry.key.keyid)
        if (
            old is None
            or (old.key, old.role) != (entry.key, entry.role)
            or entry.from_index != old.from_index
        ):
            return False
        if not _ends_no_later(old.until_index, entry.until_index):
            return False
        if not _ends_no_later(old.revoked_from, entry.revoked_from):
            return False
    return True


def _ends_no_later(before: int | None, after: int | None) -> bool:
    return before is None or (after is not None and after <= before)


def open_proposed_rekeying(data: bytes, registry: Registry, *, log_index: int) -> Rekeying:
    """Check the signatures and keys of a request without the log, as a person who signs a registry can.

    Its stated position in the chain is not checked. The aggregator does so when the registry comes into force.

    Raises:
        ProtocolError: as `open_rekeying`.
    """
    header = parse_statement(envelope.decode(data).payload).header
    head = ChainHead(header.epoch, header.seq - 1, header.prev)
    if header.seq == START_SEQ:
        head = ChainHead(header.epoch - 1, START_SEQ, header.prev)
    return open_rekeying(data, registry, History(head=head), log_index=log_index)
