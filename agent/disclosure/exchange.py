"""Write and read the files that a site exchanges with its steward (`protocol.approval_files`).

A request contains the drafts, the registry that they refer to, the site's policy and the head of its audit log. The
steward's tool does not trust it: it verifies everything again and keeps its own list of approved submissions. The
returned drafts have both signatures, but are approved only once the site has accepted them
(`agent.disclosure.approval`). A rejection is not signed: it informs a person and can only delete drafts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent.delivery.outbox import Submission
from agent.disclosure.preview import read_notes
from agent.errors import DisclosureError
from protocol.approval_files import (
    MAX_FILE_BYTES,
    ApprovalRequest,
    AuditHead,
    DraftFile,
    Rejection,
    read_rejection,
    read_signed_drafts,
    write_approval_request,
)
from protocol.errors import ProtocolError
from protocol.policy import DisclosurePolicy

MAX_EXCHANGED_BYTES: Final = MAX_FILE_BYTES
REJECTION_WORDS: Final[Mapping[str, str]] = {
    "wrong_figures": "the figures are wrong",
    "wrong_data": "the data is wrong",
    "not_agreed": "this was not agreed on",
    "too_much": "it reveals too much",
    "shorter_history": "the site's history is shorter than the steward's list: was this machine restored?",
    "other": "another reason, which the steward tells",
}
_EXPECTED_SIGNED: Final = (
    "Nothing was changed. Give the file that `intramural-steward approve` wrote, not the request."
)
_EXPECTED_REJECTED: Final = (
    "Nothing was changed. Give the file that `intramural-steward reject` wrote, not the request."
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft and the content of its verdict file."""

    submission: Submission
    verdicts: Mapping[str, Any]


def write_request(
    registry: bytes,
    policy: DisclosurePolicy,
    drafts: Sequence[Draft],
    audit_head: tuple[int, str],
    refusals: Mapping[str, bytes],
) -> bytes:
    """Return the content of a request for approval.

    Args:
        registry: the signed file of the newest registry.
        policy: the site's own policy.
        drafts: the drafts in the order of the chain, at least one.
        audit_head: number and link of the last event in the site's audit log.
        refusals: signed refusals, keyed by the digest of the submission that was refused; its position in the chain is
            free again.

    Raises:
        DisclosureError: there are more drafts than a request may contain.
    """
    files = tuple(DraftFile(draft.submission.data, read_notes(draft.verdicts)) for draft in drafts)
    try:
        return write_approval_request(
            ApprovalRequest(registry, policy, files, AuditHead(*audit_head), refusals)
        )
    except ProtocolError as error:
        raise DisclosureError(
            f"the request for approval cannot be written ({error.detail})",
            "Name one draft with --digest.",
        ) from None


def read_signed(data: bytes) -> tuple[bytes, ...]:
    """Return the envelopes in a file of signed drafts, unverified. Raises DisclosureError if it is not such a file."""
    try:
        return read_signed_drafts(data).envelopes
    except ProtocolError as error:
        raise DisclosureError(
            f"this is not a file of signed drafts ({error.code}: {error.detail})",
            _EXPECTED_SIGNED,
        ) from None


def read_rejected(data: bytes) -> Rejection:
    """Return the steward's rejection in a file. Raises DisclosureError if it is not a rejection."""
    try:
        return read_rejection(data)
    except ProtocolError as error:
        raise DisclosureError(
            f"this is not a file of rejected drafts ({error.code}: {error.detail})",
            _EXPECTED_REJECTED,
        ) from None
