"""Replacement of a published folder as a whole: readers see either the old files or the new ones, never a mixture.

The new files are written to `.NAME.publishing` next to the folder. A marker file in it identifies
it as ours; a folder without the marker is never deleted. A command that was killed leaves the
working folder behind, and the next one continues with it.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from aggregator.errors import SettingsError

_MARK: Final = "made-by-intramural-aggregator-publish"
_NEW: Final = "new"
_OLD: Final = "old"


class Replacement:
    """A new folder under construction, and the one that it will replace."""

    def __init__(self, out: Path, work: Path) -> None:
        self._out, self._work = out, work
        self._fresh = work / _NEW
        self.digests: dict[str, str] = {}
        """The SHA-256 in hexadecimal digits of every file written so far, by path."""

    def write(self, name: str, content: bytes) -> str:
        """Write a file and return its SHA-256. If the old folder has an identical file at this
        path, it is hard-linked.
        """
        digest = hashlib.sha256(content).hexdigest()
        self._put(name, content, digest, is_old=_holds(self._out / name, content))
        return digest

    def share(self, name: str, digest: str) -> bool:
        """Reuse a file of the old folder if its SHA-256 is `digest`. Return whether it was reused."""
        old = self._out / name
        try:
            content = old.read_bytes()
        except OSError:
            return False
        if old.is_symlink() or hashlib.sha256(content).hexdigest() != digest:
            return False
        self._put(name, content, digest, is_old=True)
        return True

    def _put(self, name: str, content: bytes, digest: str, *, is_old: bool) -> None:
        self.digests[name] = digest
        path = self._fresh / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_old:
            try:
                path.hardlink_to(self._out / name)
                return
            except OSError:
                pass  # a file system without hard links
        path.write_bytes(content)

    def take_place(self) -> None:
        """Replace the old folder with the new one."""
        old = self._work / _OLD
        if self._out.exists():
            self._out.rename(old)
        self._fresh.rename(self._out)


def _holds(path: Path, content: bytes) -> bool:
    try:
        return (
            not path.is_symlink()
            and path.stat().st_size == len(content)
            and path.read_bytes() == content
        )
    except OSError:
        return False


@contextmanager
def replacing(out: Path) -> Iterator[Replacement]:
    """Provide a new folder to fill; its `take_place` replaces `out`. Without that call nothing changes.

    Raises:
        SettingsError: the working folder exists and is not ours, another command is publishing to
            it, or a file cannot be written.
    """
    work = out.with_name(f".{out.name}.publishing")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        handle = _open_work(work)
        try:
            _recover(out, work)
            (work / _NEW).mkdir()
            yield Replacement(out, work)
        finally:
            _recover(out, work)
            (work / _MARK).unlink(missing_ok=True)
            os.close(handle)
            work.rmdir()
    except OSError as error:
        raise SettingsError(f"the board cannot be written to {out}: {error.strerror}") from None


def _open_work(work: Path) -> int:
    """Create or reuse the working folder. Return its lock."""
    if work.is_file():
        raise SettingsError(
            f"{work.name} next to the board is a file, not a folder", "Move it elsewhere."
        )
    work.mkdir(exist_ok=True)
    if not work.is_symlink() and not any(work.iterdir()):
        (work / _MARK).touch()
    elif work.is_symlink() or not (work / _MARK).is_file():
        raise SettingsError(
            f"{work.name} next to the board was not created by this command",
            "Move it elsewhere, or name another folder with --out.",
        )
    handle = os.open(work / _MARK, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise SettingsError(
            f"another command is publishing to {work.name}", "Wait until it has finished."
        ) from None
    return handle


def _recover(out: Path, work: Path) -> None:
    """Restore the old board if no new one replaced it, and remove leftover files."""
    if not out.exists() and (work / _OLD).is_dir():
        (work / _OLD).rename(out)
    for name in (_NEW, _OLD):
        shutil.rmtree(work / name, ignore_errors=True)
