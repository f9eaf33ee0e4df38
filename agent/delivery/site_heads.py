"""The head of this site's chain in the aggregator's log: a signed note, fetched or received as a file.

The aggregator answers only the site's agent, which signs each request. The receipt key signs the note.
"""

import time
from typing import Final

from agent.delivery.outbox import LIVE, Outbox, State
from agent.delivery.proven_log import (
    keep_proven_receipt,
    prove_carried_receipts,
    read_kept_receipts,
)
from agent.delivery.receipts import check_receipt, read_head
from agent.delivery.transport import Aggregator, SubmissionRefusedError
from agent.errors import DeliveryError
from protocol.errors import Code, ProtocolError
from protocol.head_request import TOLERANCE_S, HeadRequest, sign_head_request
from protocol.keys import Signer
from protocol.registry import Registry
from protocol.site_head import MAX_SITE_HEAD, SiteHead, verify_site_head

CARRIED_HEAD_ADVICE: Final = (
    "Or ask the central team for the head as a file (`intramural-aggregator head SITE --out FILE`), and pass "
    "it with --head FILE."
)
_MAX_RECEIPT = 64 * 1024  # bytes


def fetch_site_head(aggregator: Aggregator, deployment: str, site: str, agent: Signer) -> str:
    """Fetch the note with a request signed by the site's agent, and return it unverified.

    Raises:
        DeliveryError: the aggregator cannot be reached or refuses to answer.
    """
    try:
        note = _ask(
            aggregator,
            HeadRequest(deployment, site, int(time.time())),
            agent,
            "head",
            MAX_SITE_HEAD,
        )
    except SubmissionRefusedError as error:
        if error.code is not Code.UNKNOWN_KEY:
            raise
        raise DeliveryError(
            "the aggregator refuses to show this machine the head of this site's chain: the agent's key here "
            f"was replaced or revoked, or the clock here is wrong by more than {TOLERANCE_S // 60} minutes",
            f"Check the clock, and run `intramural registry update`. {CARRIED_HEAD_ADVICE}",
        ) from None
    return note.decode("utf-8", "replace")


def _ask(
    aggregator: Aggregator, request: HeadRequest, agent: Signer, what: str, limit: int
) -> bytes:
    """Send a signed request about the agent's site and return the answer. Raises DeliveryError."""
    return aggregator.post(
        f"/v1/sites/{request.site}/{what}", sign_head_request(request, agent), limit=limit
    )


def open_site_head(note: str, outbox: Outbox, registry: Registry, site: str) -> SiteHead:
    """Verify and parse the note; it must not be older than the log that this site has seen.

    Raises:
        DeliveryError: the receipt key did not sign it, it is about another site, or it or the registry here is
            outdated.
    """
    try:
        head = verify_site_head(note, site, registry.receipt_key, registry.log_name)
    except ProtocolError as error:
        raise DeliveryError(
            f"the aggregator's note about this site does not verify ({error.code})",
            "Nothing was changed. Request the note again; if this persists, something between here and the aggregator "
            "alters its answers.",
        ) from None
    largest_size = read_head(outbox.directory / "head.json", registry.log_name).size
    for kept in read_kept_receipts(outbox):
        largest_size = max(largest_size, kept.receipt.checkpoint.size)
    registered_epoch = registry.sites[site].epoch
    if head.log_size < largest_size or head.epoch < registered_epoch:
        raise DeliveryError(
            "the aggregator's note about this site is older than the log that this site has seen",
            "Nothing was changed. Request a new note.",
        )
    if head.epoch > registered_epoch:
        raise DeliveryError(
            "the aggregator has begun a later epoch for this site than the registry here lists",
            "Run `intramural registry update` first.",
        )
    return head


def collect_receipts(
    outbox: Outbox, registry: Registry, aggregator: Aggregator, site: str, agent: Signer
) -> list[str]:
    """Fetch missing receipts of links that have arrived at the aggregator; return the digests of these links.

    No submission is sent. As in `send`, receipts that came as files are proven, and fetched ones are stored.

    Args:
        outbox: the site's outbox.
        registry: the newest registry that the site has.
        aggregator: the aggregator to ask.
        site: the site's id.
        agent: the agent's key, which the registry lists.

    Raises:
        LogError: the log contradicts what this site has seen of it.
        DeliveryError: a proof is not available.
    """
    collected: list[str] = []
    with outbox.held():
        prove_carried_receipts(outbox, registry, aggregator)
        receipts = read_kept_receipts(outbox)
        for submission in outbox.list_submissions():
            if submission.state not in LIVE or submission.state is State.RECEIPTED:
                continue
            request = HeadRequest(registry.deployment, site, int(time.time()))
            try:
                text = _ask(
                    aggregator, request, agent, f"receipts/{submission.digest}", _MAX_RECEIPT
                ).decode()
                check_receipt(text, submission.envelope.pae, registry)
            except (DeliveryError, UnicodeDecodeError):
                continue  # the link has not arrived, or its arrival cannot be proven
            receipts.append(
                keep_proven_receipt(outbox, registry, aggregator, submission, text, receipts)
            )
            collected.append(submission.digest)
    return collected
