"""Bad inputs B 31 to 38: keys that anyone can sign for, and signatures with more than one form."""

import hashlib
from collections.abc import Callable

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.errors import Code
from protocol.keys import Signer, load_public
from tests.protocol import edwards
from tests.protocol.edwards import L, P
from tests.protocol.world import AGENT, STEWARD, ed25519_signer, p256_signer, refused

ED25519_DER = bytes.fromhex("302a300506032b6570032100")
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
MESSAGE = b"a statement"


def encode(point: edwards.Point) -> bytes:
    x, y, z, _ = point
    inverse = pow(z, -1, P)
    x, y = x * inverse % P, y * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def torsion() -> list[edwards.Point]:
    """The eight points of small order, as multiples of one of order 8: L times a point that is not in the subgroup."""
    for y in range(2, 100):
        point = edwards.decompress(y.to_bytes(32, "little"))
        if point is not None:
            generator = edwards.multiply(L, point)
            if not edwards.is_identity(edwards.multiply(4, generator)):
                return [edwards.multiply(i, generator) for i in range(8)]
    raise AssertionError("no point of order 8 found")


TORSION = torsion()
CANONICAL_SMALL = sorted({encode(point) for point in TORSION})
SIGN = 1 << 255
NON_CANONICAL_SMALL = [
    (y | sign).to_bytes(32, "little")
    for y, sign in ((P, 0), (P, SIGN), (P + 1, 0), (P + 1, SIGN), (1, SIGN), (P - 1, SIGN))
]


def test_there_are_eight_small_points_and_six_further_ways_to_write_them():
    assert len(CANONICAL_SMALL) == 8
    assert len({*CANONICAL_SMALL, *NON_CANONICAL_SMALL}) == 14


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(r, id=f"B36-{r.hex()[:8]}-{r.hex()[-2:]}")
        for r in CANONICAL_SMALL + NON_CANONICAL_SMALL
    ],
)
def test_a_key_of_small_order_is_refused(raw: bytes):
    with refused(Code.WEAK_KEY):
        load_public(ED25519_DER + raw)


@pytest.mark.parametrize("i", range(1, 8), ids=lambda i: f"B37-torsion-{i}")
def test_a_key_of_mixed_order_is_refused(i: int):
    honest = edwards.decompress(AGENT.public.raw)
    assert honest is not None
    with refused(Code.WEAK_KEY):
        load_public(ED25519_DER + encode(edwards.add(honest, TORSION[i])))


def test_B38_the_identity_as_key_would_accept_one_signature_for_everything():
    identity = encode(edwards.IDENTITY)
    universal = identity + bytes(32)
    ed25519.Ed25519PublicKey.from_public_bytes(identity).verify(
        universal, b"anything"
    )  # what the library alone says
    with refused(Code.WEAK_KEY):
        load_public(ED25519_DER + identity)


def test_a_point_beyond_the_field_or_off_the_curve_is_refused():
    off_curve = next(
        raw for y in range(2, 50) if edwards.decompress(raw := y.to_bytes(32, "little")) is None
    )
    for raw in (off_curve, b"\xff" * 32, (P + 3).to_bytes(32, "little")):
        with refused(Code.WEAK_KEY):
            load_public(ED25519_DER + raw)


@given(st.integers(1, 2**250))
@settings(max_examples=25, deadline=None)
def test_every_honest_ed25519_key_is_taken_and_verifies(seed: int):
    signer = ed25519_signer(seed)
    signer.public.verify(signer.sign(MESSAGE), MESSAGE)


@given(st.integers(1, N - 1), st.binary(max_size=50))
@settings(max_examples=25, deadline=None)
def test_every_p256_signature_is_low_and_repeatable(secret: int, message: bytes):
    signer = p256_signer(secret)
    signature = signer.sign(message)
    assert signature == signer.sign(message)
    assert decode_dss_signature(signature)[1] <= N // 2
    signer.public.verify(signature, message)


