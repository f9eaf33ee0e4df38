"""Reading small files up to a size limit, and writing files atomically."""

from pathlib import Path
from typing import Final

from aggregator.errors import SettingsError

MAX_BYTES: Final = 2**20


def read_small(path: Path, largest: int = MAX_BYTES) -> bytes:
    """Return the bytes of a small file.

    Raises:
        SettingsError: the file is unreadable (the cause is the OSError), or larger than `largest`
            bytes.
    """
    try:
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be read: {error.strerror}") from error
    if len(data) > largest:
        raise SettingsError(f"{path.name} is larger than {largest} bytes")
    return data


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file atomically.

    Raises:
        SettingsError: the file cannot be written. The old file is unchanged.
    """
    fresh = path.with_name(f".{path.name}.new")
    try:
        fresh.write_bytes(content)
        fresh.replace(path)
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be written: {error.strerror}") from None
