"""Enrolment: a site proves that it holds its two keys and the invite's single-use token. A person approves.

The aggregator keeps only `token_verifier(token)`, never the token.
"""

from dataclasses import dataclass

from protocol.keys import PublicKey
from protocol.statements import EnrollPredicate


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
    raise NotImplementedError


def token_mac(verifier: str, deployment: str, site: str, agent: PublicKey, steward: PublicKey) -> str:
    """Return the hex HMAC-SHA256 that binds the invite to these two keys."""
    raise NotImplementedError


def open_enrolment(data: bytes, *, deployment: str, site: str, verifier: str, registry_version: int) -> Enrolment:
    """Check an enrolment request (an envelope signed by both keys it names).

    Args:
        data: the envelope file.
        deployment: this aggregator's origin.
        site: the site id that the invite was made for.
        verifier: `token_verifier` of the invite's token.
        registry_version: the newest; the request may name any version up to it.

    Raises:
        ProtocolError: MALFORMED, UNKNOWN_KEY, BAD_SIGNATURE, those of parse_statement, WEAK_KEY, DUPLICATE_KEY,
            WRONG_DEPLOYMENT, WRONG_SITE, WRONG_REGISTRY or WRONG_TOKEN.
    """
    raise NotImplementedError


def enrolment_site(data: bytes) -> str:
    """Return the site id an enrolment request claims, to look its invite up; nothing is verified yet."""
    raise NotImplementedError
