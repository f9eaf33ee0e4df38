"""The steward's key file: made with a password, opened with nothing else, and never quoted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from intramural_steward import key_files
from intramural_steward.errors import KeyFileError
from intramural_steward.key_files import create_key_file, open_key, read_key_file
from protocol.keys import load_public
from tests.protocol import world
from tests.steward import hospital
from tests.steward.hospital import PASSWORD, Steward, chain


@pytest.fixture
def key(tmp_path: Path) -> Path:
    create_key_file(tmp_path / "own.key", PASSWORD.encode())
    return tmp_path / "own.key"


def password_file(folder: Path, content: str = PASSWORD + "\n") -> Path:
    path = folder / "password"
    path.write_text(content)
    path.chmod(0o600)
    return path


def test_a_key_is_encrypted_with_scrypt_and_opens_with_its_password(key: Path) -> None:
    pem = read_key_file(key)
    assert pem.startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n")
    der = b"".join(pem.splitlines()[1:-1])
    assert key_files._SCRYPT in __import__("base64").b64decode(der)
    signer = open_key(pem, PASSWORD.encode())
    public = serialization.load_pem_public_key(key.with_name("own.key.pub").read_bytes())
    spki = public.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    assert load_public(spki) == signer.public
    signer.public.verify(signer.sign(b"message"), b"message")


def test_openssl_reads_a_key_that_costs_as_little_as_it_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its command refuses more than 32 MiB of memory; with a smaller cost it finds the same form and the same key."""
    monkeypatch.setattr(key_files, "_SCRYPT_N", 2**14)
    public = create_key_file(tmp_path / "own.key", PASSWORD.encode())
    command = [
        "openssl",
        "pkey",
        "-in",
        tmp_path / "own.key",
        "-passin",
        "stdin",
        "-pubout",
        "-outform",
        "DER",
    ]
    process = subprocess.run(command, input=PASSWORD.encode(), capture_output=True, check=True)
    assert process.stdout == public.der


@pytest.mark.full
def test_a_key_is_readable_by_its_owner_alone_and_never_overwritten(
    key: Path, steward: Steward
) -> None:
    assert key.stat().st_mode & 0o777 == 0o600
    secret = password_file(steward.folder)
    before = key.read_bytes()
    assert steward.run("key", "new", "--out", key, "--password-file", secret).refuses(
        2, "is not overwritten"
    )
    assert key.read_bytes() == before


def test_key_new_prints_the_fingerprint_that_others_will_read(steward: Steward) -> None:
    reply = steward.run(
        "key", "new", "--out", "mine.key", "--password-file", password_file(steward.folder)
    )
    assert reply.code == 0, reply.errors
    signer = open_key((steward.folder / "mine.key").read_bytes(), PASSWORD.encode())
    assert signer.public.fingerprint in reply.output


def test_a_short_password_makes_no_key(steward: Steward) -> None:
    secret = password_file(steward.folder, "short\n")
    reply = steward.run("key", "new", "--out", "mine.key", "--password-file", secret)
    assert reply.refuses(4, "fewer than 10 characters")
    assert not (steward.folder / "mine.key").exists()


def steward_with(folder: Path, key: Path) -> Steward:
    """A steward whose encrypted key is in the registry."""
    steward = Steward(folder)
    steward.signer = open_key(key.read_bytes(), PASSWORD.encode())  # type: ignore[assignment]
    steward.registry_file = hospital.sign_registry(hospital.registry_with(steward.signer))
    steward.key = key
    return steward


@pytest.mark.full
def test_an_encrypted_key_signs_with_the_password_file(tmp_path: Path, key: Path) -> None:
    steward = steward_with(tmp_path, key)
    reply = steward.approve(steward.ask(chain()[0]), "--password-file", password_file(tmp_path))
    assert reply.code == 0, reply.errors
    assert "no password" not in reply.errors
    assert len(steward.signed()) == 1


