"""The files between a site and its steward (`protocol.approval_files`), from and to the outbox's submissions.

The request holds the drafts, the registry that names what they mean, the site's policy and the head of its audit log.
Whoever made it is not believed: the steward's tool verifies all of it again, and keeps its own list of what it
approved. What comes back is signed twice already, but counts as approved only once the site has taken it
(`agent.disclosure.approval`). A rejection is signed by nobody: it informs a person, and takes back drafts alone.
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
    "too_much": "it tells too much",
    "shorter_history": "the site's history is shorter than the steward's list: was this machine restored?",
    "other": "another reason: ask the steward",
}
_ASK: Final = "Nothing was changed. Ask the steward for another file."


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft and the file that the gate keeps beside it."""

    submission: Submission
    verdicts: Mapping[str, Any]


def write_request(
    registry: bytes,
    policy: DisclosurePolicy,
    drafts: Sequence[Draft],
    audit_head: tuple[int, str],
    refusals: Mapping[str, bytes],
) -> bytes:
    """Return the file for the steward.

    Args:
        registry: the signed file of the newest registry.
        policy: the site's own.
        drafts: in the order of the chain, at least one.
        audit_head: number and link of the last event of the site's audit log.
        refusals: signed notes by the digest of what the aggregator refused: their places in the chain are free again.

    Raises:
        DisclosureError: there are more drafts than a request can hold.
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
    """Return the envelopes that a steward signed, unchecked. Raises DisclosureError: it is no such file."""
    try:
        return read_signed_drafts(data).envelopes
    except ProtocolError as error:
        raise DisclosureError(
            f"this is not a file of signed drafts ({error.code}: {error.detail})", _ASK
        ) from None


def read_rejected(data: bytes) -> Rejection:
    """Return a steward's rejection. Raises DisclosureError: it is none."""
    try:
        return read_rejection(data)
    except ProtocolError as error:
        raise DisclosureError(
            f"this is not a file of rejected drafts ({error.code}: {error.detail})", _ASK
        ) from None
