"""Files that no other account may read: whether one is, and how to write one."""

import os
import stat
from pathlib import Path

_SERVICE_MANAGERS_FOLDER = "CREDENTIALS_DIRECTORY"


def is_open_to_others(path: Path, mode: int) -> bool:
    """Return whether accounts other than the file's owner may read or change it.

    Files that systemd or a container's engine hands over in $CREDENTIALS_DIRECTORY may also be readable by their group:
    there they belong to root, and the group, or the entry in the access list that is shown as the group's mode, is this
    account alone.

    Args:
        path: the file.
        mode: its mode, as `os.fstat` tells it.
    """
    folder = os.environ.get(_SERVICE_MANAGERS_FOLDER, "")
    is_handed_over = bool(folder) and path.parent == Path(folder)
    forbidden = stat.S_IRWXO | (stat.S_IWGRP | stat.S_IXGRP if is_handed_over else stat.S_IRWXG)
    return bool(stat.S_IMODE(mode) & forbidden)


def write_private_text(path: Path, text: str) -> None:
    """Write a new file with mode 0600, whatever the umask. Raises FileExistsError if it exists, or another OSError."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
