"""The lock on an aggregator's directory: commands share it, and the one that removes the directory takes it alone.

The lock is on the directory itself, so that it leaves no file behind, and ends with the process that holds it. Workers
that `serve` has started hold it too.
"""

import fcntl
import os
from pathlib import Path

from aggregator.errors import SettingsError


class DirectoryLock:
    """A lock on a directory, held until it is closed or the process ends."""

    def __init__(self, directory: Path, *, alone: bool) -> None:
        """Take the lock, without waiting.

        Args:
            directory: must exist.
            alone: whether no other command may hold it at the same time.

        Raises:
            SettingsError: another command removes the directory, or `alone` and another command works on it.
        """
        self._handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        try:
            fcntl.flock(self._handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            if alone:
                raise SettingsError(
                    f"another command is working on {directory}, such as `serve` or `publish`",
                    "Nothing was removed. End it, and run this command again.",
                ) from None
            raise SettingsError(
                f"{directory} is being removed by another command", "Nothing was done."
            ) from None
        except OSError as error:
            self.close()
            raise SettingsError(
                f"{directory} cannot be locked: {error.strerror}",
                "Keep it on a disk of this computer, or on a file system that has locks.",
            ) from None

    def close(self) -> None:
        """Give the lock back."""
        os.close(self._handle)
