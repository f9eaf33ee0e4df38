"""The files of a site that belong into a copy."""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent.backup.form import KEYS_FOLDER
from agent.errors import ConfigError, StoreError

_REMADE: Final = frozenset({KEYS_FOLDER, "store", "servers", "jobs", "transfers"})
"""Folders that are copied in another way, or hold nothing but what is made again: locks, logs, files on their way."""
_REQUIRED: Final = frozenset({KEYS_FOLDER, "store", "submissions"})
_PASSING: Final = (".new-", ".lock")
SUBMISSIONS: Final = "submissions"


@dataclass(frozen=True, slots=True)
class Member:
    """A file to be copied: its path in the site's directory, where it is, and its size in bytes."""

    name: str
    path: Path
    size: int


def list_members(directory: Path, leave_out: Iterable[str] = ()) -> Iterator[Member]:
    """Yield the files of a site in a fixed order, without its keys and its store.

    Links are followed, so that what a site keeps on another disk is in the copy.

    Args:
        directory: the site's directory.
        leave_out: names of folders in it that are not copied.

    Raises:
        StoreError: a file or folder cannot be read.
    """
    left_out = _REMADE | set(leave_out)
    for name in sorted(os.listdir(directory)):  # noqa: PTH208 (names only)
        if name not in left_out:
            yield from _walk(directory / name, name, set())


def check_left_out(directory: Path, leave_out: Iterable[str]) -> None:
    """Refuse to leave out what is not there, or what a site cannot do without.

    Raises:
        ConfigError: a name is not that of such a folder in the site's directory.
    """
    for name in leave_out:
        if (
            not name
            or name in _REQUIRED
            or not (directory / name).is_dir()
            or Path(name).name != name
        ):
            raise ConfigError(
                f"{name} cannot be left out: it is not a folder of the site's directory, or a site needs it",
                "Name a folder directly in the site's directory, such as one with models.",
            )


def report_unreadable(name: str, error: OSError) -> StoreError:
    """Return the error about a file or folder of the site that cannot be read."""
    return StoreError(
        f"{name} cannot be read ({error.strerror})",
        "Give this account access to it, or leave its folder out: --leave-out FOLDER. No copy was left.",
    )


def _walk(path: Path, name: str, above: set[tuple[int, int]]) -> Iterator[Member]:
    """Yield a file, or the files of a folder. `above` has the folders around it: links may not lead in circles."""
    if Path(name).name.startswith(_PASSING) or name.endswith(".partial"):
        return
    try:
        status = path.stat()
        names = sorted(os.listdir(path)) if stat.S_ISDIR(status.st_mode) else []  # noqa: PTH208
    except FileNotFoundError:
        return  # a link to nothing, or deleted in the meantime
    except OSError as error:
        raise report_unreadable(name, error) from None
    if stat.S_ISREG(status.st_mode):
        yield Member(name, path, status.st_size)
    here = (status.st_dev, status.st_ino)
    if here not in above:
        for inner in names:
            yield from _walk(path / inner, f"{name}/{inner}", above | {here})
