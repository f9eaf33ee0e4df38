"""Enrolment: a site proves that it holds its two keys and the invite's single-use token. A person approves.

The aggregator keeps only `token_verifier(token)`, never the token.
"""

import hashlib
import hmac
from dataclasses import dataclass

from protocol import envelope
from protocol.canonical import canonical
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey, load_public
from protocol.predicates import EnrollPredicate
from protocol.statements import parse_statement


@dataclass(frozen=True, slots=True)
class Enrolment:
    """An enrolment request whose proofs hold; a person has still to compare the fingerprints of both keys.

    `digest` is its identity and the `prev` of the site's first result.
    """

    predicate: EnrollPredicate
    agent: PublicKey
    steward: PublicKey
    digest: str
    pae: bytes


def token_verifier(token: bytes) -> str:
    """Return what the aggregator keeps of an invite's token (hex)."""
    return hashlib.sha256(b"intramural/invite-token/v1\n" + token).hexdigest()


def token_mac(verifier: str, deployment: str, site: str, agent: PublicKey, steward: PublicKey) -> str:
    """Return the hex HMAC-SHA256 that binds the invite to these two keys."""
    message = canonical(["intramural/enrolment/v1", deployment, site, agent.keyid, steward.keyid])
    return hmac.new(bytes.fromhex(verifier), message, hashlib.sha256).hexdigest()


def enrolment_site(data: bytes) -> str:
    """Return the site id an enrolment request claims, to look its invite up; nothing is verified yet.

    Raises:
        ProtocolError: MALFORMED, WRONG_TYPE, or as `parse_statement`.
    """
    return _claims(envelope.decode(data)).header.site


def _claims(opened: envelope.Envelope) -> EnrollPredicate:
    predicate = parse_statement(opened.payload)
    if not isinstance(predicate, EnrollPredicate):
        raise ProtocolError(Code.WRONG_TYPE, "not an enrolment")
    return predicate


def open_enrolment(data: bytes, *, deployment: str, site: str, verifier: str, registry_version: int) -> Enrolment:
    """Check an enrolment request (an envelope signed by both keys it names).

    Args:
        data: the envelope file.
        deployment: this aggregator's origin.
        site: the site id that the invite was made for.
        verifier: `token_verifier` of the invite's token.
        registry_version: the newest; the request may name any version up to it.

    Raises:
        ProtocolError: as `enrolment_site`, or WEAK_KEY, DUPLICATE_KEY, UNKNOWN_KEY, BAD_SIGNATURE,
            WRONG_DEPLOYMENT, WRONG_SITE, WRONG_REGISTRY or WRONG_TOKEN.
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
        raise ProtocolError(Code.WRONG_DEPLOYMENT, f"meant for {predicate.header.deployment}, this is {deployment}")
    if predicate.header.site != site:
        raise ProtocolError(Code.WRONG_SITE, f"from {predicate.header.site}, the invite is for {site}")
    if predicate.header.registry > registry_version:
        raise ProtocolError(Code.WRONG_REGISTRY, f"version {predicate.header.registry} does not exist yet")
    if not hmac.compare_digest(token_mac(verifier, deployment, site, agent, steward), predicate.token_mac):
        raise ProtocolError(Code.WRONG_TOKEN, "the request does not prove the invite's token")
    return Enrolment(predicate, agent, steward, opened.digest, opened.pae)
