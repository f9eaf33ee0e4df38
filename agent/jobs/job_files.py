"""The files of jobs, readable only by the site's account.

jobs/dispatcher.lock   locked by the one dispatcher of the site
jobs/ID.lock           locked by the worker of a job, and holds its process number
jobs/ID.log            the output of the job's command line

Locks are `flock` locks: the system releases them whenever their process ends, however it ends.
"""

import fcntl
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent.errors import StoreError
from agent.model_servers.running import read_begin


@dataclass(frozen=True, slots=True)
class JobFiles:
    """The folder of the jobs' files, which need not exist."""

    folder: Path

    @property
    def dispatcher_lock(self) -> Path:
        """The file that the site's dispatcher locks."""
        return self.folder / "dispatcher.lock"

    def lock(self, job_id: str) -> Path:
        """Return the file that the job's worker locks."""
        return self.folder / f"{job_id}.lock"

    def log(self, job_id: str) -> Path:
        """Return the file with the output of the job's command line."""
        return self.folder / f"{job_id}.log"

    def create_folder(self) -> None:
        """Create the folder if it is missing. Raises StoreError."""
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"the folder jobs of the site cannot be created ({error.strerror})"
            ) from None

    def open_log(self, job_id: str) -> int:
        """Return a descriptor that appends to the job's log. Raises StoreError."""
        self.create_folder()
        try:
            return os.open(self.log(job_id), os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        except OSError as error:
            raise StoreError(
                f"the log of job {job_id} cannot be written ({error.strerror})"
            ) from None

    def delete(self, job_id: str) -> None:
        """Delete the files of a job that has ended."""
        for path in (self.log(job_id), self.lock(job_id)):
            with suppress(OSError):
                path.unlink(missing_ok=True)


def take_lock(path: Path) -> int | None:
    """Lock a file until the descriptor is closed or this process ends.

    Returns:
        The descriptor; None if another process holds the lock.

    Raises:
        StoreError: the file cannot be created, or the file system has no locks.
    """
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise StoreError(f"the file {path.name} cannot be created ({error.strerror})") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError as error:
        os.close(descriptor)
        raise StoreError(f"the file {path.name} cannot be locked ({error.strerror})") from None
    return descriptor


def write_holder(descriptor: int) -> None:
    """Write into a locked file which process holds the lock."""
    process = os.getpid()
    os.ftruncate(descriptor, 0)
    # The time at which the process began tells it from a later process with the same number.
    os.pwrite(descriptor, f"{process} {read_begin(process)}".encode(), 0)


def read_holder(path: Path) -> int | None:
    """Return the number of the process that wrote itself into a lock file; None if it has ended."""
    try:
        process, began = (int(word) for word in path.read_text("ascii").split())
    except (OSError, ValueError):
        return None
    return process if began and read_begin(process) == began else None
