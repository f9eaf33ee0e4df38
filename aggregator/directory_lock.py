"""The lock on an aggregator's directory. Commands share it; the command that removes the directory
needs it exclusively.

The lock is on the directory itself, so that it leaves no file behind, and it ends with the process
that holds it. Workers started by `serve` hold it too.
"""

import fcntl
import os
from pathlib import Path

from aggregator.errors import SettingsError


class DirectoryLock:
    """A lock on a directory, held until it is closed or the process ends."""

    def __init__(self, directory: Path, *, alone: bool) -> None:
        """Acquire the lock without waiting.

        Args:
            directory: The directory, which must exist.
            alone: Whether the lock is exclusive.

        Raises:
            SettingsError: another command is removing the directory, or, if `alone`, is using it.
        """
        self._handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        try:
            fcntl.flock(self._handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            if alone:
                raise SettingsError(
                    f"another command, such as `serve` or `publish`, is using {directory}",
                    "Nothing was removed. Stop the other command and run this one again.",
                ) from None
            raise SettingsError(
                f"{directory} is being removed by another command", "Nothing was done."
            ) from None
        except OSError as error:
            self.close()
            raise SettingsError(
                f"{directory} cannot be locked: {error.strerror}",
                "Store it on a local disk or on a file system that supports locks.",
            ) from None

    def close(self) -> None:
        """Release the lock."""
        os.close(self._handle)
