"""Approving: another person, with another key, signs what the gate let through.

The steward signs at the site, or anywhere else (`agent.disclosure.exchange`); either way the site takes the signed
bytes only after checking everything again.
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
"""Writes an event and its details to the site's audit log; never text of a case."""


def check_draft(submission: Submission, registry: Registry, own: DisclosurePolicy) -> None:
    """Check a draft again from its bytes alone, as the steward's tool must: signature, names, and every rule.

    Args:
        submission: read from its file just now.
        registry: verified.
        own: the site's policy.

    Raises:
        DisclosureError: it was changed, or is not what the gate may let through.
    """
    header = submission.header
    try:
        submission.envelope.verify(list_site_keys(registry, header.site, "agent"))
        if header.deployment != registry.deployment:
            raise DisclosureError("it is for another aggregator", _PREPARE_AGAIN)
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
        raise DisclosureError("its scorecard is not registered, or was retired", _PREPARE_AGAIN)
    return registered.scorecard


def countersign(
    submission: Submission, registry: Registry, own: DisclosurePolicy, steward: Signer
) -> bytes:
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
    outbox: Outbox,
    registry: Registry,
    own: DisclosurePolicy,
    signed: bytes,
    *,
    seal_key: bytes,
    audit: Audit,
) -> Submission:
    """Take what the steward signed. Once more changes nothing.

    Args:
        outbox: where its draft lies.
        registry: verified.
        own: the site's policy.
        signed: the envelope with both signatures, from `countersign`.
        seal_key: the site's; the ledger's seal is derived from it.
        audit: the site's audit log.

    Raises:
        DisclosureError: these are not the bytes of a draft here, one of both signatures is missing or wrong, the
            ledger was changed or has no debit for its figures, or an earlier draft comes first.
    """
    try:
        opened = decode(signed)
    except ProtocolError as error:
        raise DisclosureError(f"this is not a signed submission ({error.code})") from None
    digest = opened.digest
    with outbox.held():
        submission = outbox.get(digest)
        if submission.state is State.VOID:
            raise DisclosureError("this submission is void: it left the chain", _PREPARE_AGAIN)
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
        drafts: list[str] = []
        for later in outbox.list_submissions():
            if later.state is State.PREPARED and later.place >= submission.place:
                drafts.append(later.digest)
        # The last goes first, so that a crash leaves no draft that names a missing one.
        for draft in reversed(drafts):
            audit("submission discarded", f"digest={draft}")
            outbox.drop_draft(draft)
        return drafts


_PREPARE_AGAIN = "Run `intramural submission prepare` again."


def check_steward(submission: Submission, registry: Registry, steward: PublicKey) -> None:
    """Check that the key is one of the site's stewards. Raises DisclosureError."""
    site = submission.header.site
    if steward.keyid in list_site_keys(registry, site, "agent"):
        raise DisclosureError(
            "this is the agent's key: whoever prepares a submission does not approve it",
            "Approve with the key of another person, made with `intramural steward-key`.",
        )
    if steward.keyid not in list_site_keys(registry, site, "steward"):
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


def check_debit(submission: Submission, ledger: Ledger, registry: Registry) -> None:
    """Check that the ledger has a debit for exactly the protected figures that a submission says.

    Raises:
        DisclosureError: a figure is not what was debited, or a registered dataset is not in the ledger.
    """
    dataset = submission.dataset
    if dataset is not None and ledger.find_dataset(dataset.commitment) is None:
        raise DisclosureError(
            "the ledger does not have the dataset that this statement registers", _PREPARE_AGAIN
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
                f"{cell.key}: the ledger of releases has no debit for the figure that would leave",
                _PREPARE_AGAIN,
            )


def _is_debited(debited: ReleasedCell | None, leaves: tuple[int, int | None, int]) -> bool:
    if debited is None:
        return leaves[0] in {SUPPRESSED, NOT_RUN}
    return leaves == (debited.value, debited.spread, debited.bucket)