def test_a_wrong_password_signs_nothing_and_tells_nothing(tmp_path: Path, key: Path) -> None:
    steward = steward_with(tmp_path, key)
    secret = password_file(tmp_path, "another horse battery\n")
    reply = steward.approve(steward.ask(chain()[0]), "--password-file", secret)
    assert reply.refuses(4, "the password does not open this key, or the key is damaged")
    for word in ("horse", "battery", "MII"):
        assert word not in reply.output + reply.errors
    assert not steward.list_path.exists()
    assert not (tmp_path / "signed.json").exists()


@pytest.mark.full
def test_the_password_is_in_no_process_list(tmp_path: Path, key: Path) -> None:
    """It comes from a file or the terminal: there is no option that takes it, and no variable."""
    steward = steward_with(tmp_path, key)
    file = steward.ask(chain()[0])
    paths = os.pathsep.join([str(hospital.ROOT / "deploy/steward"), str(hospital.ROOT)])
    words = [
        "approve",
        str(file),
        "--key",
        str(key),
        "--out",
        "o",
        "--list",
        str(steward.list_path),
    ]
    words += ["--password-file", str(password_file(tmp_path))]
    with subprocess.Popen(
        [sys.executable, "-m", "intramural_steward", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
    ) as process:
        seen = (
            Path(f"/proc/{process.pid}/cmdline").read_bytes()
            + Path(f"/proc/{process.pid}/environ").read_bytes()
        )
        output, errors = process.communicate(b"y\n")
    assert process.returncode == 0, errors
    assert PASSWORD.encode() not in seen + output + errors
    help_text = steward.run("approve", "--help").output
    assert "--password-file" in help_text
    assert "--password " not in help_text


@pytest.mark.full
@pytest.mark.sample(1)
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_key_or_password_that_others_may_read_is_not_used(
    tmp_path: Path, key: Path, mode: int
) -> None:
    steward = steward_with(tmp_path, key)
    file, secret = steward.ask(chain()[0]), password_file(tmp_path)
    key.chmod(mode)
    assert steward.approve(file, "--password-file", secret).refuses(
        4, "the steward's key can be read by others"
    )
    key.chmod(0o600)
    secret.chmod(mode)
    assert steward.approve(file, "--password-file", secret).refuses(
        4, "the password file can be read by others"
    )


def test_a_key_of_intramural_steward_key_signs_with_a_warning(steward: Steward) -> None:
    reply = steward.approve(steward.ask(chain()[0]))
    assert reply.code == 0
    assert "your key file has no password" in reply.errors


def test_a_missing_or_damaged_key_is_named_and_not_quoted(steward: Steward) -> None:
    file = steward.ask(chain()[0])
    text = steward.key.read_text()
    steward.key.write_text(text.replace("\n", "\nQQQQ", 1))
    reply = steward.approve(file)
    assert reply.refuses(4, "the steward's key is damaged")
    assert "QQQQ" not in reply.errors
    steward.key.unlink()
    assert steward.approve(file).refuses(4, "the steward's key is missing")
    steward.key.symlink_to("/dev/null")
    assert steward.approve(file).refuses(4, "cannot be opened")


def test_a_p256_key_signs_and_an_rsa_key_does_not() -> None:
    def pem(
        private: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey,
    ) -> bytes:
        return private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(PASSWORD.encode()),
        )

    signer = open_key(pem(ec.derive_private_key(2, ec.SECP256R1())), PASSWORD.encode())
    assert signer.public == world.STEWARD.public
    for other in (rsa.generate_private_key(65_537, 2048), ec.generate_private_key(ec.SECP384R1())):
        with pytest.raises(KeyFileError, match="neither an Ed25519 nor a P-256 key"):
            open_key(pem(other), PASSWORD.encode())


def test_a_key_in_a_file_and_on_a_token_do_not_go_together(steward: Steward) -> None:
    file = steward.ask(chain()[0])
    assert steward.approve(file, "--token", "card").refuses(2, "specify your key")
    reply = steward.run("approve", file, "--out", "o", "--token", "card", "--key-label", "k")
    assert reply.refuses(2, "or with --pkcs11-module, --token and --key-label")
