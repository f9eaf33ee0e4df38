"""Hand drafts to the steward as a file, and take back the file with what the steward decided."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.delivery.departure import check_signatures
from agent.delivery.membership import Federation
from agent.delivery.outbox import Outbox, State, Submission
from agent.delivery.refusals import collect_refusals
from agent.disclosure.approval import Audit, approve, check_draft, discard
from agent.disclosure.exchange import (
    REJECTION_WORDS,
    Draft,
    read_rejected,
    read_signed,
    write_request,
)
from agent.disclosure.policy import read_policy
from agent.disclosure.restored_site import require_own_history
from agent.errors import DisclosureError
from agent.site.directory import Site
from protocol.envelope import decode
from protocol.errors import ProtocolError
from protocol.identity import NONE
from protocol.registry import Registry

Check = Callable[[Submission, str], None]
"""Raises DisclosureError if this draft may not be approved by the steward with this key id."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """What became of a steward's rejection.

    Attributes:
        count: number of drafts that the file rejects.
        words: the steward's reason.
        unknown: digests of rejected drafts that are not here; they may have been discarded already.
        discarded: digests of the deleted drafts: the rejected ones, and those that followed them in the chain.
    """

    count: int
    words: str
    unknown: tuple[str, ...]
    discarded: tuple[str, ...]


def write_drafts(site: Site, drafts: Sequence[Submission], today_day: int) -> bytes:
    """Return the content of a request for approval of these drafts, in the order of the chain, at least one.

    Raises:
        DisclosureError: a draft was changed or breaks a rule of the gate, or these are too many.
        ConfigError: the site is not enrolled.
    """
    require_own_history(site)
    federation, outbox = Federation(site.submissions), Outbox(site.submissions)
    registry = federation.read_registry(today_day)
    policy = read_policy(site.settings.disclosure_policy, site.directory)
    for draft in drafts:
        check_draft(draft, registry, policy)
    shown = [Draft(draft, outbox.read_verdicts(draft.digest)) for draft in drafts]
    with site.store() as store:
        audit_head = store.audit.read_head()
    registry_file = federation.read_registry_file(today_day)
    return write_request(
        registry_file, policy, shown, audit_head, collect_refusals(outbox, registry)
    )


def take_signed(
    site: Site, data: bytes, today_day: int, audit: Audit, check: Check | None = None
) -> list[Submission]:
    """Accept the drafts in a file that the steward signed, in its order. This is idempotent.

    Args:
        site: the site.
        data: the content of the file.
        today_day: today as the number of days since 1970-01-01.
        audit: the site's audit log.
        check: further conditions for each draft, asked before any of them is accepted.

    Raises:
        DisclosureError: the file or one of its drafts is not acceptable; those before it were accepted.
    """
    envelopes = read_signed(data)
    if check is not None:
        registry = Federation(site.submissions).read_registry(today_day)
        for envelope in envelopes:
            check(*_open_signed(site, envelope, registry))
    return [accept_signed(site, envelope, today_day, audit) for envelope in envelopes]


def _open_signed(site: Site, envelope: bytes, registry: Registry) -> tuple[Submission, str]:
    """Return the draft that an envelope signs, and the key id of its steward, whose signature is verified."""
    try:
        opened = decode(envelope)
    except ProtocolError as error:
        raise DisclosureError(f"this is not a signed submission ({error.code})") from None
    submission = Outbox(site.submissions).get(opened.digest)
    return submission, check_signatures(opened, registry, submission.header.site)


def accept_signed(site: Site, envelope: bytes, today_day: int, audit: Audit) -> Submission:
    """Accept one signed draft; see `take_signed`."""
    require_own_history(site)
    return approve(
        Outbox(site.submissions),
        Federation(site.submissions).read_registry(today_day),
        read_policy(site.settings.disclosure_policy, site.directory),
        envelope,
        seal_key=site.seal_key(),
        audit=audit,
    )


def take_rejected(site: Site, data: bytes, audit: Audit) -> Rejected:
    """Discard the drafts in a file of rejections, with all drafts that follow them.

    Raises:
        DisclosureError: it is not such a file.
    """
    rejection = read_rejected(data)
    return reject_drafts(site, rejection.digests, rejection.reason, audit)


def reject_drafts(site: Site, digests: Sequence[str], reason: str, audit: Audit) -> Rejected:
    """Discard drafts that the steward rejects, with all drafts that follow them.

    Args:
        site: the site.
        digests: the (full) digests of the drafts.
        reason: one of REJECTION_REASONS.
        audit: the site's audit log.
    """
    outbox = Outbox(site.submissions)
    drafts = [draft for draft in outbox.list_submissions() if draft.state is State.PREPARED]
    waiting = {draft.digest: draft for draft in drafts}
    unknown: list[str] = []
    discarded: list[str] = []
    for digest in digests:
        if digest in waiting:
            draft = waiting[digest]
            # The draft is deleted; the log keeps what it was about, by codes and digests.
            meant = f"kind={draft.kind} about={draft.about or NONE}"
            audit("submission rejected", f"digest={digest} reason={reason} {meant}")
            gone = discard(outbox, digest, audit=audit)
            discarded += gone
            for following in gone:
                waiting.pop(following, None)
        elif digest not in discarded:
            unknown.append(digest)
    return Rejected(len(digests), REJECTION_WORDS[reason], tuple(unknown), tuple(discarded))
