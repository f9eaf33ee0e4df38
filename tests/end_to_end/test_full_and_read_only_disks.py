"""The disk of a site is full or read-only: each command says so and what to do, and nothing that is stored is lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.fault_server import FaultServer
from tests.end_to_end.conftest import UserSite, intramural, write_benchmark
from tests.small_disk import fill_disk, mount_small_disk, remount

pytestmark = pytest.mark.full

COMMANDS = (
    ("summarize", "--suite", "s"),
    ("purge", "--older-than", "0"),
    ("backup", "{elsewhere}/site.copy", "--without-keys"),
    ("export", "--suite", "s", "--format", "csv", "--output", "{elsewhere}/exported"),
    ("view", "--export", "{elsewhere}/pages"),
    ("jobs", "list"),
    ("serve", "--port", "0"),
    ("doctor",),
)
MAKE_ROOM = "The disk or this account's quota is full: make room and try again"
READ_ONLY = "the disk may be read-only"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with mount_small_disk(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer(models=["test/model"], answer="Yes") as server:
        yield server


@pytest.fixture
def site(disk: Path, tmp_path: Path, server: FaultServer) -> UserSite:
    """A site on that disk, with a run of 10 of 40 instances."""
    notes = [f"Note {number} of an invented person." for number in range(40)]
    rows = [{"note": note, "question": "Is it so?", "correct_answer": "Yes"} for note in notes]
    config = write_benchmark(tmp_path / "benchmark", rows)
    assert intramural("init", disk / "site", "--site-name", "Test").returncode == 0
    site = UserSite(disk / "site", config)
    assert site.run(server.url, "-m", "10").returncode == 0
    return site


def assert_commands_refuse(site: UserSite, server: FaultServer, elsewhere: Path, said: str) -> None:
    """Check that every command ends at once with the same words, and that no question is asked."""
    asked = len(server.prompts)
    for command in (tuple(site.run_words(server.url)), *COMMANDS):
        words = [word.format(elsewhere=elsewhere) for word in command]
        done = site.intramural(*words)
        assert done.returncode == 8, (words, done.stderr)
        assert said in done.stdout + done.stderr, (words, done.stderr)
        assert "Traceback" not in done.stderr
        assert "restore it from a backup" not in done.stderr
    assert len(server.prompts) == asked
    assert list(elsewhere.iterdir()) == []


def assert_all_is_there(site: UserSite, server: FaultServer) -> None:
    """Check that the run goes on where it stopped."""
    assert site.summary()["n"] == 10
    assert "asked 30, kept 10" in site.run(server.url).stdout


def test_a_full_disk_stops_every_command_in_words_and_nothing_is_lost(
    site: UserSite, disk: Path, server: FaultServer, tmp_path: Path
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ballast = fill_disk(disk)
    assert_commands_refuse(site, server, elsewhere, MAKE_ROOM)
    ballast.unlink()
    assert_all_is_there(site, server)


def test_a_read_only_disk_stops_every_command_in_words_and_nothing_is_lost(
    site: UserSite, disk: Path, server: FaultServer, tmp_path: Path
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    remount(disk, writable=False)
    assert_commands_refuse(site, server, elsewhere, READ_ONLY)
    remount(disk, writable=True)
    assert_all_is_there(site, server)


def test_a_site_that_a_full_disk_leaves_unfinished_is_created_anew_once_it_is_deleted(disk: Path):
    words = ("init", disk / "site", "--site-name", "Test")
    ballast = fill_disk(disk)
    refused = intramural(*words)
    assert refused.returncode == 8
    assert MAKE_ROOM in refused.stderr
    ballast.unlink()
    unfinished = intramural(*words)
    assert unfinished.returncode == 2
    assert "An earlier `init` did not finish in it" in unfinished.stderr
    (disk / "site/keys").rmdir()
    assert intramural(*words).returncode == 0


def test_a_site_on_a_read_only_disk_is_refused_with_the_reason(disk: Path):
    remount(disk, writable=False)
    refused = intramural("init", disk / "site", "--site-name", "Test")
    remount(disk, writable=True)
    assert refused.returncode == 2
    assert READ_ONLY in refused.stderr
