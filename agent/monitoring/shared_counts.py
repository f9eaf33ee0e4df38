"""Counts of other processes: each command writes its own into a file, which the service of the site adds up.

counts/reader.lock    locked by the service while it runs; without it, commands write nothing
counts/ID.json        totals of one command since it began, which holds a lock on it until it ends

Files hold numbers under the names of `agent.monitoring.counters`. What a command counted in its last two seconds is
lost if it is killed.
"""

import fcntl
import json
import math
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from agent.monitoring.counters import list_totals, read_totals

_WRITE_EVERY_S: Final = 2.0
_LARGEST_FILE: Final = 64 * 1024
_LOCK: Final = "reader.lock"
_turn = threading.Lock()


@contextmanager
def share_counts(folder: Path) -> Iterator[None]:
    """Pass on what this process counts within the block, if a service of the site adds it up.

    Within another such block, it does nothing: a job's command runs within the command that works on the job.
    """
    if not _turn.acquire(blocking=False):
        yield
        return
    writer = _CountWriter(folder) if _has_reader(folder) else None
    try:
        yield
    finally:
        _turn.release()
        if writer is not None:
            writer.stop()


def _has_reader(folder: Path) -> bool:
    """Return whether a service holds the lock of the folder."""
    try:
        descriptor = os.open(folder / _LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


class _CountWriter:
    """Writes the totals of this process every two seconds, if they have changed, and once more at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before = read_totals()
        self._written: dict[str, float] = {}
        self._descriptor: int | None = None
        self._length = 0
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="counts", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Write for the last time. From then on, the reader may delete the file."""
        self._is_stopping.set()
        self._thread.join()
        if self._descriptor is not None:
            os.close(self._descriptor)

    def _work(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._is_stopping.wait(_WRITE_EVERY_S)
            with suppress(OSError):  # a full disk must not end the command
                self._write()

    def _write(self) -> None:
        totals = {}
        for name, total in read_totals().items():
            grown = total - self._before.get(name, 0.0)
            if grown:
                totals[name] = grown
        if totals == self._written:
            return
        if self._descriptor is None:
            self._descriptor = self._create()
        # One write in place: the file stays the one that is locked. A reader that sees half of it waits for the next.
        data = json.dumps(totals).encode()
        os.pwrite(self._descriptor, data.ljust(self._length), 0)
        self._length = max(self._length, len(data))
        self._written = totals

    def _create(self) -> int:
        path = self._folder / f"{secrets.token_hex(8)}.json"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return descriptor


class CountReader:
    """Adds up the counts of commands, for the service.

    Args:
        folder: the site's folder of counts; it is created.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known = list_totals()
        self._totals: dict[str, float] = {}
        self._seen: dict[str, dict[str, float]] = {}
        self._turn = threading.Lock()
        self._lock: int | None = None
        with suppress(
            OSError
        ):  # such as a full disk: only the counts of other processes are missing then
            folder.mkdir(mode=0o700, exist_ok=True)
            (folder / _LOCK).touch(mode=0o600)
            # A service that holds no file open for writing does not keep its disk from being made read-only.
            self._lock = os.open(folder / _LOCK, os.O_RDONLY | os.O_CLOEXEC)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._forget_earlier()

    def _forget_earlier(self) -> None:
        """Begin at zero: what commands have counted until now belonged to an earlier service."""
        self.read_totals()
        self._totals = {}

    def close(self) -> None:
        """Let commands know that nobody reads their counts any more."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def read_totals(self) -> dict[str, float]:
        """Return the totals of all commands since this object was made, together with those of this process."""
        with self._turn:
            with suppress(OSError):
                for path in sorted(self._folder.glob("*.json")):
                    self._read(path)
            totals = dict(self._totals)
        for name, total in read_totals().items():
            totals[name] = totals.get(name, 0.0) + total
        return totals

    def _read(self, path: Path) -> None:
        """Add what a command has counted since the last time; delete its file if it has ended."""
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return
        try:
            has_ended = _take(descriptor)
            counts = self._parse(os.pread(descriptor, _LARGEST_FILE, 0))
            self._add_growth(path.name, counts)
            if has_ended:
                path.unlink(missing_ok=True)
                self._seen.pop(path.name, None)
        finally:
            os.close(descriptor)

    def _add_growth(self, file: str, counts: dict[str, float]) -> None:
        seen = self._seen.setdefault(file, {})
        for name, total in counts.items():
            growth = total - seen.get(name, 0.0)
            if growth > 0:
                self._totals[name] = self._totals.get(name, 0.0) + growth
                seen[name] = total

    def _parse(self, data: bytes) -> dict[str, float]:
        """Return the totals in a file; {} if it is being written now, or is something else."""
        try:
            values = json.loads(data)
        except ValueError:
            return {}
        if not isinstance(values, dict):
            return {}
        counts: dict[str, float] = {}
        for name, value in values.items():
            is_number = type(value) in (int, float) and math.isfinite(value) and value >= 0
            if name in self._known and is_number:
                counts[name] = float(value)
        return counts


def _take(descriptor: int) -> bool:
    """Lock a file; return False if the command that writes it still holds the lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
