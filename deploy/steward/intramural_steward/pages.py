"""Pages that show each statement of a file before the decision, with the results of comparing it with the list."""

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
    "You have not specified root keys (--root), and your list contains none. Compare the fingerprints with what the "
    "central team tells you by telephone. These keys control all names and the federation's rules."
)


@dataclass(frozen=True, slots=True)
class Page:
    """A statement as shown to the steward.

    Attributes:
        description: Description of the statement.
        continuity: Result of comparing the statement with the list.
        asked: The unsigned statement as an entry for the list.
        roots: The root keys that signed the registry; empty for a request about keys.
        is_from_site: Whether known root keys vouch for the agent's key that signed it.
        cautions: Points to check.
        faults: Reasons why it must not be signed.
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
        request: The verified request.
        known: The steward's list.
        today_day: Days since 1970-01-01 UTC.
        roots_are_known: Whether the registry was verified with root keys that the steward specified
            or the list contains.

    Raises:
        RequestError: a draft cannot be shown because it refers to something that is not in the
            registry.
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
    """Return a short text with a decision's kind and position in the chain."""
    header = entry.header
    return f"{kind_name(entry.statement)}, epoch {header.epoch}, link {header.seq}"
