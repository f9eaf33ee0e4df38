"""The steward's key on a smart card, a token or in an HSM, by PKCS #11. Needs the extra `pkcs11`.

The private key never leaves the device. What comes back is brought into the protocol's one form: strict DER with a low
s for P-256, 64 bytes for Ed25519; and each signature is verified before it is used.
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

# SubjectPublicKeyInfo up to the point, which follows.
_P256_INFO: Final = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
_ED25519_INFO: Final = bytes.fromhex("302a300506032b6570032100")
_P256_PARAMETERS: Final = bytes.fromhex("06082a8648ce3d030107")
_P256_POINT_BYTES: Final = 65
_ED25519_POINT_BYTES: Final = 32
_OCTETS: Final = 0x04


class _CardKey(Protocol):
    """A private key on the device that may sign."""

    def sign(self, data: bytes, *, mechanism: "pkcs11.Mechanism") -> bytes: ...


class CardSigner:
    """Signs with a key that stays on the device."""

    def __init__(self, key: _CardKey, public: PublicKey) -> None:
        self._key = key
        self.public = public

    def sign(self, message: bytes) -> bytes:
        """Return the signature in the protocol's form.

        Raises:
            KeyFileError: the device refuses, or gives something that is no signature by this key.
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
    """Open a session and yield the signer of one key; the session ends with the block.

    Args:
        module: the vendor's PKCS #11 library.
        token_label: which token.
        key_label: label of the key pair on it; its public half must be there too.
        pin: of the token's user.

    Raises:
        KeyFileError: the extra is not installed, library, token, PIN or key is wrong, or the key is of another kind.
    """
    try:
        import pkcs11
    except ImportError:
        raise KeyFileError(
            "this installation knows no PKCS #11",
            "Install it with: pip install 'intramural-steward[pkcs11]'",
        ) from None
    try:
        token = pkcs11.lib(str(module.absolute())).get_token(token_label=token_label)
    except (pkcs11.PKCS11Error, RuntimeError) as error:
        raise KeyFileError(
            f"there is no such token ({type(error).__name__})",
            "Check --pkcs11-module and --token; is the card in?",
        ) from None
    try:
        session = token.open(user_pin=pin)
    except pkcs11.PKCS11Error as error:
        raise KeyFileError(
            f"the token does not open ({type(error).__name__})",
            "Nothing was signed. Check the PIN: after a few wrong ones most tokens lock themselves.",
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
            f"the token has no key pair of this label ({type(error).__name__})",
            "Check --key-label.",
        ) from None
    if not hasattr(private, "sign"):
        raise KeyFileError("the key of this label may not be used to sign")
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
    """Return a public point; the standard wraps it into a DER octet string, some devices do not."""
    is_wrapped = len(value) in {_P256_POINT_BYTES + 2, _ED25519_POINT_BYTES + 2}
    return value[2:] if is_wrapped and value[0] == _OCTETS else value


def _encode_p256(signature: bytes) -> bytes:
    """Return r and s, which the device joins, as strict DER, with the lower of the two values of s that verify."""
    half = len(signature) // 2
    r, s = int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big")
    return encode_dss_signature(r, min(s, P256_ORDER - s))
