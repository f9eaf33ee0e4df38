"""When a disk counts as nearly full."""

from pathlib import Path

from agent.io.disk_room import DiskRoom, find_room, is_nearly_full
from agent.io.wording import format_size

GB = 10**9


def test_large_and_small_disks_are_nearly_full_in_time():
    assert not is_nearly_full(DiskRoom(50 * GB, 1000 * GB))
    assert is_nearly_full(DiskRoom(20 * GB, 1000 * GB))
    assert is_nearly_full(DiskRoom(1 * GB, 40 * GB))
    assert not is_nearly_full(DiskRoom(1 * GB, 5 * GB))
    assert is_nearly_full(DiskRoom(0, 1 * GB))


def test_the_room_of_a_folder_is_that_of_its_disk(tmp_path: Path):
    room = find_room(tmp_path)
    assert 0 < room.free <= room.total


def test_sizes_are_given_in_the_unit_that_suits_them():
    shown = [format_size(size) for size in (0, 999, 12_345, 10**6, 4 * GB, 271 * GB, 3 * 10**12)]
    assert shown == ["0.0 kB", "1.0 kB", "12 kB", "1.0 MB", "4.0 GB", "271 GB", "3.0 TB"]