def test_ed25519_signs_as_rfc_8032_says():
    signer = ed25519_signer(0x9D61B19DEFFD5A60BA844AF492EC2CC44449C5697B326919703BAC031CAE7F60)
    assert (
        signer.public.raw.hex()
        == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    )
    expected = (
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555"
        "fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )
    assert signer.sign(b"").hex() == expected
    signer.public.verify(bytes.fromhex(expected), b"")


def test_p256_signs_as_rfc_6979_says_with_s_lowered():
    signer = p256_signer(0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721)
    r, s = decode_dss_signature(signer.sign(b"sample"))
    assert r == 0xEFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716
    assert s == N - 0xF7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8


def ed25519_scalar(seed: int) -> tuple[int, bytes]:
    digest = bytearray(hashlib.sha512(seed.to_bytes(32, "big")).digest()[:32])
    digest[0] &= 248
    digest[31] = digest[31] & 127 | 64
    return int.from_bytes(digest, "little"), ed25519_signer(seed).public.raw


def test_B35_a_signature_with_r_of_small_order_is_refused():
    scalar, public = ed25519_scalar(1)
    r = encode(edwards.IDENTITY)
    k = int.from_bytes(hashlib.sha512(r + public + MESSAGE).digest(), "little") % L
    signature = r + (k * scalar % L).to_bytes(32, "little")
    ed25519.Ed25519PublicKey.from_public_bytes(public).verify(
        signature, MESSAGE
    )  # the library alone takes it
    with refused(Code.BAD_SIGNATURE):
        AGENT.public.verify(signature, MESSAGE)


@pytest.mark.parametrize(
    "raw", [pytest.param(r, id=f"B35-{r.hex()[:8]}-{r.hex()[-2:]}") for r in NON_CANONICAL_SMALL]
)
def test_a_signature_with_r_not_canonical_is_refused(raw: bytes):
    with refused(Code.BAD_SIGNATURE):
        AGENT.public.verify(raw + AGENT.sign(MESSAGE)[32:], MESSAGE)


@pytest.mark.parametrize(
    "offset",
    [L, 2 * L, 2**253, 2**254, 2**255],
    ids=["B33-S+L", "B33-S+2L", "B33-bit-253", "B33-bit-254", "B33-bit-255"],
)
def test_a_signature_with_s_beyond_the_order_is_refused(offset: int):
    good = AGENT.sign(MESSAGE)
    s = int.from_bytes(good[32:], "little") + offset
    with refused(Code.BAD_SIGNATURE):
        AGENT.public.verify(good[:32] + s.to_bytes(32, "little"), MESSAGE)


def p256_parts() -> tuple[int, int]:
    return decode_dss_signature(STEWARD.sign(MESSAGE))


def long_form(der: bytes) -> bytes:
    return b"\x30\x81" + der[1:2] + der[2:]


P256_FORMS: dict[str, Callable[[bytes, int, int], bytes]] = {
    "B32-raw-r-s": lambda _, r, s: r.to_bytes(32, "big") + s.to_bytes(32, "big"),
    "B32-long-form-length": lambda der, r, s: long_form(der),
    "B32-trailing-byte": lambda der, r, s: der + b"\x00",
    "B32-trailing-byte-inside": lambda der, r, s: b"\x30" + bytes([der[1] + 1]) + der[2:] + b"\x00",
    "B32-padded-integer": lambda der, r, s: (
        b"\x30" + bytes([der[1] + 1, 2, der[3] + 1, 0]) + der[4:]
    ),
    "B32-indefinite-length": lambda der, r, s: b"\x30\x80" + der[2:] + b"\x00\x00",
    "B32-high-s": lambda _, r, s: encode_dss_signature(r, N - s),
    "B32-r-zero": lambda _, r, s: encode_dss_signature(0, s),
    "B32-s-zero": lambda _, r, s: encode_dss_signature(r, 0),
    "B32-r-plus-n": lambda _, r, s: encode_dss_signature(r + N, s),
    "B32-s-plus-n": lambda _, r, s: encode_dss_signature(r, s + N),
    "B32-s-is-n": lambda _, r, s: encode_dss_signature(r, N),
    "B32-negative-s": lambda _, r, s: encode_dss_signature(r, s - N),
    "B34-empty": lambda *_: b"",
    "B34-zeros": lambda *_: bytes(64),
}


@pytest.mark.parametrize("bend", [pytest.param(bend, id=name) for name, bend in P256_FORMS.items()])
def test_a_p256_signature_has_one_form(bend: Callable[[bytes, int, int], bytes]):
    good = STEWARD.sign(MESSAGE)
    STEWARD.public.verify(good, MESSAGE)
    try:
        bent = bend(good, *p256_parts())
    except ValueError:  # the library's encoder refuses a negative number: encode -1 by hand
        bent = bytes.fromhex("3006020101") + bytes.fromhex("0201ff")
    with refused(Code.BAD_SIGNATURE):
        STEWARD.public.verify(bent, MESSAGE)


def test_B32_the_high_twin_would_satisfy_the_library():
    r, s = p256_parts()
    key = ec.derive_private_key(2, ec.SECP256R1()).public_key()
    key.verify(encode_dss_signature(r, N - s), MESSAGE, ec.ECDSA(hashes.SHA256()))
    with pytest.raises(InvalidSignature):
        key.verify(encode_dss_signature(r, N - s), MESSAGE + b"!", ec.ECDSA(hashes.SHA256()))


def other_kinds() -> dict[str, bytes]:
    keys = {
        "B31-rsa": rsa.RSAPublicNumbers(65537, 2**2047 + 1).public_key(),
        "B31-p384": ec.derive_private_key(5, ec.SECP384R1()).public_key(),
        "B31-secp256k1": ec.derive_private_key(5, ec.SECP256K1()).public_key(),
        "B31-ed448": ed448.Ed448PrivateKey.from_private_bytes(b"\x05" * 57).public_key(),
    }
    found = {
        name: key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        for name, key in keys.items()
    }
    p256 = ec.derive_private_key(5, ec.SECP256R1()).public_key()
    compressed = p256.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
    prefix = bytes.fromhex("3039301306072a8648ce3d020106082a8648ce3d030107032200")
    return {
        **found,
        "B31-p256-compressed": prefix + compressed,
        "B31-trailing-byte": AGENT.public.der + b"\x00",
        "B31-pem": b"-----BEGIN PUBLIC KEY-----",
        "B31-empty": b"",
        "B31-raw": AGENT.public.raw,
    }


@pytest.mark.parametrize(
    "name",
    [
        "B31-rsa",
        "B31-p384",
        "B31-secp256k1",
        "B31-ed448",
        "B31-p256-compressed",
        "B31-trailing-byte",
        "B31-pem",
        "B31-empty",
        "B31-raw",
    ],
)
def test_a_key_of_another_kind_or_form_is_refused(name: str):
    with refused(Code.WEAK_KEY):
        load_public(other_kinds()[name])


@pytest.mark.parametrize("signer", [AGENT, STEWARD], ids=["ed25519", "p256"])
def test_B27_a_signature_of_another_message_or_key_is_bad(signer: Signer):
    other = ed25519_signer(99) if signer is AGENT else p256_signer(99)
    for signature in (signer.sign(MESSAGE + b"!"), other.sign(MESSAGE)):
        with refused(Code.BAD_SIGNATURE):
            signer.public.verify(signature, MESSAGE)


def test_B31_an_ed25519_signature_is_none_of_p256_nor_the_other_way_round():
    for signer, other in ((AGENT, STEWARD), (STEWARD, AGENT)):
        with refused(Code.BAD_SIGNATURE):
            signer.public.verify(other.sign(MESSAGE), MESSAGE)


def test_B31_ed25519ctx_and_ed25519ph_are_not_ed25519():
    scalar, public = ed25519_scalar(1)
    base = edwards.decompress((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    assert base is not None
    for flag, message in ((0, MESSAGE), (1, hashlib.sha512(MESSAGE).digest())):
        domain = b"SigEd25519 no Ed25519 collisions" + bytes([flag, 0])
        nonce = int.from_bytes(hashlib.sha512(domain + b"nonce" + message).digest(), "little") % L
        r = encode(edwards.multiply(nonce, base))
        k = int.from_bytes(hashlib.sha512(domain + r + public + message).digest(), "little") % L
        signature = r + ((nonce + k * scalar) % L).to_bytes(32, "little")
        with refused(Code.BAD_SIGNATURE):
            AGENT.public.verify(signature, MESSAGE)


def test_the_little_arithmetic_agrees_with_the_library():
    base = edwards.decompress((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    assert base is not None
    for seed in range(1, 6):
        scalar, public = ed25519_scalar(seed)
        assert encode(edwards.multiply(scalar, base)) == public


def test_a_fingerprint_is_the_whole_key_id():
    assert AGENT.public.fingerprint.replace(" ", "") == hashlib.sha256(AGENT.public.der).hexdigest()
    with pytest.raises(ValueError, match="Ed25519"):
        _ = STEWARD.public.raw
