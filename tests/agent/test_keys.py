"""Keys are made once, stay their owner's, and a widened file is refused rather than used."""

import os
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agent.errors import StoreError
from agent.keys import (
    KeyRole,
    create_data_key,
    create_keys_directory,
    create_seal_key,
    create_signing_key,
    derive_key,
    load_signer,
    read_data_key,
    read_public,
    read_seal_key,
    write_public,
)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    create_keys_directory(tmp_path / "keys")
    return tmp_path / "keys"


def test_new_keys_are_for_their_owner_alone_whatever_the_umask(keys: Path) -> None:
    before = os.umask(0)
    try:
        create_data_key(keys / "data.key")
        create_seal_key(keys / "seal.key")
        create_signing_key(keys / "agent.key", KeyRole.AGENT)
    finally:
        os.umask(before)
    for name in ("data.key", "seal.key", "agent.key"):
        assert stat.S_IMODE((keys / name).stat().st_mode) == 0o600
    assert stat.S_IMODE(keys.stat().st_mode) == 0o700
    assert len(read_data_key(keys / "data.key")) == 32


def test_the_seal_key_has_nothing_to_do_with_the_data_key(keys: Path) -> None:
    create_data_key(keys / "data.key")
    create_seal_key(keys / "seal.key")
    assert len(read_seal_key(keys / "seal.key")) == 32
    assert read_seal_key(keys / "seal.key") != read_data_key(keys / "data.key")


def test_a_signing_key_comes_back_as_it_was_made(keys: Path) -> None:
    made = create_signing_key(keys / "agent.key", KeyRole.AGENT)
    assert load_signer(keys / "agent.key", KeyRole.AGENT).public == made.public


def test_a_key_is_never_overwritten(keys: Path) -> None:
    create_data_key(keys / "data.key")
    before = (keys / "data.key").read_bytes()
    with pytest.raises(StoreError, match="file for the data key exists already"):
        create_data_key(keys / "data.key")
    with pytest.raises(StoreError, match="never overwritten"):
        create_seal_key(keys / "data.key")
    with pytest.raises(StoreError, match="never overwritten"):
        create_signing_key(keys / "data.key", KeyRole.AGENT)
    assert (keys / "data.key").read_bytes() == before


def test_a_link_planted_where_a_key_should_be_made_is_not_followed(
    keys: Path, tmp_path: Path
) -> None:
    (keys / "agent.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError):
        create_signing_key(keys / "agent.key", KeyRole.AGENT)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o610])
def test_a_key_that_others_may_read_is_refused(keys: Path, mode: int) -> None:
    create_data_key(keys / "data.key")
    (keys / "data.key").chmod(mode)
    with pytest.raises(StoreError, match=f"data key can be read by others .mode {mode:04o}"):
        read_data_key(keys / "data.key")


def test_a_folder_of_keys_that_others_may_enter_is_refused(keys: Path) -> None:
    create_data_key(keys / "data.key")
    keys.chmod(0o750)
    with pytest.raises(StoreError, match="open to others"):
        read_data_key(keys / "data.key")
    with pytest.raises(StoreError, match="open to others"):
        create_signing_key(keys / "agent.key", KeyRole.AGENT)


def test_a_stewards_key_may_lie_in_any_folder_but_must_itself_be_narrow(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    create_signing_key(tmp_path / "steward.key", KeyRole.STEWARD)
    load_signer(tmp_path / "steward.key", KeyRole.STEWARD)
    (tmp_path / "steward.key").chmod(0o644)
    with pytest.raises(StoreError, match="steward key can be read by others"):
        load_signer(tmp_path / "steward.key", KeyRole.STEWARD)


def test_a_key_of_another_user_is_refused(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create_data_key(keys / "data.key")
    someone = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: someone)
    with pytest.raises(StoreError, match="belongs to another user"):
        read_data_key(keys / "data.key")


@pytest.mark.parametrize("content", [b"", b"\n", b"zz" * 32, b"00" * 31, b"\xff" * 64, b"0" * 5000])
def test_a_damaged_data_key_is_named_and_not_quoted(keys: Path, content: bytes) -> None:
    create_data_key(keys / "data.key")
    (keys / "data.key").write_bytes(content)
    with pytest.raises(StoreError, match="the data key is damaged"):
        read_data_key(keys / "data.key")


def test_other_kinds_of_key_and_locked_keys_are_refused(keys: Path) -> None:
    def pem(
        key: Ed25519PrivateKey | ec.EllipticCurvePrivateKey,
        lock: serialization.KeySerializationEncryption,
    ) -> bytes:
        return key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock
        )

    open_lock = serialization.NoEncryption()
    for content in (
        pem(ec.generate_private_key(ec.SECP256R1()), open_lock),
        pem(Ed25519PrivateKey.generate(), serialization.BestAvailableEncryption(b"secret")),
        b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    ):
        path = keys / "agent.key"
        path.unlink(missing_ok=True)
        path.write_bytes(content)
        path.chmod(0o600)
        with pytest.raises(StoreError, match="the agent key is damaged") as caught:
            load_signer(path, KeyRole.AGENT)
        assert "BEGIN" not in str(caught.value)


