"""Approving elsewhere: what a site writes for its steward, and what comes back, so that the steward's key stays put.

The request holds everything the page is made from: the drafts, the registry that names what they mean, the site's
policy, and the release before of the same model. Whoever made it is not believed: the registry must be signed by the
root keys that the steward named or is shown, drafts by the site's agent, releases before by both. The verdicts alone
are the gate's word, as they are at the site.

What comes back is signed twice already, but counts as approved only once the site has taken it, because the ledger of
releases is written then. The aggregator sees where that was left out: the site's next submission has no place.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, ValidationError

from agent.delivery.outbox import State, Submission, open_submission
from agent.disclosure.approval import check_draft
from agent.errors import DisclosureError
from protocol import envelope
from protocol.envelope import REGISTRY_TYPE, encode_base64
from protocol.errors import ProtocolError
from protocol.keys import PublicKey
from protocol.policy import DisclosurePolicy, parse_policy
from protocol.registry import Registry, RootPins, load_registry, parse_registry

LARGEST: Final = 64 * 1024 * 1024  # bytes of a file of either kind

_Form = TypeVar("_Form", bound=BaseModel)
_Model = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft with what its page needs besides; see `agent.disclosure.preview.make_page`."""

    submission: Submission
    verdicts: dict[str, Any]
    previous: Submission | None


@dataclass(frozen=True, slots=True)
class Request:
    """What a steward is asked to sign, in the order of the chain. `roots` are the keys that signed the registry."""

    registry: Registry
    roots: tuple[PublicKey, ...]
    policy: DisclosurePolicy
    drafts: tuple[Draft, ...]


class _DraftForm(BaseModel):
    model_config = _Model

    envelope: Base64Bytes
    previous: Base64Bytes | None
    verdicts: dict[str, Any]


class _RequestForm(BaseModel):
    model_config = _Model

    kind: Literal["approval request"]
    schema_version: Literal[1] = Field(alias="schema")
    registry: Base64Bytes
    policy: dict[str, Any]
    drafts: Annotated[list[_DraftForm], Field(min_length=1, max_length=1000)]


class _SignedForm(BaseModel):
    model_config = _Model

    kind: Literal["signed drafts"]
    schema_version: Literal[1] = Field(alias="schema")
    envelopes: Annotated[list[Base64Bytes], Field(min_length=1, max_length=1000)]


def write_request(registry: bytes, policy: DisclosurePolicy, drafts: Sequence[Draft]) -> bytes:
    """Return the file for the steward. `registry` is the signed file of the newest one; `policy` the site's own."""
    return _file(
        {
            "kind": "approval request",
            "schema": 1,
            "registry": encode_base64(registry),
            "policy": policy.to_json(),
            "drafts": [
                {
                    "envelope": encode_base64(draft.submission.data),
                    "previous": encode_base64(draft.previous.data) if draft.previous else None,
                    "verdicts": draft.verdicts,
                }
                for draft in drafts
            ],
        }
    )


def open_request(data: bytes, roots: Collection[str], today_day: int) -> Request:
    """Read a request and check everything in it.

    Args:
        data: the file.
        roots: key ids of root keys that must have signed the registry; where there are none, whoever reads
            `Request.roots` must compare them.
        today_day: days since 1970-01-01 UTC.

    Raises:
        DisclosureError: it is no request, or something in it is not signed by whom it should be or breaks a rule.
    """
    form = _opened(data, _RequestForm, "a request for approval")
    try:
        opened = envelope.decode(form.registry, REGISTRY_TYPE)
        claimed = parse_registry(opened.payload)
        pins = RootPins(claimed.deployment, frozenset(key.keyid for key in claimed.roots), claimed.threshold)
        if roots:
            pins = RootPins(claimed.deployment, frozenset(roots), len(set(roots)))
        registry = load_registry(form.registry, pins, today_day)
        signers = {signature.keyid for signature in opened.signatures}
        policy = parse_policy(form.policy)
        drafts = tuple(_draft(draft, registry) for draft in form.drafts)
    except ProtocolError as error:
        raise DisclosureError(f"the request for approval does not pass ({error.code}: {error.detail})", _ASK) from None
    for draft in drafts:
        check_draft(draft.submission, registry, policy)
    return Request(registry, tuple(key for key in registry.roots if key.keyid in signers), policy, drafts)


def write_signed(envelopes: Sequence[bytes]) -> bytes:
    """Return the file for the site."""
    encoded = [encode_base64(each) for each in envelopes]
    return _file({"kind": "signed drafts", "schema": 1, "envelopes": encoded})


def read_signed(data: bytes) -> list[bytes]:
    """Return the envelopes, unchecked. Raises DisclosureError: it is no such file."""
    return _opened(data, _SignedForm, "a file of signed drafts").envelopes


_ASK: Final = "Nothing was signed. Ask the site for another file."


def _file(value: dict[str, object]) -> bytes:
    return json.dumps(value, indent=1, sort_keys=True).encode() + b"\n"


def _opened(data: bytes, form: type[_Form], what: str) -> _Form:
    try:
        return form.model_validate_json(data)
    except ValidationError:
        raise DisclosureError(f"this is not {what}, or it is damaged", _ASK) from None


def _draft(form: _DraftForm, registry: Registry) -> Draft:
    submission = open_submission(form.envelope, State.PREPARED)
    if form.previous is None:
        return Draft(submission, form.verdicts, None)
    previous = open_submission(form.previous, State.APPROVED)
    site = registry.sites.get(submission.result.header.site)
    # Keys that were revoked since have signed it rightly.
    roles = {entry.key.keyid: entry.role for entry in (site.keys if site else ())}
    previous.envelope.verify({entry.key.keyid: entry.key for entry in (site.keys if site else ())})
    signed_by = {roles[signature.keyid] for signature in previous.envelope.signatures}
    same_model = previous.result.model == submission.result.model
    if signed_by != {"agent", "steward"} or not same_model or previous.place >= submission.place:
        raise DisclosureError("what it compares a draft with is no earlier release of that model", _ASK)
    return Draft(submission, form.verdicts, previous)
