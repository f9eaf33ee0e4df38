"""Secrets that the settings name by the path of their file: one line, readable by the site's account alone."""

import os
import re
import stat
from pathlib import Path
from typing import Final

from agent.errors import ConfigError
from agent.io.private_modes import is_open_to_others

_LONGEST: Final = 4096  # bytes
_VISIBLE: Final = re.compile(r"[\x21-\x7e]{8,}")


def read_secret_file(path: Path, setting: str) -> str:
    """Return the secret in a file.

    Raises:
        ConfigError: the file is missing, open to other accounts, or holds anything but one line of at least 8 visible
            ASCII characters. The message names the setting and never quotes the file.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(f"{setting}: the file cannot be read ({error.strerror})") from None
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise ConfigError(f"{setting}: this is not a regular file")
        if is_open_to_others(path, state.st_mode):
            raise ConfigError(
                f"{setting}: the file is open to other accounts", "Run `chmod 600` on it."
            )
        content = file.read(_LONGEST + 1)
    secret = content.decode("ascii", "replace").strip()
    if len(content) > _LONGEST or not _VISIBLE.fullmatch(secret):
        raise ConfigError(
            f"{setting}: the file must hold one line of at least 8 visible ASCII characters"
        )
    return secret
