"""How far the aggregator's log has come with this site: a note that the receipt key signed, fetched or carried here."""

from agent.delivery.outbox import LIVE, Outbox, State
from agent.delivery.receipts import check_receipt, read_head
from agent.delivery.transport import Aggregator
from agent.errors import DeliveryError
from protocol.errors import ProtocolError
from protocol.registry import Registry
from protocol.site_head import MAX_SITE_HEAD, SiteHead, verify_site_head

_LARGEST_RECEIPT = 64 * 1024  # bytes


def fetch_site_head(aggregator: Aggregator, site: str) -> str:
    """Return the note, unchecked. Raises DeliveryError."""
    return aggregator.get(f"/v1/sites/{site}/head", limit=MAX_SITE_HEAD).decode("utf-8", "replace")


def open_site_head(note: str, outbox: Outbox, registry: Registry, site: str) -> SiteHead:
    """Verify the note, and that it is no older than what this site has seen.

    Raises:
        DeliveryError: the receipt key did not sign it about this site, or it is outdated, or the registry here is.
    """
    try:
        head = verify_site_head(note, site, registry.receipt_key, registry.log_name)
    except ProtocolError as error:
        raise DeliveryError(
            f"the aggregator's word about this site does not verify ({error.code})",
            "Nothing was changed. Ask for it again; if this stays so, something on the way changes its answers.",
        ) from None
    seen = read_head(outbox.directory / "head.json", registry.log_name).size
    known = registry.sites[site].epoch
    if head.log_size < seen or head.epoch < known:
        raise DeliveryError(
            "the aggregator's word about this site is older than what this site has seen of its log",
            "Nothing was changed. Ask for a new one.",
        )
    if head.epoch > known:
        raise DeliveryError(
            "the aggregator has begun a later epoch of this site than the registry here knows",
            "Run `intramural registry update` first.",
        )
    return head


def collect_receipts(outbox: Outbox, registry: Registry, aggregator: Aggregator) -> list[str]:
    """Fetch the receipts of links that arrived without this machine's knowing; return their digests. Sends nothing.

    Raises:
        DeliveryError: the aggregator cannot be reached.
    """
    found = []
    with outbox.held():
        for submission in outbox.all():
            if submission.state not in LIVE or submission.state is State.RECEIPTED:
                continue
            try:
                text = aggregator.get(f"/v1/receipts/{submission.digest}", limit=_LARGEST_RECEIPT).decode()
                check_receipt(text, submission.envelope.pae, registry)
            except (DeliveryError, UnicodeDecodeError):
                continue  # it did not arrive, or nobody can prove that it did
            outbox.put_receipt(submission.digest, text)
            found.append(submission.digest)
    return found
