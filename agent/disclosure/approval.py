"""Approval of a draft by the steward, a second person with a separate key.

The steward signs at the site or elsewhere (`agent.disclosure.exchange`). In both cases the site accepts the signed
envelope only after checking everything again.
"""

from collections.abc import Callable, Sequence

from agent.delivery.departure import check_signatures, list_site_keys
from agent.delivery.outbox import Outbox, State, Submission
from agent.disclosure.chain import check_ledger
from agent.disclosure.ledger import Ledger, ReleasedCell, derive_ledger_key, read_ledger
from agent.disclosure.prepare import choose_policy
from agent.errors import DisclosureError
from protocol.cell_codes import NOT_RUN, SUPPRESSED
from protocol.disclosure import check_result
from protocol.envelope import add_signature, decode
from protocol.errors import ProtocolError
from protocol.keys import PublicKey, Signer
from protocol.policy import DisclosurePolicy
from protocol.predicates import ResultPredicate
from protocol.registry import Registry
from protocol.scorecard import Scorecard

Audit = Callable[[str, str], None]
"""Writes an event and its details, which never contain text from an instance, to the site's audit log."""


def check_draft(submission: Submission, registry: Registry, own: DisclosurePolicy) -> None:
    """Check a draft again, using only its envelope, the registry and the policy, as the steward's tool does.

    Args:
        submission: the draft, newly read from its file.
        registry: the verified registry.
        own: the site's own policy.

    Raises:
        DisclosureError: the draft was changed or breaks a rule of the gate.
    """
    header = submission.header
    try:
        submission.envelope.verify(list_site_keys(registry, header.site, "agent"))
        if header.deployment != registry.deployment:
            raise DisclosureError("the submission is for another aggregator", _PREPARE_AGAIN)
        if isinstance(submission.statement, ResultPredicate):
            card = _registered_scorecard(submission.statement, registry)
            _, policy = choose_policy(registry, own)
            check_result(submission.statement, card, policy)
    except ProtocolError as error:
        raise DisclosureError(
            f"submission {submission.digest[:12]} does not pass ({error.code}: {error.detail})",
            _PREPARE_AGAIN,
        ) from None


def _registered_scorecard(result: ResultPredicate, registry: Registry) -> Scorecard:
    registered = registry.scorecards.get(result.scorecard)
    if registered is None or registered.retired:
        raise DisclosureError(
            "the result's scorecard is not registered, or was retired", _PREPARE_AGAIN
        )
    return registered.scorecard


def countersign(
    submission: Submission, registry: Registry, own: DisclosurePolicy, steward: Signer
) -> bytes:
    """Return a draft with the steward's signature added, unless it has that signature already.

    Args:
        submission: the draft, which the steward has seen completely.
        registry: the verified registry.
        own: the site's own policy.
        steward: the steward's key.

    Raises:
        DisclosureError: see `check_steward` and `check_draft`.
    """
    check_steward(submission, registry, steward.public)
    if steward.public.keyid in {signature.keyid for signature in submission.envelope.signatures}:
        return submission.data
    check_draft(submission, registry, own)
    return add_signature(submission.data, steward)


def approve(
    outbox: Outbox,
    registry: Registry,
    own: DisclosurePolicy,
    signed: bytes,
    *,
    seal_key: bytes,
    audit: Audit,
) -> Submission:
    """Accept a draft that the steward signed; it becomes approved. This is idempotent.

    Args:
        outbox: the site's outbox, with the draft.
        registry: the verified registry.
        own: the site's own policy.
        signed: the envelope with both signatures, from `countersign`.
        seal_key: the site's seal key, from which the key of the ledger is derived.
        audit: the site's audit log.

    Raises:
        DisclosureError: there is no such draft here, a signature is missing or wrong, the ledger was changed or lacks
            the debit for its figures, or an earlier draft has to be approved first.
    """
    try:
        opened = decode(signed)
    except ProtocolError as error:
        raise DisclosureError(f"this is not a signed submission ({error.code})") from None
    digest = opened.digest
    with outbox.held():
        submission = outbox.get(digest)
        if submission.state is State.VOID:
            raise DisclosureError(
                "this submission is void: it is no longer in the chain", _PREPARE_AGAIN
            )
        steward = check_signatures(opened, registry, submission.header.site)
        if submission.state is not State.PREPARED:
            return submission
        everything = outbox.list_submissions()
        _check_first(submission, everything)
        check_draft(submission, registry, own)
        ledger = read_ledger(outbox.ledger, derive_ledger_key(seal_key))
        check_ledger(ledger, everything, registry.sites[submission.header.site])
        check_debit(submission, ledger, registry)
        audit("submission approved", f"digest={digest} steward={steward} day={_day(submission)}")
        outbox.put_approved(digest, signed)
        return outbox.get(digest)


