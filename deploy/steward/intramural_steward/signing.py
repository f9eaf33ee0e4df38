"""Signing statements. Every signed statement is recorded on the list before it is returned."""

from collections.abc import Sequence
from dataclasses import replace

from intramural_steward.approval_list import ApprovalList, Entry
from intramural_steward.errors import HistoryError, KeyFileError, RequestError
from intramural_steward.pages import Page
from intramural_steward.requests import KeyRequest, SiteRequest, active_keys
from protocol.envelope import add_signature, decode
from protocol.errors import ProtocolError
from protocol.keys import PublicKey, Signer, load_public
from protocol.predicates import RotatePredicate


def check_pages(pages: Sequence[Page]) -> None:
    """Check that nothing on the pages prevents signing.

    Raises:
        HistoryError: a statement contradicts the list.
        RequestError: a statement breaks a rule.
    """
    for page in pages:
        short = page.description.digest[:12]
        if page.continuity.faults:
            raise HistoryError(f"draft {short}: {page.continuity.faults[0]}")
        if page.faults:
            raise RequestError(f"draft {short}: {page.faults[0]}")


def check_steward_key(public: PublicKey, request: SiteRequest) -> None:
    """Check that a key is one of the site's stewards' keys in the registry. Raises KeyFileError."""
    if public.keyid in active_keys(request.registry, request.site, "agent"):
        raise _agents_key()
    if public.keyid not in active_keys(request.registry, request.site, "steward"):
        raise KeyFileError(f"this key ({public.fingerprint}) is not a steward's key of this site")


def check_key_for_request(public: PublicKey, request: KeyRequest) -> None:
    """Check that a key is a steward's key that may sign this request about keys. Raises KeyFileError."""
    statement = request.statement
    if isinstance(statement, RotatePredicate):
        # The aggregator checks the steward's previous key against the registry.
        if statement.role == "agent" and load_public(statement.new_key).keyid == public.keyid:
            raise _agents_key()
        return
    if load_public(statement.agent_key).keyid == public.keyid:
        raise _agents_key()
    if load_public(statement.steward_key).keyid != public.keyid:
        raise KeyFileError(
            f"this key ({public.fingerprint}) is not the steward key that the request names"
        )


def sign_pages(pages: Sequence[Page], signer: Signer, known: ApprovalList) -> list[bytes]:
    """Sign the pages and return the envelopes. New ones are first recorded on the list; earlier
    approvals are taken from it.

    Args:
        pages: Pages that the steward has read and agreed to.
        signer: The signer, whose key has been checked.
        known: The steward's list, opened and locked.

    Raises:
        ListError: the list cannot be written.
        KeyFileError: the device with the key does not sign.
        RequestError: no further signature can be added to the statement.
    """
    added: list[Entry] = []
    envelopes = []
    for page in pages:
        before = page.continuity.approved_before
        if before is not None and not _needs_another_signature(before, signer.public):
            envelopes.append(before.envelope)
            continue
        signed = _add_missing_signature(page.asked.envelope, signer)
        envelopes.append(signed)
        added.append(replace(page.asked, envelope=signed, key=signer.public.keyid))
    if added:
        known.append(added)
    return envelopes


def _needs_another_signature(before: Entry, public: PublicKey) -> bool:
    """Return whether a statement on the list needs a further signature, as for a steward's new key
    in addition to the old one.
    """
    signers = {signature.keyid for signature in decode(before.envelope).signatures}
    return isinstance(before.statement, RotatePredicate) and public.keyid not in signers


def _add_missing_signature(data: bytes, signer: Signer) -> bytes:
    try:
        opened = decode(data)
        for signature in opened.signatures:
            if signature.keyid == signer.public.keyid:
                signer.public.verify(signature.sig, opened.pae)
                return data
        return add_signature(data, signer)
    except ProtocolError as error:
        raise RequestError(
            f"the statement cannot be signed ({error.code}: {error.detail})"
        ) from None


def _agents_key() -> KeyFileError:
    return KeyFileError(
        "this is the agent's key, but a statement must be approved by another person than the one who prepared it",
        "Nothing was signed. Use the key of another person, created with `intramural-steward key new`.",
    )
