"""Replacing a published folder as a whole: readers see the old files or the new ones, never some of each.

The work is done in `.NAME.publishing` beside the folder, which holds a file that says whose it is. Nothing else is
deleted, whatever it is called. A command that was killed leaves that folder behind, and the next one goes on from it.
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
    """A folder that is being made, and the one it will replace."""

    def __init__(self, out: Path, work: Path) -> None:
        self._out, self._work = out, work
        self._fresh = work / _NEW
        self.digests: dict[str, str] = {}
        """Hex SHA-256 of every file written so far, by path."""

    def write(self, name: str, content: bytes) -> str:
        """Write a file, and return its SHA-256. One with the same name and bytes in the old folder is shared."""
        digest = hashlib.sha256(content).hexdigest()
        self._put(name, content, digest, is_old=_holds(self._out / name, content))
        return digest

    def share(self, name: str, digest: str) -> bool:
        """Take a file over from the old folder if its SHA-256 there is `digest`; return whether it is."""
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
        """Put the new folder in the place of the old one."""
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
    """Give a new folder to fill; `take_place` puts it where `out` is. Without that everything stays as it was.

    Raises:
        SettingsError: a folder of the working folder's name is not ours, another command is publishing there, or the
            disk refuses.
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
    """Make or take over the working folder, and return the lock on it."""
    if work.is_file():
        raise SettingsError(f"{work.name} beside the board is a file", "Move it elsewhere.")
    work.mkdir(exist_ok=True)
    if not work.is_symlink() and not any(work.iterdir()):
        (work / _MARK).touch()
    elif work.is_symlink() or not (work / _MARK).is_file():
        raise SettingsError(
            f"{work.name} beside the board was not made by this command",
            "Move it elsewhere, or name another folder with --out.",
        )
    handle = os.open(work / _MARK, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise SettingsError(
            f"another command is publishing to {work.name}", "Wait until it has ended."
        ) from None
    return handle


def _recover(out: Path, work: Path) -> None:
    """Put the old board back where no new one took its place, and remove the rest."""
    if not out.exists() and (work / _OLD).is_dir():
        (work / _OLD).rename(out)
    for name in (_NEW, _OLD):
        shutil.rmtree(work / name, ignore_errors=True)
