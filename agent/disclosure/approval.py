"""Approving: another person, with another key, signs what the gate let through. From here on it counts as released.

The steward signs at the site, or anywhere else (`agent.disclosure.exchange`); either way the site takes the signed
bytes only after checking everything again.
"""

from collections.abc import Callable, Sequence

from agent.delivery.outbox import Outbox, State, Submission
from agent.disclosure.ledger import Entry, append_entry, ledger_key, open_entry, read_ledger
from agent.disclosure.prepare import check_ledger, effective_policy
from agent.errors import DisclosureError
from protocol.disclosure import NOT_RUN, SUPPRESSED, check_result
from protocol.envelope import Envelope, add_signature, decode
from protocol.errors import ProtocolError
from protocol.keys import PublicKey, Signer
from protocol.policy import DisclosurePolicy
from protocol.registry import Registry
from protocol.scorecard import Scorecard

Audit = Callable[[str, str], None]
"""Writes an event and its details to the site's audit log; never text of a case."""


def check_draft(submission: Submission, registry: Registry, own: DisclosurePolicy) -> Scorecard:
    """Check a draft again from its bytes alone, as the steward's tool must: signature, names, and every rule.

    Returns its scorecard.

    Args:
        submission: read from its file just now.
        registry: verified.
        own: the site's policy.

    Raises:
        DisclosureError: it was changed, or is not what the gate may let through.
    """
    header = submission.result.header
    try:
        submission.envelope.verify(_site_keys(registry, header.site, "agent"))
        if header.deployment != registry.deployment:
            raise DisclosureError("it is for another aggregator", _PREPARE_AGAIN)
        registered = registry.scorecards.get(submission.result.scorecard)
        if registered is None or registered.retired:
            raise DisclosureError("its scorecard is not registered, or was retired", _PREPARE_AGAIN)
        _, policy = effective_policy(registry, own)
        check_result(submission.result, registered.scorecard, policy)
        return registered.scorecard
    except ProtocolError as error:
        raise DisclosureError(
            f"submission {submission.digest[:12]} does not pass ({error.code}: {error.detail})", _PREPARE_AGAIN
        ) from None


def countersign(submission: Submission, registry: Registry, own: DisclosurePolicy, steward: Signer) -> bytes:
    """Return a draft with the steward's signature added; one that has it already as it is. Needs no site.

    Args:
        submission: which the steward has seen, whole.
        registry: verified.
        own: the site's policy.
        steward: the second person's key.

    Raises:
        DisclosureError: as `check_steward` and `check_draft`.
    """
    check_steward(submission, registry, steward.public)
    if steward.public.keyid in {signature.keyid for signature in submission.envelope.signatures}:
        return submission.data
    check_draft(submission, registry, own)
    return add_signature(submission.data, steward)


def approve(
    outbox: Outbox, registry: Registry, own: DisclosurePolicy, signed: bytes, *, data_key: bytes, audit: Audit
) -> Submission:
    """Take what the steward signed, after writing it to the ledger of releases. Once more changes nothing.

    Args:
        outbox: where its draft lies.
        registry: verified.
        own: the site's policy.
        signed: the envelope with both signatures, from `countersign`.
        data_key: the site's; the ledger's seal is derived from it.
        audit: the site's audit log.

    Raises:
        DisclosureError: these are not the bytes of a draft here, one of both signatures is missing or wrong, what the
            ledger would keep was changed since, or the ledger was, or an earlier draft comes first.
    """
    key = ledger_key(data_key)
    try:
        opened = decode(signed)
    except ProtocolError as error:
        raise DisclosureError(f"this is not a signed submission ({error.code})") from None
    digest = opened.digest
    with outbox.held():
        submission = outbox.get(digest)
        if submission.state is State.VOID:
            raise DisclosureError("this submission is void: it left the chain", _PREPARE_AGAIN)
        steward = _check_signatures(opened, registry, submission.result.header.site)
        if submission.state is not State.PREPARED:
            return submission
        everything = outbox.all()
        _check_first(submission, everything)
        scorecard = check_draft(submission, registry, own)
        check_ledger(read_ledger(outbox.ledger, key), everything)
        entry = _entry_of(outbox, submission, key)
        _check_entry(entry, submission, scorecard)
        append_entry(outbox.ledger, entry, key)
        audit("submission approved", f"digest={digest} steward={steward} day={submission.result.day}")
        outbox.put_approved(digest, signed)
        return outbox.get(digest)


