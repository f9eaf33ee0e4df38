"""Keys on a token, with SoftHSM in its place: the private key stays there, and what comes back is in the one form."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pkcs11
import pytest
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from pkcs11.util.ec import encode_named_curve_parameters

from intramural_steward import smart_cards
from intramural_steward.errors import KeyFileError
from intramural_steward.smart_cards import CardSigner, open_card
from protocol.keys import P256_ORDER, check_signature_form
from tests.steward import hospital
from tests.steward.hospital import Steward, chain

MODULE = Path("/usr/lib/softhsm/libsofthsm2.so")
TOKEN, PIN = "steward", "246810"

pytestmark = pytest.mark.skipif(
    shutil.which("softhsm2-util") is None or not MODULE.exists(),
    reason="the distribution's softhsm2 is not installed",
)


@pytest.fixture(scope="module")
def token(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A token in a folder of the tests' own, with a key of each kind; yields its configuration."""
    folder = tmp_path_factory.mktemp("token")
    (folder / "tokens").mkdir()
    configuration = folder / "softhsm2.conf"
    configuration.write_text(
        f"directories.tokendir = {folder / 'tokens'}\nobjectstore.backend = file\n"
    )
    before = os.environ.get("SOFTHSM2_CONF")
    os.environ["SOFTHSM2_CONF"] = str(configuration)
    init = [
        "softhsm2-util",
        "--init-token",
        "--free",
        "--label",
        TOKEN,
        "--pin",
        PIN,
        "--so-pin",
        "135791",
    ]
    subprocess.run(init, check=True, capture_output=True)
    with (
        pkcs11.lib(str(MODULE)).get_token(token_label=TOKEN).open(user_pin=PIN, rw=True) as session
    ):
        for label, kind, curve in (
            ("p256", pkcs11.KeyType.EC, "secp256r1"),
            ("p384", pkcs11.KeyType.EC, "secp384r1"),
            ("ed25519", pkcs11.KeyType.EC_EDWARDS, "1.3.101.112"),
        ):
            parameters = session.create_domain_parameters(
                kind, {pkcs11.Attribute.EC_PARAMS: encode_named_curve_parameters(curve)}, local=True
            )
            parameters.generate_keypair(label=label, store=True)
        session.generate_keypair(pkcs11.KeyType.RSA, 2048, label="rsa", store=True)
    yield configuration
    if before is None:
        del os.environ["SOFTHSM2_CONF"]
    else:
        os.environ["SOFTHSM2_CONF"] = before


@pytest.mark.full
def test_a_p256_key_on_the_token_signs_in_strict_der_with_a_low_s(token: Path) -> None:
    with open_card(MODULE, TOKEN, "p256", PIN) as signer:
        assert signer.public.algorithm == "ecdsa-p256-sha256"
        for number in range(40):  # a device's s is high every other time
            message = b"message %d" % number
            signature = signer.sign(message)
            check_signature_form(signature)
            signer.public.verify(signature, message)
            assert decode_dss_signature(signature)[1] <= P256_ORDER // 2


def test_an_ed25519_key_on_the_token_signs(token: Path) -> None:
    with open_card(MODULE, TOKEN, "ed25519", PIN) as signer:
        assert signer.public.algorithm == "ed25519"
        signature = signer.sign(b"message")
        assert len(signature) == 64
        signer.public.verify(signature, b"message")


@pytest.mark.parametrize(
    ("name", "label", "pin", "words"),
    [
        ("nobody", "p256", PIN, "the token was not found"),
        (TOKEN, "other", PIN, "no key pair with this label"),
        (TOKEN, "p256", "000000", "the token cannot be opened"),
        (TOKEN, "p384", PIN, "neither an Ed25519 nor a P-256 key"),
        (TOKEN, "rsa", PIN, "no key pair with this label"),
    ],
)
def test_a_wrong_token_label_pin_or_kind_of_key_signs_nothing(
    token: Path, name: str, label: str, pin: str, words: str
) -> None:
    with pytest.raises(KeyFileError, match=words) as caught, open_card(MODULE, name, label, pin):
        pass
    assert pin not in str(caught.value)


def test_a_library_that_is_none_is_named(token: Path, tmp_path: Path) -> None:
    (tmp_path / "module.so").write_bytes(b"not a library")
    with (
        pytest.raises(KeyFileError, match="the token was not found"),
        open_card(tmp_path / "module.so", TOKEN, "p256", PIN),
    ):
        pass


def test_a_device_that_gives_a_wrong_signature_is_not_believed(token: Path) -> None:
    class _Faulty:
        def sign(self, data: bytes, *, mechanism: pkcs11.Mechanism) -> bytes:
            return b"\x01" * 64

    with open_card(MODULE, TOKEN, "p256", PIN) as signer:
        faulty = CardSigner(_Faulty(), signer.public)
    with pytest.raises(KeyFileError, match="the device does not sign"):
        faulty.sign(b"message")


@pytest.mark.full
@pytest.mark.parametrize("label", ["p256", "ed25519"])
def test_approving_with_the_token(token: Path, steward: Steward, label: str) -> None:
    """P-256 on a device signs at random: approving again still gives the same bytes, since the list has them."""
    with open_card(MODULE, TOKEN, label, PIN) as signer:
        registry = hospital.registry_with(signer)
    secret = steward.folder / "pin"
    secret.write_text(PIN + "\n")
    secret.chmod(0o600)
    file = steward.ask(*chain(), registry_file=hospital.sign_registry(registry))
    for out in ("first.json", "again.json"):
        reply = steward.run(
            *("approve", file, "--out", out, "--list", steward.list_path),
            *(
                "--pkcs11-module",
                MODULE,
                "--token",
                TOKEN,
                "--key-label",
                label,
                "--password-file",
                secret,
            ),
            answer="y\ny\ny\n",
        )
        assert reply.code == 0, reply.errors
        assert PIN not in reply.output + reply.errors
    assert (steward.folder / "first.json").read_bytes() == (
        steward.folder / "again.json"
    ).read_bytes()
    assert len(steward.signed("first.json")) == 3


def test_both_ways_to_write_a_public_point_are_read() -> None:
    point = b"\x04" + bytes(range(64))
    wrapped = b"\x04\x41" + point
    # The second byte of a bare point may look like a length.
    tricky = b"\x04\x3f" + bytes(63)
    for value, expected in (
        (point, point),
        (wrapped, point),
        (tricky, tricky),
        (b"\x04\x20" + bytes(32), bytes(32)),
    ):
        assert smart_cards._read_point(value) == expected