def _day(submission: Submission) -> str:
    return str(submission.result.day) if submission.is_result else "none"


def discard(outbox: Outbox, digest: str, *, audit: Audit) -> list[str]:
    """Delete a draft and the drafts after it, which refer to it; return the digests of all deleted drafts.

    Raises:
        DisclosureError: the submission is not a draft, for example because it was approved.
    """
    with outbox.held():
        submission = outbox.get(digest)
        if submission.state is not State.PREPARED:
            raise DisclosureError(
                f"submission {digest[:12]} is {submission.state.value}, not a draft, and cannot be discarded",
                "Only drafts that have not been approved can be discarded.",
            )
        drafts: list[str] = []
        for later in outbox.list_submissions():
            if later.state is State.PREPARED and later.place >= submission.place:
                drafts.append(later.digest)
        # Delete the last draft first, so that a crash cannot leave a draft that refers to a deleted one.
        for draft in reversed(drafts):
            audit("submission discarded", f"digest={draft}")
            outbox.drop_draft(draft)
        return drafts


_PREPARE_AGAIN = "Run `intramural submission prepare` again."


def check_steward(submission: Submission, registry: Registry, steward: PublicKey) -> None:
    """Check that the key belongs to a steward of the site. Raises DisclosureError."""
    site = submission.header.site
    if steward.keyid in list_site_keys(registry, site, "agent"):
        raise DisclosureError(
            "this is the agent's key, which prepares submissions and cannot approve them",
            "Approve with the key of another person, created with `intramural steward-key`.",
        )
    if steward.keyid not in list_site_keys(registry, site, "steward"):
        raise DisclosureError(
            "this key is not a steward's key of this site",
            "Use the enrolled key; `intramural registry show` lists the fingerprints of the site's keys.",
        )


def _check_first(submission: Submission, everything: Sequence[Submission]) -> None:
    first = next(draft for draft in everything if draft.state is State.PREPARED)
    if first.digest != submission.digest:
        raise DisclosureError(
            f"draft {first.digest[:12]} comes before draft {submission.digest[:12]} in the site's chain",
            "Approve drafts in the order shown by `intramural submission show`.",
        )


def check_debit(submission: Submission, ledger: Ledger, registry: Registry) -> None:
    """Check that the ledger has a debit for exactly the protected figures of a submission.

    Raises:
        DisclosureError: a figure differs from the debit, or a registered dataset is not in the ledger.
    """
    dataset = submission.dataset
    if dataset is not None and ledger.find_dataset(dataset.commitment) is None:
        raise DisclosureError(
            "the ledger lacks the dataset that this statement registers", _PREPARE_AGAIN
        )
    if not submission.is_result:
        return
    result = submission.result
    card = _registered_scorecard(result, registry)
    debit = ledger.find_debit(result.model, result.scorecard, result.scores_root)
    cells = debit[1].cells if debit else {}
    for cell in card.cells:
        if not cell.protected:
            continue
        leaves = (result.cells[cell.key], result.spreads.get(cell.key), result.groups[cell.group])
        if not _is_debited(cells.get(cell.key), leaves):
            raise DisclosureError(
                f"{cell.key}: the ledger of releases has no debit for this figure",
                _PREPARE_AGAIN,
            )


def _is_debited(debited: ReleasedCell | None, leaves: tuple[int, int | None, int]) -> bool:
    if debited is None:
        return leaves[0] in {SUPPRESSED, NOT_RUN}
    return leaves == (debited.value, debited.spread, debited.bucket)