def test_a_pipe_or_a_folder_in_place_of_a_key_does_not_hang(keys: Path) -> None:
    os.mkfifo(keys / "data.key", 0o600)
    with pytest.raises(StoreError, match="not a regular file"):
        read_data_key(keys / "data.key")
    (keys / "agent.key").mkdir(mode=0o700)
    with pytest.raises(StoreError):
        load_signer(keys / "agent.key", KeyRole.AGENT)


def test_a_missing_key_says_whose_it_is_and_what_to_do(keys: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the agent key is missing"):
        load_signer(keys / "agent.key", KeyRole.AGENT)
    with pytest.raises(
        StoreError, match=r"the seal key is missing: .* earlier, unreleased version"
    ):
        read_seal_key(keys / "seal.key")
    with pytest.raises(StoreError, match="the folder of the data key is missing"):
        read_data_key(tmp_path / "nowhere" / "data.key")
    with pytest.raises(StoreError) as caught:
        load_signer(tmp_path / "steward.key", KeyRole.STEWARD)
    assert "steward-key --out" in caught.value.advice


def test_a_public_key_goes_out_as_pem_and_comes_back(tmp_path: Path) -> None:
    signer = create_signing_key(tmp_path / "steward.key", KeyRole.STEWARD)
    write_public(tmp_path / "steward.key.pub", signer.public)
    assert read_public(tmp_path / "steward.key.pub") == signer.public
    assert b"PRIVATE" not in (tmp_path / "steward.key.pub").read_bytes()
    with pytest.raises(StoreError, match="cannot be written"):
        write_public(tmp_path / "steward.key.pub", signer.public)


def test_a_private_key_given_for_a_public_one_is_refused_unquoted(tmp_path: Path) -> None:
    create_signing_key(tmp_path / "steward.key", KeyRole.STEWARD)
    with pytest.raises(StoreError, match="not a public key: it is a private one") as caught:
        read_public(tmp_path / "steward.key")
    assert "PRIVATE" not in str(caught.value)


def test_a_public_key_given_for_the_stewards_private_one_is_called_so(tmp_path: Path) -> None:
    signer = create_signing_key(tmp_path / "steward.key", KeyRole.STEWARD)
    public = tmp_path / "steward.key.pub"
    write_public(public, signer.public)
    public.chmod(0o644)  # that others may read it is no reason to replace the key
    with pytest.raises(StoreError, match=r"steward.key.pub is the steward's public key") as caught:
        load_signer(public, KeyRole.STEWARD)
    assert "without .pub" in caught.value.advice


def test_a_folder_is_no_key(tmp_path: Path) -> None:
    (tmp_path / "steward.key").mkdir()
    with pytest.raises(StoreError, match="not a regular file"):
        load_signer(tmp_path / "steward.key", KeyRole.STEWARD)


def test_files_that_are_not_there_are_named_with_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no file none.key") as caught:
        load_signer(tmp_path / "none.key", KeyRole.STEWARD)
    assert "steward-key --out" in caught.value.advice
    with pytest.raises(StoreError, match=r"public key none.pub cannot be read") as caught:
        read_public(tmp_path / "none.pub")
    assert ".pub file" in caught.value.advice
    with pytest.raises(StoreError, match="there is no folder"):
        create_signing_key(tmp_path / "none" / "steward.key", KeyRole.STEWARD)


def test_two_purposes_never_share_a_key() -> None:
    key = bytes(32)
    assert derive_key(key, "ledger") == derive_key(key, "ledger")
    assert derive_key(key, "ledger") != derive_key(key, "scores")
    assert derive_key(key, "ledger") != derive_key(b"\x01" * 32, "ledger")
