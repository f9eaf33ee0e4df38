"""Key files that were lost, opened to others, swapped or spoilt, and disks that fail half-way."""

import os
import stat
import threading
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from aggregator.errors import KeyFileError
from aggregator.home import Home
from aggregator.key_files import draw_key, keep_key, load_key, write_private


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    folder = tmp_path / "keys"
    keep_key(folder / "root.key", draw_key())
    return folder


def put(path: Path, content: bytes) -> Path:
    write_private(path, content)
    return path


def test_keys_are_readable_by_their_owner_alone_and_never_overwritten(home: Home) -> None:
    for name in ("root.key", "log.key"):
        path = home.directory / "keys" / name
        before = path.read_bytes()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(KeyFileError, match="exists"):
            keep_key(path, draw_key())
        assert path.read_bytes() == before
    assert stat.S_IMODE((home.directory / "keys").stat().st_mode) == 0o700


def test_a_wide_or_narrow_umask_changes_nothing(tmp_path: Path) -> None:
    for mask in (0o000, 0o777):
        before = os.umask(mask)
        try:
            path = put(tmp_path / f"{mask}.key", b"x")
        finally:
            os.umask(before)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o777, 0o601])
def test_a_key_that_others_can_read_is_refused(keys: Path, mode: int) -> None:
    (keys / "root.key").chmod(mode)
    with pytest.raises(KeyFileError, match=f"{mode:04o}, expected 0600"):
        load_key(keys / "root.key")


@pytest.mark.parametrize("mode", [0o750, 0o705, 0o777, 0o710])
def test_a_folder_that_others_can_enter_is_refused(keys: Path, mode: int) -> None:
    keys.chmod(mode)
    with pytest.raises(KeyFileError, match=f"{mode:04o}, expected 0700"):
        load_key(keys / "root.key")
    with pytest.raises(KeyFileError, match=f"{mode:04o}, expected 0700"):
        keep_key(keys / "log.key", draw_key())
    assert not (keys / "log.key").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
@pytest.mark.parametrize("which", ["root.key", "."])
def test_a_key_of_another_user_is_refused(keys: Path, which: str) -> None:
    os.chown(keys / which, 65534, 65534)
    with pytest.raises(KeyFileError, match="belongs to another user"):
        load_key(keys / "root.key")


def test_a_pipe_in_the_place_of_a_key_does_not_wait_for_a_writer(keys: Path) -> None:
    os.mkfifo(keys / "pipe.key", 0o600)
    said: list[str] = []

    def read() -> None:
        try:
            load_key(keys / "pipe.key")
        except KeyFileError as error:
            said.append(str(error))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(timeout=5)
    assert said == ["pipe.key is not a regular file"]


def test_a_key_behind_a_link_is_refused(keys: Path) -> None:
    (keys / "link.key").symlink_to(keys / "root.key")
    with pytest.raises(KeyFileError, match=r"link\.key"):
        load_key(keys / "link.key")
    with pytest.raises(KeyFileError):
        write_private(keys / "link.key", b"x")
    (keys.parent / "elsewhere").symlink_to(keys)
    with pytest.raises(KeyFileError, match="not a folder"):
        load_key(keys.parent / "elsewhere/root.key")


def test_a_key_that_is_missing_or_spoilt_or_of_another_kind_is_refused_unquoted(keys: Path) -> None:
    p256 = generate_private_key(SECP256R1())
    files = {
        "text.key": b"canary, not a key",
        "empty.key": b"",
        "long.key": b"canary" * 1000,
        "p256.key": p256.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        "locked.key": draw_key().private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"canary")
        ),
        "unknown.key": b"-----BEGIN PRIVATE KEY-----\nMBACAQAwBwYFKwMGAQQEAgQA\n-----END PRIVATE KEY-----\n",
    }
    for name, content in files.items():
        put(keys / name, content)
    for name in (*files, "missing.key"):
        with pytest.raises(KeyFileError, match=name) as error:
            load_key(keys / name)
        assert "canary" not in str(error.value)


def test_a_disk_that_fails_half_way_leaves_no_half_key(
    keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(KeyFileError, match="No space left"):
        keep_key(keys / "log.key", draw_key())
    assert sorted(path.name for path in keys.iterdir()) == ["root.key"]


def test_the_name_of_a_new_key_is_on_the_disk_too(
    keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    sync = os.fsync

    def note(handle: int) -> None:
        synced.append(stat.S_IFMT(os.fstat(handle).st_mode))
        sync(handle)

    monkeypatch.setattr(os, "fsync", note)
    keep_key(keys / "log.key", draw_key())
    assert synced == [stat.S_IFREG, stat.S_IFDIR]
