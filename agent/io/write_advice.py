"""Say what to do about a file that cannot be written."""

import errno
from typing import Final

FULL_DISK: Final = "The disk or this account's quota is full: make room and try again."
_NOT_WRITABLE: Final = (
    "The folder must be writable for the account that runs the agent; the disk may be read-only."
)
_ADVICE: Final = {
    errno.ENOSPC: FULL_DISK,
    errno.EDQUOT: FULL_DISK,
    errno.EROFS: _NOT_WRITABLE,
    errno.EACCES: _NOT_WRITABLE,
    errno.EPERM: _NOT_WRITABLE,
}


def advise_on_write(error: OSError) -> str | None:
    """Return what to do about a file or folder that cannot be written; None if the error does not tell."""
    return _ADVICE.get(error.errno or 0)
