"""A list of checksums over a folder, signed with an SSH key; made and verified with coreutils and OpenSSH alone.

Whoever receives a release needs none of this project's programs to check it: `sha256sum` and `ssh-keygen` suffice.
docs/release.md describes the key's ceremony.
"""

import re
import subprocess
from pathlib import Path
from typing import Final

from intramural_release.errors import ChecksumError
from intramural_release.wheel_files import hash_file

LIST: Final = "SHA256SUMS"
SIGNATURE: Final = "SHA256SUMS.sig"
NAMESPACE: Final = "intramural-release"
"""What a signature is for. A signature of the same key made for another purpose is refused."""
PRINCIPAL: Final = "intramural-release"
"""The name under which a file of allowed signers lists the release key."""
_LINE: Final = re.compile(r"(?P<digest>[0-9a-f]{64})  (?P<name>[^\s/][^\n]*)")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._+@=,~ -]|^[ -]|^\.\.?$")


def list_files(folder: Path) -> list[str]:
    """Return the files of a folder by their paths in it, except the list and its signature.

    Raises:
        ChecksumError: a link or a device, or a name that a shell or a terminal could misread.
    """
    names = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise ChecksumError(f"{name!r} is neither a file nor a folder")
        for part in path.relative_to(folder).parts:
            if _UNSAFE.search(part):
                raise ChecksumError(
                    f"{name!r}: rename it; only letters, digits and ._+@=,~- may be in it"
                )
        if path.is_file() and name not in (LIST, SIGNATURE):
            names.append(name)
    return names


def write_checksums(folder: Path) -> Path:
    """Write the list of every file in a folder. `sha256sum --check` reads it."""
    lines = [f"{hash_file(folder / name)}  {name}\n" for name in list_files(folder)]
    path = folder / LIST
    path.write_text("".join(lines), "utf-8")
    return path


def check_files(folder: Path) -> None:
    """Compare a folder with its list.

    Raises:
        ChecksumError: the list is malformed, or a file was changed, is missing, or is not on the list.
    """
    try:
        lines = (folder / LIST).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise ChecksumError(f"{LIST} cannot be read") from None
    listed = {}
    for number, line in enumerate(lines, start=1):
        match = _LINE.fullmatch(line)
        if match is None or match["name"] in listed:
            raise ChecksumError(f"{LIST}, line {number}: not a digest and a new file name")
        listed[match["name"]] = match["digest"]
    present = set(list_files(folder))
    for name in sorted(listed.keys() - present):
        raise ChecksumError(f"missing: {name}")
    for name in sorted(present - listed.keys()):
        raise ChecksumError(f"not on the list: {name}")
    for name, digest in listed.items():
        if hash_file(folder / name) != digest:
            raise ChecksumError(f"changed: {name}")


def sign_file(path: Path, key: Path) -> Path:
    """Sign a file with an SSH key, which may be on a token. Return the signature's path: the file's, and .sig."""
    signature = path.with_name(path.name + ".sig")
    signature.unlink(missing_ok=True)
    done = _run_ssh_keygen("-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(path))
    if done.returncode or not signature.is_file():
        raise ChecksumError(f"{path.name} could not be signed: {_last_line(done.stderr)}", "")
    return signature


def verify_signature(path: Path, signers: Path) -> None:
    """Verify a file's signature with the release key in a file of allowed signers.

    Raises:
        ChecksumError: there is no signature, or it is not of this file, of this key, or for this purpose.
    """
    words = ["-Y", "verify", "-f", str(signers), "-I", PRINCIPAL, "-n", NAMESPACE]
    words += ["-s", str(path.with_name(path.name + ".sig"))]
    done = _run_ssh_keygen(*words, standard_input=path)
    if done.returncode:
        raise ChecksumError(
            f"the signature of {path.name} is not valid: {_last_line(done.stderr + done.stdout)}"
        )


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2] or "ssh-keygen said nothing"


def _run_ssh_keygen(
    *words: str, standard_input: Path | None = None
) -> subprocess.CompletedProcess[str]:
    content = standard_input.read_bytes() if standard_input else b""
    try:
        done = subprocess.run(
            ["ssh-keygen", *words], input=content, capture_output=True, check=False
        )
    except OSError as error:
        raise ChecksumError(
            f"ssh-keygen cannot be started: {error.strerror}", "Install OpenSSH 8.2 or newer."
        ) from None
    return subprocess.CompletedProcess(
        done.args,
        done.returncode,
        done.stdout.decode("utf-8", "replace"),
        done.stderr.decode("utf-8", "replace"),
    )