def discard(outbox: Outbox, digest: str, *, audit: Audit) -> list[str]:
    """Forget a draft, and those after it, which name it; return their digests. What was approved stays.

    Raises:
        DisclosureError: it is no draft (any more).
    """
    with outbox.held():
        submission = outbox.get(digest)
        if submission.state is not State.PREPARED:
            raise DisclosureError(
                f"submission {digest[:12]} is {submission.state.value}, no draft: it stays",
                "Only what nobody has approved can be discarded.",
            )
        gone = [s.digest for s in outbox.all() if s.state is State.PREPARED and s.place >= submission.place]
        for each in reversed(gone):
            audit("submission discarded", f"digest={each}")
            outbox.drop_draft(each)
        return gone


_PREPARE_AGAIN = "Run `intramural submission prepare` again."


def check_steward(submission: Submission, registry: Registry, steward: PublicKey) -> None:
    """Check that the key is one of the site's stewards. Raises DisclosureError."""
    site = submission.result.header.site
    if steward.keyid in _site_keys(registry, site, "agent"):
        raise DisclosureError(
            "this is the agent's key: whoever prepares a submission does not approve it",
            "Approve with the key of another person, made with `intramural steward-key`.",
        )
    if steward.keyid not in _site_keys(registry, site, "steward"):
        raise DisclosureError(
            "this key is not a steward's key of this site",
            "Use the key that was enrolled; `intramural registry show` lists the site's fingerprints.",
        )


def _check_signatures(opened: Envelope, registry: Registry, site: str) -> str:
    """Check that one agent and one steward of the site signed, and nobody else; return the steward's key id."""
    agents, stewards = _site_keys(registry, site, "agent"), _site_keys(registry, site, "steward")
    signers = [signature.keyid for signature in opened.signatures]
    approving = [keyid for keyid in signers if keyid in stewards]
    if len(signers) != 2 or len(approving) != 1:
        raise DisclosureError(
            "it is not signed by the site's agent and one of its stewards, and by nobody else",
            "The steward signs it with `intramural submission approve --request REQUEST --key KEY --out SIGNED`.",
        )
    try:
        opened.verify(agents | stewards)
    except ProtocolError as error:
        raise DisclosureError(f"its signatures do not verify ({error.code})", _PREPARE_AGAIN) from None
    return approving[0]


def _check_first(submission: Submission, everything: Sequence[Submission]) -> None:
    first = next(other for other in everything if other.state is State.PREPARED)
    if first.digest != submission.digest:
        raise DisclosureError(
            f"draft {first.digest[:12]} comes before it in the site's chain",
            "Approve drafts in the order in which `intramural submission show` shows them.",
        )


def _entry_of(outbox: Outbox, submission: Submission, key: bytes) -> Entry:
    try:
        return open_entry(outbox.release(submission.digest), key)
    except DisclosureError:
        raise DisclosureError(
            "what the ledger would keep of this submission was changed after it was prepared", _PREPARE_AGAIN
        ) from None


def _check_entry(entry: Entry, submission: Submission, scorecard: Scorecard) -> None:
    """Check that what the ledger will keep is what the payload says: the debit must match what leaves."""
    result = submission.result
    same_release = (entry.submission, entry.model, entry.scorecard, entry.scores_root, entry.day) == (
        submission.digest,
        result.model,
        result.scorecard,
        result.scores_root,
        result.day,
    )
    for cell in scorecard.cells:
        kept = entry.cells.get(cell.key)
        value = result.cells[cell.key]
        if kept is None:
            covered = not cell.protected or value in {SUPPRESSED, NOT_RUN}
        else:
            leaves = (value, result.spreads.get(cell.key), result.groups[cell.group])
            covered = leaves == (kept.value, kept.spread, kept.bucket)
        if not (same_release and covered):
            raise DisclosureError("what the ledger would keep is not what the submission says", _PREPARE_AGAIN)


def _site_keys(registry: Registry, site: str, role: str) -> dict[str, PublicKey]:
    entry = registry.sites.get(site)
    keys = () if entry is None else entry.keys
    return {k.key.keyid: k.key for k in keys if k.role == role and k.revoked_from is None}
