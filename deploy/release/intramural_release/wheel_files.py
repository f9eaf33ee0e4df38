"""Reading wheels without installing them."""

import email.parser
import email.policy
import hashlib
import zipfile
from email.message import Message
from pathlib import Path
from typing import Final

from intramural_release.errors import KitError

_BLOCK: Final = 1 << 20  # bytes


def read_metadata(wheel: Path) -> Message:
    """Return the metadata of a wheel.

    Raises:
        KitError: the file is no wheel.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            (name,) = [
                name
                for name in archive.namelist()
                if name.count("/") == 1 and name.endswith(".dist-info/METADATA")
            ]
            text = archive.read(name).decode("utf-8")
    except (OSError, zipfile.BadZipFile, ValueError, UnicodeDecodeError):
        raise KitError(f"{wheel.name} is no wheel") from None
    return email.parser.Parser(policy=email.policy.compat32).parsestr(text)


def hash_file(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
