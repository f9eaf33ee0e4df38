"""What the commands `reset` and `rotate` share: the aggregator's word about this site, and sending requests."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent.enrolment_commands import aggregator_of, federation_of, today_day
from agent.errors import ConfigError, DeliveryError, DisclosureError
from agent.site import Site
from agent.submission_context import outbox_of

if TYPE_CHECKING:
    from agent.disclosure.ledger import Ledger
    from agent.disclosure.recovery import Comparison
    from protocol.keys import PublicKey
    from protocol.registry import Registry
    from protocol.site_head import SiteHead

_LARGEST_ANSWER = 128 * 1024  # bytes; a receipt has less than 64 KiB


@dataclass(frozen=True, slots=True)
class Standing:
    """Where this site stands: its registry, its id, its ledger if it can be read, and the aggregator's word.

    Attributes:
        ledger_fault: why the ledger cannot be read; "" if it can.
    """

    registry: "Registry"
    site_id: str
    ledger: "Ledger | None"
    ledger_fault: str
    comparison: "Comparison"


def read_standing(site: Site, head_file: Path | None) -> Standing:
    """Compare this machine with the aggregator's word, fetched now or read from a file.

    Receipts that this machine lacks are fetched first.

    Raises:
        ConfigError: the site is not enrolled.
        DeliveryError: the aggregator cannot be asked, or its word does not verify.
        StoreError: a file cannot be read.
    """
    from agent.delivery.site_heads import collect_receipts
    from agent.disclosure.recovery import compare_histories

    federation, outbox = federation_of(site), outbox_of(site)
    registry, site_id = federation.registry(today_day()), federation.membership().site
    if site_id not in registry.sites:
        raise ConfigError("the registry does not know this site", "Run `intramural registry update`.")
    head = _read_head(site, registry, site_id, head_file)
    if head_file is None:
        collect_receipts(outbox, registry, aggregator_of(site, federation.membership().url))
    ledger, fault = _read_ledger(site)
    comparison = compare_histories(head, outbox.all(), ledger)
    return Standing(registry, site_id, ledger, fault, comparison)


def _read_head(site: Site, registry: "Registry", site_id: str, head_file: Path | None) -> "SiteHead":
    from agent.delivery.site_heads import fetch_site_head, open_site_head
    from agent.files import read_bounded
    from protocol.site_head import MAX_SITE_HEAD

    if head_file is not None:
        note = read_bounded(head_file, MAX_SITE_HEAD, "the aggregator's word").decode("utf-8", "replace")
    else:
        note = fetch_site_head(aggregator_of(site, federation_of(site).membership().url), site_id)
    return open_site_head(note, outbox_of(site), registry, site_id)


def _read_ledger(site: Site) -> "tuple[Ledger | None, str]":
    from agent.disclosure.ledger import ledger_key, read_ledger

    try:
        return read_ledger(outbox_of(site).ledger, ledger_key(site.seal_key())), ""
    except DisclosureError as error:
        return None, str(error)


def find_steward_key(registry: "Registry", site_id: str) -> "PublicKey":
    """Return the site's one steward's key that is in force. Raises ConfigError."""
    from agent.delivery.departure import site_keys

    keys = list(site_keys(registry, site_id, "steward").values())
    if len(keys) != 1:
        raise ConfigError(
            f"the registry has {len(keys)} keys of stewards of this site", "Name the steward's with --steward-public."
        )
    return keys[0]


def post_request(site: Site, data: bytes, digest: str) -> str:
    """Hand a request about keys to the aggregator; return its receipt if it is in force already, else "".

    Raises:
        DeliveryError: it could not be delivered, or was refused.
    """
    aggregator = aggregator_of(site, federation_of(site).membership().url)
    try:
        answer = json.loads(aggregator.post("/v1/requests", data, limit=_LARGEST_ANSWER))
        answered, receipt = answer["digest"], answer.get("receipt", "")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DeliveryError("the aggregator answered with something that is no answer to a request") from None
    if answered != digest:
        raise DeliveryError("the aggregator answered about another request")
    return receipt if isinstance(receipt, str) else ""
