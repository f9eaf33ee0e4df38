"""The last check before bytes leave the site: they must be exactly the bytes that agent and steward signed.

Text could be hidden in a signature that is not checked. Therefore the format, length, signers and roles are verified
again here, on the bytes that are about to be sent or exported.
"""

from agent.delivery.outbox import Submission
from agent.errors import DisclosureError
from protocol.envelope import Envelope, decode
from protocol.errors import ProtocolError
from protocol.keys import PublicKey, load_public
from protocol.predicates import RotatePredicate
from protocol.registry import Registry
from protocol.statements import parse_statement

_ADVICE = (
    "Nothing was sent. Find out who changed the folder submissions, then prepare and approve again."
)


def check_departure(submission: Submission, registry: Registry) -> bytes:
    """Verify a submission's envelope again and return its bytes, which may leave the site.

    Raises:
        DisclosureError: the envelope is not the one that the site's agent and one of its stewards signed.
    """
    data = submission.data
    try:
        opened = decode(data)
        statement = parse_statement(opened.payload)
    except ProtocolError as error:
        raise DisclosureError(
            f"submission {submission.digest[:12]} is not what was approved ({error.code}: {error.detail})",
            _ADVICE,
        ) from None
    if opened.digest != submission.digest:
        raise DisclosureError(
            f"submission {submission.digest[:12]} was changed after it was approved", _ADVICE
        )
    if isinstance(statement, RotatePredicate):
        _check_rotation(opened, statement, registry)
    else:
        check_signatures(opened, registry, statement.header.site)
    return data


def _check_rotation(opened: Envelope, rotation: RotatePredicate, registry: Registry) -> None:
    """Check that exactly three keys signed: the new key, an agent key and a steward key of the site.

    The replaced key counts even if the registry has ended it in the meantime, because the same bytes are sent until
    they have a receipt.

    Raises:
        DisclosureError: a signature is missing, made by another key, or does not verify.
    """
    site = registry.sites.get(rotation.header.site)
    site_keys = () if site is None else site.keys
    try:
        new_key = load_public(rotation.new_key)
        roles: dict[str, str] = {}
        keys = {new_key.keyid: new_key}
        for entry in site_keys:
            # Once the rotation is in force, the registry also contains the new key, which cannot approve itself.
            if entry.revoked_from is not None or entry.key.keyid == new_key.keyid:
                continue
            roles[entry.key.keyid] = entry.role
            keys[entry.key.keyid] = entry.key
        signing_roles = sorted(
            roles[signature.keyid] for signature in opened.signatures if signature.keyid in roles
        )
        if len(opened.signatures) != 3 or signing_roles != ["agent", "steward"]:
            raise DisclosureError(
                "a rotation must have three signatures: from the new key and from the site's agent and steward keys",
                _ADVICE,
            )
        opened.verify(keys)
    except ProtocolError as error:
        raise DisclosureError(
            f"the signatures of a rotation do not verify ({error.code})", _ADVICE
        ) from None


def check_signatures(opened: Envelope, registry: Registry, site: str) -> str:
    """Check that exactly one agent key and one steward key of the site signed; return the steward's key id.

    Raises:
        DisclosureError: a signature is missing, made by another key, or does not verify.
    """
    agents = list_site_keys(registry, site, "agent")
    stewards = list_site_keys(registry, site, "steward")
    signers = [signature.keyid for signature in opened.signatures]
    approving = [keyid for keyid in signers if keyid in stewards]
    if len(signers) != 2 or len(approving) != 1:
        raise DisclosureError(
            "a submission must have two signatures: from the site's agent and from one of its stewards",
            "The steward signs it with `intramural-steward approve REQUEST --key KEY --out SIGNED`.",
        )
    try:
        opened.verify(agents | stewards)
    except ProtocolError as error:
        raise DisclosureError(
            f"the submission's signatures do not verify ({error.code})", _ADVICE
        ) from None
    return approving[0]


def list_site_keys(registry: Registry, site: str, role: str) -> dict[str, PublicKey]:
    """Return the keys with which a site may sign in a role, by key id."""
    entry = registry.sites.get(site)
    if entry is None:
        return {}
    keys: dict[str, PublicKey] = {}
    for site_key in entry.keys:
        is_ended = site_key.revoked_from is not None or site_key.until_index is not None
        if site_key.role == role and not is_ended:
            keys[site_key.key.keyid] = site_key.key
    return keys
