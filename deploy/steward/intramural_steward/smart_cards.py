"""The steward's key on a smart card, token or HSM, accessed through PKCS #11. Requires the extra `pkcs11`.

The private key never leaves the device. Signatures are converted to the protocol's canonical form
(strict DER with a low s for P-256, 64 bytes for Ed25519) and verified before use.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from intramural_steward.errors import KeyFileError
from protocol.errors import ProtocolError
from protocol.keys import P256_ORDER, PublicKey, load_public

if TYPE_CHECKING:
    import pkcs11

# The beginning of a SubjectPublicKeyInfo, up to the public point.
_P256_INFO: Final = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
_ED25519_INFO: Final = bytes.fromhex("302a300506032b6570032100")
_P256_PARAMETERS: Final = bytes.fromhex("06082a8648ce3d030107")
_P256_POINT_BYTES: Final = 65
_ED25519_POINT_BYTES: Final = 32
_OCTETS: Final = 0x04


class _CardKey(Protocol):
    """A private key on the device that can sign."""

    def sign(self, data: bytes, *, mechanism: "pkcs11.Mechanism") -> bytes: ...


class CardSigner:
    """A signer whose key stays on the device."""

    def __init__(self, key: _CardKey, public: PublicKey) -> None:
        self._key = key
        self.public = public

    def sign(self, message: bytes) -> bytes:
        """Return the signature in the protocol's canonical form.

        Raises:
            KeyFileError: the device refuses, or does not return a valid signature of this key.
        """
        import pkcs11

        try:
            if self.public.algorithm == "ed25519":
                signature = bytes(self._key.sign(message, mechanism=pkcs11.Mechanism.EDDSA))
            else:
                digest = hashlib.sha256(message).digest()
                signature = _encode_p256(
                    bytes(self._key.sign(digest, mechanism=pkcs11.Mechanism.ECDSA))
                )
            self.public.verify(signature, message)
        except (pkcs11.PKCS11Error, ProtocolError) as error:
            raise KeyFileError(f"the device does not sign ({type(error).__name__})") from None
        return signature


@contextmanager
def open_card(module: Path, token_label: str, key_label: str, pin: str) -> Iterator[CardSigner]:
    """Open a session and yield the signer of a key. The session ends with the block.

    Args:
        module: The vendor's PKCS #11 library.
        token_label: Label of the token.
        key_label: Label of the key pair on the token, which must include the public key.
        pin: PIN of the token's user.

    Raises:
        KeyFileError: the extra is not installed; library, token, PIN or key is wrong; or the key is
            of another kind.
    """
    try:
        import pkcs11
    except ImportError:
        raise KeyFileError(
            "this installation does not support PKCS #11",
            "Install it with: pip install './deploy/steward[pkcs11]' in a clone, or from a folder of wheels "
            "pip install --no-index --find-links wheelhouse 'intramural-steward[pkcs11]'",
        ) from None
    try:
        token = pkcs11.lib(str(module.absolute())).get_token(token_label=token_label)
    except (pkcs11.PKCS11Error, RuntimeError) as error:
        raise KeyFileError(
            f"the token was not found ({type(error).__name__})",
            "Check --pkcs11-module and --token, and that the card is inserted.",
        ) from None
    try:
        session = token.open(user_pin=pin)
    except pkcs11.PKCS11Error as error:
        raise KeyFileError(
            f"the token cannot be opened ({type(error).__name__})",
            "Nothing was signed. Check the PIN: most tokens lock after a few wrong attempts.",
        ) from None
    with session:
        yield _find_key(session, key_label)


def _find_key(session: "pkcs11.Session", label: str) -> CardSigner:
    import pkcs11

    try:
        private = session.get_key(object_class=pkcs11.ObjectClass.PRIVATE_KEY, label=label)
        public = session.get_key(object_class=pkcs11.ObjectClass.PUBLIC_KEY, label=label)
        kind = public[pkcs11.Attribute.KEY_TYPE]
        point = _read_point(bytes(public[pkcs11.Attribute.EC_POINT]))
        parameters = bytes(public[pkcs11.Attribute.EC_PARAMS])
    except (pkcs11.PKCS11Error, KeyError) as error:
        raise KeyFileError(
            f"the token has no key pair with this label ({type(error).__name__})",
            "Check --key-label.",
        ) from None
    if not hasattr(private, "sign"):
        raise KeyFileError("the key with this label cannot be used for signing")
    der = b""
    if kind == pkcs11.KeyType.EC and parameters == _P256_PARAMETERS:
        der = _P256_INFO + point
    elif kind == pkcs11.KeyType.EC_EDWARDS:
        der = _ED25519_INFO + point
    try:
        return CardSigner(cast(_CardKey, private), load_public(der))
    except ProtocolError:
        raise KeyFileError("the key on the token is neither an Ed25519 nor a P-256 key") from None


def _read_point(value: bytes) -> bytes:
    """Return a public point. The standard wraps it in a DER octet string, but some devices do not."""
    is_wrapped = len(value) in {_P256_POINT_BYTES + 2, _ED25519_POINT_BYTES + 2}
    return value[2:] if is_wrapped and value[0] == _OCTETS else value


def _encode_p256(signature: bytes) -> bytes:
    """Convert the device's concatenated r and s to strict DER, with the lower of the two valid values of s."""
    half = len(signature) // 2
    r, s = int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big")
    return encode_dss_signature(r, min(s, P256_ORDER - s))
