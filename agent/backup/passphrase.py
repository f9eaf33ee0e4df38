"""The passphrase that seals the site's keys in a copy: typed, or in a file that only its owner can read."""

import os
import stat
from pathlib import Path
from typing import Final

from agent.access.passwords import LONGEST, check_password_strength
from agent.errors import ConfigError


def check_passphrase(passphrase: str) -> None:
    """Refuse a passphrase that is easily guessed: a copy can be attacked at leisure. Raises ConfigError."""
    try:
        check_password_strength(passphrase)
    except ConfigError as error:
        raise ConfigError(str(error).replace("password", "passphrase"), error.advice) from None


def read_passphrase_file(path: Path) -> str:
    """Return the passphrase in the first and only line of a file.

    Raises:
        ConfigError: the file cannot be read, is open to other accounts, has several lines, or its passphrase is easily
            guessed. The message never quotes it.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(f"the passphrase file cannot be read ({error.strerror})") from None
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise ConfigError("the passphrase file is not a regular file")
        if stat.S_IMODE(state.st_mode) & 0o077:
            raise ConfigError(
                "the passphrase file is open to other accounts",
                "Run `chmod 600` on it. Choose another passphrase if others may have read it.",
            )
        content = file.read(_MAX_BYTES + 1)
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        lines = []
    if len(lines) != 1 or len(content) > _MAX_BYTES:
        raise ConfigError("the passphrase file must hold one line of text in UTF-8")
    check_passphrase(lines[0])
    return lines[0]


_MAX_BYTES: Final = 4 * LONGEST + 2
