"""Approving: another person, with another key, signs what the gate let through. From here on it counts as released."""

from collections.abc import Callable, Sequence

from agent.delivery.outbox import Outbox, State, Submission
from agent.disclosure.ledger import Entry, append_entry, ledger_key, open_entry, read_ledger
from agent.disclosure.prepare import check_ledger, effective_policy
from agent.errors import DisclosureError
from protocol.disclosure import NOT_RUN, SUPPRESSED, check_result
from protocol.envelope import add_signature
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
    site = submission.result.header.site
    try:
        submission.envelope.verify(_site_keys(registry, site, "agent"))
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


def approve(
    outbox: Outbox,
    registry: Registry,
    own: DisclosurePolicy,
    digest: str,
    steward: Signer,
    *,
    data_key: bytes,
    audit: Audit,
) -> Submission:
    """Sign a draft with the steward's key, after writing it to the ledger of releases. Once more changes nothing.

    Args:
        outbox: where it lies.
        registry: verified.
        own: the site's policy.
        digest: of the submission that the steward has seen, whole.
        steward: the second person's key.
        data_key: the site's; the ledger's seal is derived from it.
        audit: the site's audit log.

    Raises:
        DisclosureError: it or what the ledger would keep of it was changed since, the ledger was, the key is not an
            enrolled steward's of this site or is the agent's, or an earlier draft comes first.
    """
    key = ledger_key(data_key)
    with outbox.held():
        submission = outbox.get(digest)
        if submission.state is State.VOID:
            raise DisclosureError("this submission is void: it left the chain", _PREPARE_AGAIN)
        _check_steward(submission, registry, steward.public)
        if submission.state is not State.PREPARED:
            return submission
        everything = outbox.all()
        _check_first(submission, everything)
        scorecard = check_draft(submission, registry, own)
        check_ledger(read_ledger(outbox.ledger, key), everything)
        entry = _entry_of(outbox, submission, key)
        _check_entry(entry, submission, scorecard)
        append_entry(outbox.ledger, entry, key)
        audit("submission approved", f"digest={digest} steward={steward.public.keyid} day={submission.result.day}")
        outbox.put_approved(digest, add_signature(submission.data, steward))
        return outbox.get(digest)


_PREPARE_AGAIN = "Run `intramural submission prepare` again."


def _check_steward(submission: Submission, registry: Registry, steward: PublicKey) -> None:
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
