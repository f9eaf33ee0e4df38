"""Ask for another key or a new epoch, and send what the steward signed; commands and pages call the same functions."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agent.delivery.departure import list_site_keys
from agent.delivery.membership import Federation
from agent.delivery.outbox import Outbox, State
from agent.disclosure.approval import Audit
from agent.disclosure.chain import settle_chain
from agent.disclosure.ledger import Ledger, derive_ledger_key
from agent.disclosure.ledger_report import read_site_ledger
from agent.disclosure.prepare import find_enrolled_site
from agent.disclosure.rekeying import (
    check_signed,
    request_reset,
    request_rotation,
    set_ledger_aside,
)
from agent.disclosure.restored_site import find_open_restoration, require_own_history
from agent.disclosure.site_gate import connect_aggregator
from agent.disclosure.site_standing import SiteStanding
from agent.errors import ConfigError, DeliveryError, DisclosureError
from agent.keys import KeyRole, load_signer
from agent.site.directory import Site
from agent.site.new_keys import load_new_agent_key, load_present_agent_key
from protocol.envelope import Envelope, decode
from protocol.keys import PublicKey, Signer
from protocol.registry import Registry
from protocol.statements import parse_statement

_MAX_ANSWER: Final = 128 * 1024  # maximum bytes of a reply; a receipt has less than 64 KiB
_IN_CHAIN: Final = frozenset({State.SENT, State.RECEIPTED})

Check = Callable[[Envelope], None]
"""Raises DisclosureError if this signed request may not be sent."""


@dataclass(frozen=True, slots=True)
class ResetWish:
    """What a request for a new epoch asks for.

    Attributes:
        reason: one of RESET_REASONS.
        steward: the steward's new key; None to keep the present one.
        new_agent_key: whether the agent gets a new key.
        new_ledger: whether an unreadable ledger is set aside and a new one is begun.
    """

    reason: str
    steward: PublicKey | None = None
    new_agent_key: bool = False
    new_ledger: bool = False


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """A request that the agent signed, for the steward.

    Attributes:
        data: the file.
        digest: the digest of its statement.
        keys: the keys that it names, by their owner: `agent` or `steward`.
    """

    data: bytes
    digest: str
    keys: dict[str, PublicKey]


def draft_rotation(
    site: Site, steward_public: PublicKey | None, today_day: int, audit: Audit
) -> KeyRequest:
    """Request the replacement of a key: the agent's, or the steward's if a new public one is given.

    A new agent key is stored as keys/agent.key.new, and replaces the old one once the registry names it.

    Raises:
        ConfigError, DisclosureError: the site is not enrolled, or a statement waits that the old key signed.
        StoreError: a key cannot be read or written.
    """
    require_own_history(site)
    registry, outbox = (
        Federation(site.submissions).read_registry(today_day),
        Outbox(site.submissions),
    )
    old = load_signer(site.keys / "agent.key", KeyRole.AGENT)
    role = "agent" if steward_public is None else "steward"
    signers: dict[str, Signer] = {old.public.keyid: old}
    with outbox.held():
        new = steward_public
        if new is None:
            signer = load_new_agent_key(site.keys)
            new, signers[signer.public.keyid] = signer.public, signer
        site_id = find_enrolled_site(registry, old.public.keyid)
        data = request_rotation(
            outbox,
            registry,
            site_id,
            read_site_ledger(site),
            role=role,
            signers=signers,
            new=new,
        )
    digest = decode(data).digest
    audit("rotation requested", f"role={role} key={new.keyid} digest={digest} day={today_day}")
    return KeyRequest(data, digest, {role: new})


def send_rotation(
    site: Site,
    data: bytes,
    today_day: int,
    audit: Audit,
    *,
    check: Check | None = None,
    post: bool = True,
) -> None:
    """Send a rotation that the steward signed. Until it is in force, nothing else can be prepared.

    Args:
        site: the site.
        data: the signed request.
        today_day: days since 1970-01-01 UTC.
        audit: the site's audit log.
        check: a further condition, asked before anything is changed.
        post: whether it is sent over the network; otherwise it is only recorded as sent, to be carried.

    Raises:
        DisclosureError: it is not the request that was made here, lacks a signature, or no longer fits the chain.
        DeliveryError: it could not be delivered; it counts as sent, and sending again does no harm.
    """
    federation, outbox = Federation(site.submissions), Outbox(site.submissions)
    require_own_history(site)
    registry, own = federation.read_registry(today_day), federation.read_membership().site
    opened = check_signed(data, outbox, "rotate", registry, own)
    if check is not None:
        check(opened)
    with outbox.held():
        in_chain = {link.digest for link in outbox.list_submissions() if link.state in _IN_CHAIN}
        if opened.digest not in in_chain:
            end = settle_chain(outbox, registry.sites[own], outbox.list_submissions())
            header = parse_statement(opened.payload).header
            if (header.epoch, header.seq, header.prev) != (end.epoch, end.seq, end.prev):
                raise DisclosureError(
                    "the site's chain has grown since the rotation was requested",
                    "Nothing was sent. Request the rotation again, and have the new request signed.",
                )
            if not outbox.restore(opened.digest):
                outbox.put_approved(opened.digest, data)
            # Recorded before anything is sent: from now on the chain may contain this link.
            outbox.mark_sent(opened.digest, today_day)
    audit("rotation sent", f"digest={opened.digest} day={today_day}")
    if post:
        _post_request(site, data, opened.digest)


def cancel_rotation(site: Site, standing: SiteStanding, today_day: int, audit: Audit) -> list[str]:
    """Cancel a rotation that the central team will not put in force; return the digests of what was cancelled.

    Raises:
        ConfigError: no rotation is pending.
        DisclosureError: the aggregator's log contains it, or another link in its place.
    """
    outbox = Outbox(site.submissions)
    cancelled: list[str] = []
    with outbox.held():
        for link in outbox.list_submissions():
            if link.kind != "rotate" or link.state is not State.SENT:
                continue
            if link.header.seq <= standing.comparison.head.seq:
                raise DisclosureError(
                    "the aggregator's log contains the rotation, or another link in its place",
                    "Nothing was changed.",
                )
            outbox.make_void(link.digest)
            audit("rotation cancelled", f"digest={link.digest} day={today_day}")
            cancelled.append(link.digest)
    if not cancelled:
        raise ConfigError(
            "no rotation is pending", "`intramural submission status` lists the site's chain."
        )
    return cancelled


def draft_reset(
    site: Site, standing: SiteStanding, wish: ResetWish, today_day: int, audit: Audit
) -> KeyRequest:
    """Request a new epoch, which begins where the site's chain ends in the aggregator's log.

    Repeating the same request gives the same bytes.

    Raises:
        ConfigError: nothing is lost, or a key is missing.
        DisclosureError: the ledger cannot be read, and no new one is wished for.
        StoreError: a key or a file cannot be read or written.
    """
    if standing.ledger is None and not wish.new_ledger:
        raise DisclosureError(
            standing.ledger_fault,
            "Restore submissions/ledger from a backup. If no backup is intact, give --new-ledger: the old one is "
            "set aside, and figures of the datasets registered in it stay suppressed.",
        )
    if (
        standing.comparison.is_whole
        and wish.reason in ("restored", "fork")
        and not _is_restored(site)
    ):
        raise ConfigError(
            "this machine has everything that the aggregator has, so there is nothing to reset",
            "Continue with `intramural submission send`.",
        )
    agent = _choose_agent_key(site, standing, new_agent_key=wish.new_agent_key)
    steward = wish.steward or find_steward_key(standing.registry, standing.site_id)
    outbox = Outbox(site.submissions)
    with outbox.held():
        set_aside = set_ledger_aside(outbox) if wish.new_ledger else 0
        data = request_reset(
            outbox,
            standing.registry,
            standing.comparison,
            Ledger() if wish.new_ledger or standing.ledger is None else standing.ledger,
            agent=agent,
            steward=steward,
            reason=wish.reason,
            ledger_seal=derive_ledger_key(site.seal_key()),
            today_day=today_day,
            set_aside=set_aside,
        )
    epoch, digest = standing.comparison.head.epoch + 1, decode(data).digest
    detail = f"epoch={epoch} reason={wish.reason} digest={digest} day={today_day}"
    audit("reset requested", detail)
    return KeyRequest(data, digest, {"agent": agent.public, "steward": steward})


def send_reset(
    site: Site,
    data: bytes,
    today_day: int,
    audit: Audit,
    *,
    check: Check | None = None,
    post: bool = True,
) -> bool:
    """Send a reset that the steward signed, and return whether it is in force already; for the rest see above.

    Raises:
        DisclosureError: it is not the request that was made here, or lacks a signature.
        DeliveryError: it could not be delivered.
    """
    federation = Federation(site.submissions)
    registry, own = federation.read_registry(today_day), federation.read_membership().site
    opened = check_signed(data, Outbox(site.submissions), "reset", registry, own)
    if check is not None:
        check(opened)
    audit("reset sent", f"digest={opened.digest} day={today_day}")
    return post and bool(_post_request(site, data, opened.digest))


def _is_restored(site: Site) -> bool:
    """Return whether the site was restored, so that a new epoch also keeps the machine before it from going on."""
    with site.store() as store:
        return find_open_restoration(site, store) is not None


def _choose_agent_key(site: Site, standing: SiteStanding, *, new_agent_key: bool) -> Signer:
    """Return the agent key for the new epoch: a new one, or the present one if it is still valid."""
    if new_agent_key:
        return load_new_agent_key(site.keys)
    if not (site.keys / "agent.key").exists():
        raise ConfigError("the agent key is missing", "Make a new one with --new-agent-key.")
    signer = load_present_agent_key(site.keys)
    found = standing.registry.site_of(signer.public.keyid)
    if found is None:
        return signer  # a newly set up machine
    entry = found[1]
    ended = entry.revoked_from is not None or entry.until_index is not None
    if found[0] != standing.site_id or entry.role != "agent" or ended:
        raise ConfigError(
            "the agent's key here was replaced or revoked", "Make a new one with --new-agent-key."
        )
    return signer


def find_steward_key(registry: Registry, site_id: str) -> PublicKey:
    """Return the only steward's key in force. Raises ConfigError if there is not exactly one."""
    keys = list(list_site_keys(registry, site_id, "steward").values())
    if len(keys) != 1:
        raise ConfigError(
            f"the registry has {len(keys)} keys of stewards of this site",
            "Name the steward's key with --steward-public.",
        )
    return keys[0]


def _post_request(site: Site, data: bytes, digest: str) -> str:
    """Send a request about keys to the aggregator; return its receipt if it is already in force, else "".

    Raises:
        DeliveryError: the request could not be delivered, or was refused.
    """
    aggregator = connect_aggregator(site, Federation(site.submissions).read_membership().url)
    try:
        answer = json.loads(aggregator.post("/v1/requests", data, limit=_MAX_ANSWER))
        answered, receipt = answer["digest"], answer.get("receipt", "")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DeliveryError("the aggregator's reply is not an answer to a request") from None
    if answered != digest:
        raise DeliveryError("the aggregator answered about another request")
    return receipt if isinstance(receipt, str) else ""
