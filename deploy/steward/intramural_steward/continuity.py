"""Checks whether a statement continues the site's history on the steward's list.

The site's own account of its history is not used: the list records what was approved before, and
with which ledger, audit log and registry.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from intramural_steward.approval_list import APPROVED, Entry
from protocol.errors import ProtocolError
from protocol.predicates import EnrollPredicate, Request, ResultPredicate
from protocol.verification import check_ledger

_MONTH = 30  # days


@dataclass(frozen=True, slots=True)
class Continuity:
    """The result of comparing a statement with the list.

    Attributes:
        approved_before: The entry that approved exactly this statement. If there is one, nothing
            else was checked.
        faults: Reasons why it must not be signed.
        cautions: Points that the list cannot confirm.
    """

    approved_before: Entry | None = None
    faults: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()


def check_continuity(
    asked: Entry, known: Sequence[Entry], refused: Collection[str] = ()
) -> Continuity:
    """Compare a statement with the known history of its site.

    Args:
        asked: The statement as an entry for the list.
        known: The list's decisions about the same site, oldest first, followed by earlier
            statements of the same request.
        refused: Digests of statements that the aggregator has refused, so that their positions in the chain
            are free again.
    """
    same = [entry for entry in known if entry.digest == asked.digest]
    for entry in reversed(same):  # start with the newest, which has all signatures
        if entry.decision == APPROVED:
            return Continuity(approved_before=entry)
    # A draft that was rejected earlier is compared only with decisions before that rejection, because
    # later statements have more entries in their ledgers.
    before = known[: known.index(same[0])] if same else known
    all_approved = [entry for entry in known if entry.decision == APPROVED]
    approved = leave_out_refused(all_approved, refused)
    place_faults, cautions = _compare_places(asked, approved)
    faults = [*_compare_ledgers(asked, before), *place_faults]
    if not isinstance(asked.statement, Request):
        faults += _compare_audit_logs(asked, all_approved)
        faults += _compare_registries(asked, all_approved)
    return Continuity(
        faults=tuple(faults),
        cautions=(
            *(f"You rejected this statement before ({entry.reason})." for entry in same[-1:]),
            *cautions,
            *_caution_about_release(asked, approved),
        ),
    )


def leave_out_refused(approved: Sequence[Entry], refused: Collection[str]) -> list[Entry]:
    """Return the approvals that the aggregator did not refuse and that do not follow a refused one.

    Args:
        approved: Approvals, oldest first.
        refused: Digests of the refused statements.
    """
    void = set(refused)
    valid = []
    for entry in approved:
        if entry.digest in void or entry.header.prev in void:
            void.add(entry.digest)
        else:
            valid.append(entry)
    return valid


def _compare_ledgers(asked: Entry, known: Sequence[Entry]) -> list[str]:
    for entry in known:
        # A statement that was rejected without verifying its author may have been created by
        # anyone.
        if entry.decision != APPROVED and not entry.registry.version:
            continue
        try:
            check_ledger(asked.header.ledger, entry.header.ledger)
        except ProtocolError as error:
            return [
                f"the site's ledger of releases is shorter than, or differs from, the one on your list ({error.detail})"
            ]
    return []


def _compare_audit_logs(asked: Entry, approved: Sequence[Entry]) -> list[str]:
    for entry in approved:
        # A new epoch begins with a reset signed by steward and root keys. A restored machine may
        # have an older log.
        if entry.header.epoch != asked.header.epoch:
            continue
        if asked.audit.number < entry.audit.number:
            return [
                f"the site's audit log is shorter than on your list ({asked.audit.number} events after "
                f"{entry.audit.number})"
            ]
        if asked.audit.number == entry.audit.number and asked.audit.link != entry.audit.link:
            return [
                f"the site's audit log differs from the one on your list (both have {asked.audit.number} events)"
            ]
    return []


def _compare_registries(asked: Entry, approved: Sequence[Entry]) -> list[str]:
    version = asked.registry.version
    for entry in approved:
        if version < entry.registry.version:
            return [
                f"the registry is older than before (version {version} after {entry.registry.version})"
            ]
        if version == entry.registry.version and asked.registry.digest != entry.registry.digest:
            return [f"there are two registries of version {version}"]
    return []


def _compare_places(asked: Entry, approved: Sequence[Entry]) -> tuple[list[str], list[str]]:
    """Return faults and cautions about the statement's position in the site's chain.

    A request about keys may be dropped by the aggregator without notice, so it does not permanently
    occupy a position.
    """
    place = _place(asked)
    requests = [entry for entry in approved if isinstance(entry.statement, Request)]
    links = [entry for entry in approved if not isinstance(entry.statement, Request)]
    cautions = []
    if any(_place(entry) == place for entry in requests):
        cautions.append(
            "You signed a request about keys for this position in the chain: only one of the two can count."
        )
    if links:
        newest = links[0]
        for entry in links:
            if _place(entry) >= _place(newest):
                newest = entry
        epoch, seq = _place(newest)
        if any(_place(entry) == place for entry in links):
            return [
                f"you approved another statement for this position in the chain (epoch {place[0]}, link {place[1]}), "
                "and the request contains no refusal of that statement by the aggregator"
            ], cautions
        if place < (epoch, seq):
            return [
                f"the statement comes before link {seq} of epoch {epoch}, which you have already approved"
            ], cautions
        if place == (epoch, seq + 1) and asked.header.prev != newest.digest:
            return ["the previous link differs from the one that you approved"], cautions
        if asked.header.prev == newest.digest:
            return [], cautions
    is_known = any(asked.header.prev == entry.digest for entry in requests)
    if not is_known and not isinstance(asked.statement, EnrollPredicate):
        cautions.append(
            "Your list does not contain the previous link, because another list was used for earlier statements."
        )
    return [], cautions


def _place(entry: Entry) -> tuple[int, int]:
    return entry.header.epoch, entry.header.seq


def _caution_about_release(asked: Entry, approved: Sequence[Entry]) -> list[str]:
    result = asked.statement
    if not isinstance(result, ResultPredicate):
        return []
    same_model = []
    for entry in approved:
        other = entry.statement
        if isinstance(other, ResultPredicate) and other.model == result.model:
            same_model.append(other)
    cautions = []
    if not any(other.scorecard == result.scorecard for other in same_model):
        cautions.append(
            "Your list contains no earlier release of this model and scorecard to compare with."
        )
    recent = sum(result.day - other.day < _MONTH for other in same_model)
    if recent:
        noun = "result" if recent == 1 else "results"
        cautions.append(f"You approved {recent} {noun} of this model in the {_MONTH} days before.")
    return cautions
