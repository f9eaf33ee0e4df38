"""Copying and restoring are killed at many moments, in processes of their own: what is left is whole, or nothing."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.backup.restore import check_copy, read_keys_folder, restore_copy
from agent.backup.write import write_copy
from agent.site.directory import Site
from tests.agent.backup.conftest import PASSPHRASE

ROOT = Path(__file__).parents[3]
MOMENTS = 8


@pytest.fixture(autouse=True)
def quick_passphrases() -> None:
    """Passphrases take as long as they do at a site."""


def start(tmp_path: Path, *words: object) -> "subprocess.Popen[bytes]":
    """Start a command in a process of its own; it says when it has read its modules."""
    script = (
        "import sys, agent.backup.write, agent.backup.restore; from agent.cli.main import main\n"
        "print(flush=True); main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def measure(process: "subprocess.Popen[bytes]") -> float:
    """Return how many seconds a command takes when nobody kills it."""
    began = time.monotonic()
    assert process.wait(60) == 0
    return time.monotonic() - began


def kill_after(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Kill a command; return whether it still ran."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        return True
    return False


@pytest.fixture
def large(site: Site) -> Site:
    """A site of which a copy takes a moment."""
    for number in range(40):
        (site.data / f"ward/{number}.jsonl").write_bytes(bytes(1_000_000))
    return site


@pytest.mark.full
def test_a_killed_backup_leaves_a_whole_copy_or_none(large: Site, tmp_path: Path):
    keys = read_keys_folder(large.keys)
    words = ("--site", large.directory, "backup", "--without-keys")
    seconds = measure(start(tmp_path, *words, tmp_path / "first"))
    killed = 0
    for number in range(MOMENTS):
        out = tmp_path / f"copy {number}"
        killed += kill_after(start(tmp_path, *words, out), seconds * number / MOMENTS)
        if out.exists():
            check_copy(out, keys)
    assert killed >= MOMENTS // 2
    write_copy(large, tmp_path / "last", passphrase=PASSPHRASE)
    left = {path.name for path in tmp_path.iterdir() if not path.name.startswith("copy ")}
    assert left == {"site", "first", "last"}
    with large.store() as store:  # the site is as it was, and knows every file that may exist
        known = {copy.copy_id for copy in store.copies.read_all() if copy.is_finished}
        assert len(known) >= 2
        assert len(store.copies.read_all()) <= MOMENTS + 2
        store.audit.read_events()


@pytest.mark.full
def test_a_killed_restore_leaves_a_whole_site_or_none(large: Site, tmp_path: Path):
    write_copy(large, tmp_path / "copy", passphrase=None)
    keys = read_keys_folder(large.keys)
    words = ("restore", tmp_path / "copy")
    more = ("--keys", large.keys)
    seconds = measure(start(tmp_path, *words, tmp_path / "first", *more))
    killed = 0
    for number in range(MOMENTS):
        directory = tmp_path / f"site {number}"
        killed += kill_after(start(tmp_path, *words, directory, *more), seconds * number / MOMENTS)
        if directory.exists():
            check_whole(Site(directory), large)
    assert killed >= MOMENTS // 2
    for number in range(MOMENTS):  # trying again is all it takes
        directory = tmp_path / f"site {number}"
        if not directory.exists():
            restore_copy(tmp_path / "copy", directory, keys)
            check_whole(Site(directory), large)
    assert list(tmp_path.glob(".*")) == []


def check_whole(restored: Site, original: Site) -> None:
    with restored.store() as store:
        store.database.check_integrity()
        assert store.copies.find_restoration() is not None
    for path in original.data.rglob("*"):
        if path.is_file():
            assert (
                restored.data / path.relative_to(original.data)
            ).read_bytes() == path.read_bytes()
