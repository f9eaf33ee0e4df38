"""Small files that people write or hand over."""

from pathlib import Path
from typing import Final

from aggregator.errors import SettingsError

MAX_BYTES: Final = 2**20


def read_small(path: Path) -> bytes:
    """Return the bytes of a small file.

    Raises:
        SettingsError: unreadable (the cause is the OSError), or larger than MAX_BYTES.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise SettingsError(f"{path.name} is larger than {MAX_BYTES} bytes")
    return data
