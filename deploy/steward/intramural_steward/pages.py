"""Pages: what a person reads about each statement of a file before deciding, with the list's word beside it."""

from dataclasses import dataclass
from typing import Final

from intramural_steward.approval_list import APPROVED, ApprovalList, Entry, make_entry
from intramural_steward.continuity import Continuity, check_continuity, leave_out_refused
from intramural_steward.errors import RequestError
from intramural_steward.requests import KeyRequest, SiteRequest
from protocol.describe import describe_request, describe_statement
from protocol.description import Description, Knowledge
from protocol.errors import ProtocolError
from protocol.keys import PublicKey
from protocol.statements import kind_name

_ROOTS_UNKNOWN: Final = (
    "You have not named the root keys (--root), and your list knows none: compare their fingerprints with what the "
    "aggregator's people tell you by telephone. Whoever holds them decides on all names and on the federation's rules."
)


@dataclass(frozen=True, slots=True)
class Page:
    """One statement as a person sees it.

    Attributes:
        description: what the statement says.
        continuity: what the list says about it.
        asked: the statement as it would be put on the list, unsigned.
        roots: the root keys that signed the registry; none for a request about keys.
        is_from_site: whether known root keys vouch for the agent's key that signed it.
        cautions: what to look into; `faults`: why it must not be signed.
    """

    description: Description
    continuity: Continuity
    asked: Entry
    roots: tuple[PublicKey, ...]
    is_from_site: bool
    cautions: tuple[str, ...]
    faults: tuple[str, ...]


def make_pages(
    request: SiteRequest, known: ApprovalList, today_day: int, *, roots_are_known: bool
) -> list[Page]:
    """Return a page for each draft of a request.

    Args:
        request: verified.
        known: the steward's list.
        today_day: days since 1970-01-01 UTC.
        roots_are_known: whether the registry was checked against root keys that the steward named, or the list has.

    Raises:
        RequestError: a draft cannot be shown, since it names something that the registry does not have.
    """
    history = known.of_site(request.registry.deployment, request.site)
    pages = []
    for draft in request.drafts:
        asked = make_entry(
            draft.data,
            decision=APPROVED,
            day=today_day,
            registry=request.mark,
            audit=request.audit_head,
        )
        approved = leave_out_refused(
            [entry for entry in history if entry.decision == APPROVED], request.refused
        )
        earlier = {entry.digest: entry.statement for entry in approved}
        knowledge = Knowledge(request.registry, request.policy, earlier, draft.notes)
        try:
            description = describe_statement(draft.opened.payload, knowledge)
        except ProtocolError as error:
            raise RequestError(
                f"draft {draft.digest[:12]} cannot be shown ({error.code}: {error.detail})",
                "Nothing was signed. Ask the site to prepare it again with the newest registry.",
            ) from None
        continuity = check_continuity(asked, history, request.refused)
        trust = () if roots_are_known else (_ROOTS_UNKNOWN,)
        pages.append(
            Page(
                description=description,
                continuity=continuity,
                asked=asked,
                roots=request.signers,
                is_from_site=roots_are_known,
                cautions=(*trust, *description.cautions, *continuity.cautions),
                faults=(*description.faults, *continuity.faults),
            )
        )
        history = [*history, asked]
    return pages


def make_key_page(request: KeyRequest, known: ApprovalList, today_day: int) -> Page:
    """Return the page of a request about keys."""
    header = request.statement.header
    asked = make_entry(request.data, decision=APPROVED, day=today_day)
    description = describe_request(request.opened.payload)
    continuity = check_continuity(asked, known.of_site(header.deployment, header.site))
    return Page(
        description=description,
        continuity=continuity,
        asked=asked,
        roots=(),
        is_from_site=False,
        cautions=(*description.cautions, *continuity.cautions),
        faults=(*description.faults, *continuity.faults),
    )


def name_entry(entry: Entry) -> str:
    """Return a decision's kind and place in a few words."""
    header = entry.header
    return f"{kind_name(entry.statement)}, epoch {header.epoch}, link {header.seq}"
