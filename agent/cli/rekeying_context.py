"""Helpers shared by `reset` and `rotate`: the aggregator's head of this site's chain, and sending requests."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.federation import connect_aggregator, open_federation, today_day
from agent.cli.submission_context import open_outbox
from agent.errors import ConfigError, DeliveryError, DisclosureError, StoreError
from agent.site.directory import Site
from agent.site.new_keys import load_agent_keys

if TYPE_CHECKING:
    from agent.disclosure.ledger import Ledger
    from agent.disclosure.recovery import HistoryComparison
    from protocol.keys import PublicKey, Signer
    from protocol.registry import Registry
    from protocol.site_head import SiteHead

_MAX_ANSWER = 128 * 1024  # maximum bytes of a reply; a receipt has less than 64 KiB


@dataclass(frozen=True, slots=True)
class SiteStanding:
    """The standing of this site: its registry, id and ledger, compared with the aggregator's head of its chain.

    Attributes:
        ledger_fault: the reason why the ledger cannot be read; "" if it can.
    """

    registry: "Registry"
    site_id: str
    ledger: "Ledger | None"
    ledger_fault: str
    comparison: "HistoryComparison"


def read_standing(site: Site, head_file: Path | None) -> SiteStanding:
    """Compare this machine with the aggregator's signed head of the chain, fetched now or read from a file.

    Receipts that this machine lacks are fetched first.

    Raises:
        ConfigError: the site is not enrolled, or lacks the agent's key for the request.
        DeliveryError: the aggregator cannot be reached, or its signed head does not verify.
        StoreError: a file cannot be read.
    """
    from agent.delivery.site_heads import collect_receipts
    from agent.disclosure.recovery import compare_histories

    federation, outbox = open_federation(site), open_outbox(site)
    registry, site_id = federation.read_registry(today_day()), federation.read_membership().site
    if site_id not in registry.sites:
        raise ConfigError(
            "the registry does not contain this site", "Run `intramural registry update`."
        )
    head = _read_head(site, registry, site_id, head_file)
    if head_file is None:
        agent = _find_registered_agent(site, registry, site_id)
        collect_receipts(
            outbox,
            registry,
            connect_aggregator(site, federation.read_membership().url),
            site_id,
            agent,
        )
    ledger, fault = _read_ledger(site)
    comparison = compare_histories(head, outbox.list_submissions(), ledger)
    return SiteStanding(registry, site_id, ledger, fault, comparison)


def _read_head(
    site: Site, registry: "Registry", site_id: str, head_file: Path | None
) -> "SiteHead":
    from agent.delivery.site_heads import fetch_site_head, open_site_head
    from agent.io.atomic_files import read_bounded
    from protocol.site_head import MAX_SITE_HEAD

    if head_file is not None:
        note = read_bounded(head_file, MAX_SITE_HEAD, "the aggregator's signed head").decode(
            "utf-8", "replace"
        )
    else:
        agent = _find_registered_agent(site, registry, site_id)
        aggregator = connect_aggregator(site, open_federation(site).read_membership().url)
        note = fetch_site_head(aggregator, registry.deployment, site_id, agent)
    return open_site_head(note, open_outbox(site), registry, site_id)


def _find_registered_agent(site: Site, registry: "Registry", site_id: str) -> "Signer":
    """Return this machine's agent key that the registry names; the aggregator answers only to it.

    Raises:
        ConfigError: there is none, because the key was lost, replaced or revoked, or it cannot be read.
    """
    from agent.delivery.departure import list_site_keys
    from agent.delivery.site_heads import CARRIED_HEAD_ADVICE

    registered = list_site_keys(registry, site_id, "agent")
    try:
        signers = load_agent_keys(site.keys)
    except StoreError as error:
        raise ConfigError(
            f"the aggregator cannot be asked without the agent's key: {error}",
            f"{error.advice} {CARRIED_HEAD_ADVICE}",
        ) from None
    for signer in signers:
        if signer.public.keyid in registered:
            return signer
    raise ConfigError(
        "this machine has no agent key that the registry names, and the aggregator answers only to such a key",
        f"Run `intramural registry update` if a key was replaced. {CARRIED_HEAD_ADVICE}",
    )


def _read_ledger(site: Site) -> "tuple[Ledger | None, str]":
    from agent.disclosure.ledger import derive_ledger_key, read_ledger

    try:
        return read_ledger(open_outbox(site).ledger, derive_ledger_key(site.seal_key())), ""
    except DisclosureError as error:
        return None, str(error)


def find_steward_key(registry: "Registry", site_id: str) -> "PublicKey":
    """Return the only steward's key in force. Raises ConfigError if there is not exactly one."""
    from agent.delivery.departure import list_site_keys

    keys = list(list_site_keys(registry, site_id, "steward").values())
    if len(keys) != 1:
        raise ConfigError(
            f"the registry has {len(keys)} keys of stewards of this site",
            "Name the steward's key with --steward-public.",
        )
    return keys[0]


def post_request(site: Site, data: bytes, digest: str) -> str:
    """Send a request about keys to the aggregator; return its receipt if it is already in force, else "".

    Raises:
        DeliveryError: the request could not be delivered, or was refused.
    """
    aggregator = connect_aggregator(site, open_federation(site).read_membership().url)
    try:
        answer = json.loads(aggregator.post("/v1/requests", data, limit=_MAX_ANSWER))
        answered, receipt = answer["digest"], answer.get("receipt", "")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DeliveryError("the aggregator's reply is not an answer to a request") from None
    if answered != digest:
        raise DeliveryError("the aggregator answered about another request")
    return receipt if isinstance(receipt, str) else ""
