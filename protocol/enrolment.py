"""Enrolment: a site proves that it holds its two keys and the invite's single-use token, and a person approves it.

The token is the seed of a signing key. The aggregator keeps only `token_verifier(token)`, the public half, so
someone who steals its database cannot forge a proof.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from protocol import envelope
from protocol.canonical import canonical
from protocol.errors import Code, ProtocolError
from protocol.keys import Ed25519Signer, PublicKey, load_public
from protocol.predicates import EnrollPredicate
from protocol.statements import parse_statement


@dataclass(frozen=True, slots=True)
class Enrolment:
    """An enrolment request with valid proofs. A person still has to compare the fingerprints of both keys.

    `digest` is its identity and the `prev` of the site's first link after it.
    """

    predicate: EnrollPredicate
    agent: PublicKey
    steward: PublicKey
    digest: str
    pae: bytes


_ED25519_DER: Final = bytes.fromhex(
    "302a300506032b6570032100"
)  # the DER that precedes the 32 bytes of a key (RFC 8410)


def token_verifier(token: bytes) -> str:
    """Return the part of an invite's token that the aggregator keeps: the raw public key of its signing key (hex)."""
    return _token_signer(token).public.raw.hex()


def sign_with_token(
    token: bytes, deployment: str, site: str, agent: PublicKey, steward: PublicKey
) -> str:
    """Return the signature (hex) by the token's key that binds the invite to these two keys."""
    return _token_signer(token).sign(_bound(deployment, site, agent, steward)).hex()


def _token_signer(token: bytes) -> Ed25519Signer:
    seed = hashlib.sha256(b"intramural/invite-token/v2\n" + token).digest()
    return Ed25519Signer(Ed25519PrivateKey.from_private_bytes(seed))


def _bound(deployment: str, site: str, agent: PublicKey, steward: PublicKey) -> bytes:
    return canonical(["intramural/enrolment/v2", deployment, site, agent.keyid, steward.keyid])


def enrolment_site(data: bytes) -> str:
    """Return the site id that an enrolment request claims, to look up its invite. Nothing is verified.

    Raises:
        ProtocolError: MALFORMED, WRONG_TYPE, or as `parse_statement`.
    """
    return _claims(envelope.decode(data)).header.site


def _claims(opened: envelope.Envelope) -> EnrollPredicate:
    predicate = parse_statement(opened.payload)
    if not isinstance(predicate, EnrollPredicate):
        raise ProtocolError(Code.WRONG_TYPE, "not an enrolment")
    return predicate


def open_signed_enrolment(data: bytes, *, deployment: str) -> Enrolment:
    """Check that both keys named in an enrolment request signed it, for this aggregator; its invite is not needed.

    Raises:
        ProtocolError: WEAK_KEY, DUPLICATE_KEY, UNKNOWN_KEY, BAD_SIGNATURE or WRONG_DEPLOYMENT, or as `enrolment_site`.
    """
    opened = envelope.decode(data)
    predicate = _claims(opened)
    agent, steward = load_public(predicate.agent_key), load_public(predicate.steward_key)
    if agent.keyid == steward.keyid:
        raise ProtocolError(Code.DUPLICATE_KEY, "agent and steward must have different keys")
    opened.verify({agent.keyid: agent, steward.keyid: steward})
    if len(opened.signatures) != 2:
        raise ProtocolError(Code.UNKNOWN_KEY, "agent and steward must both sign")
    if predicate.header.deployment != deployment:
        raise ProtocolError(
            Code.WRONG_DEPLOYMENT,
            f"the request is meant for {predicate.header.deployment}, not for {deployment}",
        )
    return Enrolment(predicate, agent, steward, opened.digest, opened.pae)


def open_enrolment(
    data: bytes, *, deployment: str, site: str, verifier: str, registry_version: int
) -> Enrolment:
    """Check an enrolment request: an envelope signed by both keys it names, with a proof of the invite's token.

    Args:
        data: the envelope file.
        deployment: this aggregator's origin.
        site: the site id that the invite was made for.
        verifier: the `token_verifier` of the invite's token.
        registry_version: the newest version; the request may name any version up to it.

    Raises:
        ProtocolError: WEAK_KEY, DUPLICATE_KEY, UNKNOWN_KEY, BAD_SIGNATURE, WRONG_DEPLOYMENT, WRONG_SITE,
            WRONG_REGISTRY or WRONG_TOKEN, or as `enrolment_site`.
    """
    enrolment = open_signed_enrolment(data, deployment=deployment)
    predicate = enrolment.predicate
    if predicate.header.site != site:
        raise ProtocolError(
            Code.WRONG_SITE,
            f"the request is from {predicate.header.site}, but the invite is for {site}",
        )
    if predicate.header.registry > registry_version:
        raise ProtocolError(
            Code.WRONG_REGISTRY, f"registry version {predicate.header.registry} does not exist yet"
        )
    try:
        token_key = load_public(_ED25519_DER + bytes.fromhex(verifier))
        token_key.verify(
            bytes.fromhex(predicate.token_signature),
            _bound(deployment, site, enrolment.agent, enrolment.steward),
        )
    except ProtocolError:
        raise ProtocolError(
            Code.WRONG_TOKEN, "the request does not prove that the site holds the invite's token"
        ) from None
    return enrolment
