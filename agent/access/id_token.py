"""Checks of an OpenID provider's ID token: signature, issuer, audience, time, nonce. No network, no clock."""

import hmac
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agent.access.external import ExternalIdentity
from agent.access.refusals import SignInRefusedError
from agent.store import Origin

if TYPE_CHECKING:
    from joserfc.jwk import Key

_ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519"),
)
"""Signatures by a private key that only the provider has. Never `none`, and no shared secret (HS256)."""
_KEY_TYPES: Final = frozenset({"RSA", "EC", "OKP"})
_LEEWAY_S: Final = 60  # seconds by which the provider's clock and ours may differ
_LONGEST_SUBJECT: Final = 255  # characters, as OpenID Connect has it


class IdTokenRefusedError(SignInRefusedError):
    """An ID token does not prove that the person signed in for this service, just now.

    `reason` is a word for the audit log, such as "signature" or "nonce".
    """

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the OpenID provider's answer was refused ({reason})",
            "Sign in again. If it happens again, tell an administrator of this service.",
        )
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Expectation:
    """What an ID token must say.

    Attributes:
        issuer: URL of the provider.
        client_id: id under which the provider knows this service.
        nonce: the random value sent with the person to the provider.
        name_claim, groups_claim: names of the claims with the person's name and groups.
    """

    issuer: str
    client_id: str
    nonce: str
    name_claim: str
    groups_claim: str


def check_id_token(
    id_token: str,
    access_token: str,
    keys: Sequence[Mapping[str, Any]],
    expected: Expectation,
    now: float,
) -> ExternalIdentity:
    """Return the person of an ID token.

    Args:
        id_token: the token, a signed JWT.
        access_token: the access token that came with it, which it may name; "" if there was none.
        keys: the provider's published keys.
        expected: what the token must say.
        now: the time, in seconds since 1970.

    Raises:
        IdTokenRefusedError: the token is not signed by one of the keys, is for another service or another sign-in, of
            another issuer, or has expired.
    """
    from authlib.oidc.core import CodeIDToken
    from joserfc import errors, jwt
    from joserfc.jwk import KeySet
    from joserfc.jws import JWSRegistry

    registry = JWSRegistry(algorithms=list(_ALGORITHMS), strict_check_header=False)
    options = {
        "iss": {"essential": True, "value": expected.issuer},
        "aud": {"essential": True, "value": expected.client_id},
        "sub": {"essential": True},
        "nonce": {"essential": True, "value": expected.nonce},
    }
    params = {
        "nonce": expected.nonce,
        "client_id": expected.client_id,
        "access_token": access_token,
    }
    usable = import_keys(keys)
    if not usable:
        raise IdTokenRefusedError("no_usable_key")
    try:
        token = jwt.decode(id_token, KeySet(usable), registry=registry)
        claims = CodeIDToken(token.claims, token.header, options, params)
        claims.validate(now=int(now), leeway=_LEEWAY_S)
    except errors.ClaimError as error:
        raise IdTokenRefusedError(_name_claim_fault(error)) from None
    except (errors.UnsupportedAlgorithmError, errors.MissingAlgorithmError):
        raise IdTokenRefusedError("algorithm") from None
    except (errors.BadSignatureError, errors.InvalidKeyIdError):
        raise IdTokenRefusedError("signature") from None
    # The rest is a token that is none: not three parts, not JSON, a key of another kind, a claim of another type.
    except (errors.JoseError, ValueError, TypeError, KeyError, AttributeError):
        raise IdTokenRefusedError("not_a_signed_token") from None
    return _read_identity(claims, expected)


def import_keys(keys: Sequence[Mapping[str, Any]]) -> "list[Key]":
    """Return the published keys that can check a signature; those of unknown kinds are left out."""
    from joserfc.errors import JoseError
    from joserfc.jwk import import_key

    imported: list[Key] = []
    for key in keys:
        if key.get("kty") not in _KEY_TYPES or key.get("use", "sig") != "sig":
            continue
        with suppress(JoseError, ValueError, TypeError, KeyError):
            imported.append(import_key(dict(key)))
    return imported


def _name_claim_fault(error: Any) -> str:
    """Return a word for the claim that is missing or wrong; the provider's value is never quoted."""
    words = {
        "iss": "issuer",
        "aud": "audience",
        "azp": "audience",
        "exp": "expired",
        "nbf": "not_yet_valid",
        "iat": "not_yet_valid",
        "nonce": "nonce",
        "sub": "subject",
        "at_hash": "access_token",
    }
    return words.get(error.claim, "claims")


def _read_identity(claims: Mapping[str, Any], expected: Expectation) -> ExternalIdentity:
    # The library compares these too; a sign-in that depends on them alone is worth a second line.
    if claims.get("iss") != expected.issuer:
        raise IdTokenRefusedError("issuer")
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not hmac.compare_digest(
        nonce.encode(), expected.nonce.encode()
    ):
        raise IdTokenRefusedError("nonce")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= _LONGEST_SUBJECT:
        raise IdTokenRefusedError("subject")
    name = claims.get(expected.name_claim)
    shown = name.strip() if isinstance(name, str) and name.strip() else subject
    groups = claims.get(expected.groups_claim, [])
    listed = groups.split() if isinstance(groups, str) else groups
    if not isinstance(listed, list):
        raise IdTokenRefusedError("groups")
    return ExternalIdentity(
        origin=Origin.OIDC,
        issuer=expected.issuer,
        subject=subject,
        name=shown,
        groups=frozenset(group for group in listed if isinstance(group, str)),
    )
