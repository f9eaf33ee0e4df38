"""A forged, changed, missing or additional file of a release is refused, by our tools and by those of the system."""

import shutil
import subprocess
from pathlib import Path

import pytest

from intramural_release.checksums import (
    LIST,
    NAMESPACE,
    PRINCIPAL,
    check_files,
    sign_file,
    verify_signature,
    write_checksums,
)
from intramural_release.errors import ChecksumError

pytestmark = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed"
)


def make_key(folder: Path, name: str) -> Path:
    key = folder / name
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(key)], check=True
    )
    return key


def allow(key: Path, options: str = f'namespaces="{NAMESPACE}"') -> Path:
    """Write the file of allowed signers, as docs/release.md does."""
    public = key.with_name(key.name + ".pub").read_text("utf-8")
    signers = key.with_name("signers")
    signers.write_text(f"{PRINCIPAL} {options} {public}", "utf-8")
    return signers


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "release"
    (folder / "wheels").mkdir(parents=True)
    (folder / "wheels/intramural-0.1.0-py3-none-any.whl").write_bytes(b"wheel")
    (folder / "intramural-0.1.0.tar.gz").write_bytes(b"source")
    write_checksums(folder)
    return folder


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return make_key(tmp_path, "release-key")


def test_a_release_passes_our_check_and_that_of_the_systems_own_tools(release: Path, key: Path):
    sign_file(release / LIST, key)
    signers = allow(key)
    verify_signature(release / LIST, signers)
    check_files(release)
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", LIST], cwd=release, check=True)
    words = [
        "-Y",
        "verify",
        "-f",
        str(signers),
        "-I",
        PRINCIPAL,
        "-n",
        NAMESPACE,
        "-s",
        f"{LIST}.sig",
    ]
    subprocess.run(
        ["ssh-keygen", *words], cwd=release, check=True, input=(release / LIST).read_bytes()
    )


def test_a_list_that_was_changed_after_signing_is_refused(release: Path, key: Path):
    sign_file(release / LIST, key)
    (release / "intramural-0.1.0.tar.gz").write_bytes(b"another source")
    write_checksums(release)
    with pytest.raises(ChecksumError, match="signature of SHA256SUMS is not valid"):
        verify_signature(release / LIST, allow(key))


def test_a_list_signed_with_another_key_is_refused(release: Path, key: Path, tmp_path: Path):
    sign_file(release / LIST, make_key(tmp_path, "forgers-key"))
    with pytest.raises(ChecksumError, match="not valid"):
        verify_signature(release / LIST, allow(key))


def test_a_signature_made_for_another_purpose_is_refused(release: Path, key: Path):
    subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", "git", str(release / LIST)],
        check=True,
    )
    with pytest.raises(ChecksumError, match="not valid"):
        verify_signature(release / LIST, allow(key))


def test_a_key_after_its_last_day_is_refused(release: Path, key: Path):
    sign_file(release / LIST, key)
    with pytest.raises(ChecksumError, match="not valid"):
        verify_signature(release / LIST, allow(key, 'valid-before="20200101"'))


def test_a_release_without_signature_is_refused(release: Path, key: Path):
    with pytest.raises(ChecksumError, match="not valid"):
        verify_signature(release / LIST, allow(key))


def test_changed_missing_and_additional_files_are_named(release: Path):
    source = release / "intramural-0.1.0.tar.gz"
    source.write_bytes(b"changed")
    with pytest.raises(ChecksumError, match="changed: intramural-0"):
        check_files(release)
    source.unlink()
    with pytest.raises(ChecksumError, match="missing: intramural-0"):
        check_files(release)
    source.write_bytes(b"source")
    (release / "wheels/numpy-99-py3-none-any.whl").write_bytes(b"planted")
    with pytest.raises(ChecksumError, match="not on the list: wheels/numpy-99"):
        check_files(release)


def test_a_link_in_place_of_a_file_is_refused(release: Path):
    source = release / "intramural-0.1.0.tar.gz"
    source.rename(release.parent / "elsewhere")
    source.symlink_to(release.parent / "elsewhere")
    with pytest.raises(ChecksumError, match="neither a file nor a folder"):
        check_files(release)


@pytest.mark.parametrize("name", ["a\nb", "a\\b", "-rf", " a", "$(id)", "a;b", "\u202ea"])
def test_a_name_that_a_shell_could_misread_is_not_released(release: Path, name: str):
    (release / name).touch()
    with pytest.raises(ChecksumError, match="rename it"):
        write_checksums(release)


@pytest.mark.parametrize("line", ["", "abc  file", f"{'a' * 64}  ../outside", f"{'a' * 64} *file"])
def test_a_malformed_list_is_refused(release: Path, line: str):
    with (release / LIST).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ChecksumError):
        check_files(release)
