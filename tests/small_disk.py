"""A small disk in memory that a test may fill, or make read-only."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mount_small_disk(folder: Path, size: str = "32m") -> Iterator[Path]:
    """Mount a disk of its own on the folder, which is created."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "none", str(folder)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("this account may not mount a disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill_disk(disk: Path) -> Path:
    """Write a file until nothing fits on the disk any more; return it."""
    ballast = disk / "ballast"
    descriptor = os.open(ballast, os.O_CREAT | os.O_WRONLY, 0o600)
    for size in (1 << 20, 1 << 12, 1):
        try:
            while True:
                os.write(descriptor, b"x" * size)
        except OSError:
            continue
    os.close(descriptor)
    return ballast


def remount(disk: Path, *, writable: bool) -> None:
    how = "remount,rw" if writable else "remount,ro"
    subprocess.run(["mount", "-o", how, str(disk)], check=True)
