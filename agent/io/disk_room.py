"""The room on the disk of a folder, and when it becomes short."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SHORT_BYTES: Final = 2 * 10**9
_SHORT_SHARE: Final = 0.03


@dataclass(frozen=True, slots=True)
class DiskRoom:
    """Bytes that are free, and all bytes, of the disk that holds a folder."""

    free: int
    total: int


def find_room(folder: Path) -> DiskRoom:
    """Return the room on the disk of an existing folder."""
    usage = shutil.disk_usage(folder)
    return DiskRoom(usage.free, usage.total)


def is_nearly_full(room: DiskRoom) -> bool:
    """Return whether so little is free that runs and uploads may soon fail."""
    # A small disk is short of room only when most of it is taken.
    return room.free < min(_SHORT_BYTES, room.total // 10) or room.free < _SHORT_SHARE * room.total
