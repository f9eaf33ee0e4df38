"""A copy is made while others work, holds everything and reveals nothing, and is complete or not there."""

import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agent.backup.restore import check_copy, read_header, read_keys_folder
from agent.backup.write import write_copy
from agent.delivery.outbox import Outbox
from agent.errors import BusyError, ClockError, ConfigError, StoreError
from agent.site.directory import Site
from tests.agent.backup.conftest import PASSPHRASE, restore_with_passphrase
from tests.agent.store.begun_runs import CANARY, begin, response


def test_no_key_secret_or_text_is_in_a_copy_in_the_clear(site: Site, copy: Path):
    content = copy.read_bytes()
    assert copy.stat().st_mode & 0o777 == 0o600
    for name in ("data.key", "seal.key", "agent.key"):
        key = (site.keys / name).read_bytes()
        for line in key.split():
            assert line not in content
            assert line.hex().encode() not in content
        if name != "agent.key":
            assert bytes.fromhex(key.decode()) not in content
    for text in (CANARY, "secret-of-the-mail-server", "notes.jsonl", "St. Example", "exact_match"):
        # Shorter parts ("St.") stand in a megabyte of enciphered bytes by chance.
        for part in (part for part in text.split() if len(part) >= 7):
            assert part.encode() not in content
    assert PASSPHRASE.encode() not in content


def test_a_copy_holds_every_file_but_those_that_are_made_again(
    site: Site, copy: Path, tmp_path: Path
):
    restored = restore_with_passphrase(copy, tmp_path / "restored").directory
    kept = {path.relative_to(restored).as_posix() for path in restored.rglob("*") if path.is_file()}
    original = {
        path.relative_to(site.directory).as_posix()
        for path in site.directory.rglob("*")
        if path.is_file()
    }
    made_again = {"jobs/1234.log", "servers/token", "submissions/.lock"}
    assert {name for name in original - kept if not name.startswith("store/")} == made_again
    for name in kept:
        if not name.startswith("store/"):
            assert (restored / name).read_bytes() == (site.directory / name).read_bytes(), name
            assert (restored / name).stat().st_mode & 0o077 == 0, name
    folders = [path for path in restored.rglob("*") if path.is_dir()]
    assert [path for path in (restored, *folders) if path.stat().st_mode & 0o077] == []


def test_folders_can_be_left_out_and_the_copy_says_so(site: Site, tmp_path: Path):
    whole, small = tmp_path / "whole", tmp_path / "small"
    write_copy(site, whole, passphrase=None)
    write_copy(site, small, passphrase=None, leave_out=["models"])
    assert small.stat().st_size < whole.stat().st_size - 2_900_000
    assert check_copy(small, read_keys_folder(site.keys)).left_out == ("models",)


@pytest.mark.parametrize("name", ["submissions", "store", "keys", "data/ward", "nothing", "", "."])
def test_what_a_site_needs_or_does_not_have_is_not_left_out(site: Site, tmp_path: Path, name: str):
    with pytest.raises(ConfigError, match="cannot be left out"):
        write_copy(site, tmp_path / "copy", passphrase=None, leave_out=[name])


def test_the_store_is_copied_as_it_was_at_one_moment(site: Site, tmp_path: Path):
    """Another connection goes on writing transactions that belong together."""
    stop = threading.Event()
    path = site.directory / "store" / "site.sqlite3"

    def write() -> None:
        other = sqlite3.connect(path, isolation_level=None, timeout=30)
        other.execute("CREATE TABLE pairs (side TEXT, number INTEGER)")
        number = 0
        while not stop.is_set():
            other.execute("BEGIN IMMEDIATE")
            other.execute("INSERT INTO pairs VALUES ('left', ?)", (number,))
            other.execute("INSERT INTO pairs VALUES ('right', ?)", (number,))
            other.execute("COMMIT")
            number += 1
            time.sleep(0.005)  # others get their turn
        other.close()

    writing = threading.Thread(target=write)
    writing.start()
    try:
        for number in range(3):
            write_copy(site, tmp_path / f"copy {number}", passphrase=PASSPHRASE)
    finally:
        stop.set()
        writing.join()
    for number in range(3):
        restored = restore_with_passphrase(tmp_path / f"copy {number}", tmp_path / f"site {number}")
        with restored.store() as store:
            rows = store.database.connection.execute(
                "SELECT COUNT(*), COUNT(DISTINCT number) FROM pairs"
            ).fetchone()
        assert rows[0] == 2 * rows[1]


def test_a_copy_waits_for_a_command_that_writes_a_statement(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent.backup.write._PATIENCE_S", 0.3)
    with Outbox(site.submissions).held(), pytest.raises(BusyError):
        write_copy(site, tmp_path / "copy", passphrase=None)
    assert list(tmp_path.glob("*copy*")) == []
    monkeypatch.setattr("agent.backup.write._PATIENCE_S", 20)
    with Outbox(site.submissions).held():
        done = threading.Thread(
            target=write_copy, args=(site, tmp_path / "copy"), kwargs={"passphrase": None}
        )
        done.start()
        done.join(0.5)
        assert done.is_alive()
    done.join(20)
    assert (tmp_path / "copy").exists()


def test_a_copy_is_never_written_over_something_else(site: Site, copy: Path):
    before = copy.read_bytes()
    with pytest.raises(ConfigError, match="exists already"):
        write_copy(site, copy, passphrase=None)
    assert copy.read_bytes() == before


def test_a_copy_inside_the_site_is_refused(site: Site, tmp_path: Path):
    (tmp_path / "link").symlink_to(site.directory / "data")
    for folder in (site.directory, site.data, tmp_path / "link"):
        with pytest.raises(ConfigError, match="inside the site's own directory"):
            write_copy(site, folder / "copy", passphrase=None)


@pytest.mark.parametrize("missing", ["no such folder/copy"])
def test_a_folder_that_does_not_exist_is_named(site: Site, tmp_path: Path, missing: str):
    with pytest.raises(ConfigError, match="there is no folder"):
        write_copy(site, tmp_path / missing, passphrase=None)


def test_a_failed_copy_leaves_nothing_and_is_not_known(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent.backup.sealing.SealedWriter.finish", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_copy(site, tmp_path / "copy", passphrase=None)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    with site.store() as store:
        assert store.copies.read_all() == []


def test_a_wrong_clock_makes_no_copy_of_a_wrong_age(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from tests.agent.store.set_clock import SetClock

    monkeypatch.setattr("agent.store.clock.read_clock", SetClock(1_580_000_000).read)
    with pytest.raises(ClockError):
        write_copy(site, tmp_path / "copy", passphrase=None)
    assert not (tmp_path / "copy").exists()


def test_a_file_that_grows_while_it_is_copied_is_not_copied_in_half(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    growing = site.directory / "data/ward/notes.jsonl"
    real_fstat, calls = os.fstat, []

    def fstat(handle: int) -> os.stat_result:
        status = real_fstat(handle)
        if status.st_ino == growing.stat().st_ino:
            calls.append(handle)
            with growing.open("a") as file:
                file.write("more\n")
        return status

    monkeypatch.setattr("agent.backup.write.os.fstat", fstat)
    with pytest.raises(BusyError, match="was changed while it was copied"):
        write_copy(site, tmp_path / "copy", passphrase=None)
    assert calls


def test_links_are_followed_and_lead_in_no_circles(site: Site, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "big.jsonl").write_text("on another disk\n")
    (site.data / "linked").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(site.data)
    (site.data / "nowhere").symlink_to(tmp_path / "missing")
    write_copy(site, tmp_path / "copy", passphrase=PASSPHRASE)
    restored = restore_with_passphrase(tmp_path / "copy", tmp_path / "restored")
    assert (restored.data / "linked/big.jsonl").read_text() == "on another disk\n"
    assert not (restored.data / "linked").is_symlink()


def test_pipes_and_sockets_do_not_stop_a_copy(site: Site, tmp_path: Path):
    os.mkfifo(site.data / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(site.data / "socket"))
        write_copy(site, tmp_path / "copy", passphrase=None)
    assert (tmp_path / "copy").exists()


def test_a_full_disk_leaves_no_copy_and_says_what_to_do(site: Site, tmp_path: Path):
    """The size of files is limited to less than the copy, as a quota does."""
    script = (
        "import resource, signal, sys; from pathlib import Path; from agent.backup.write import write_copy\n"
        "from agent.errors import AgentError; from agent.site.directory import Site\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)\n"
        "try:\n    write_copy(Site(Path(sys.argv[1])), Path(sys.argv[2]), passphrase=None)\n"
        "except AgentError as error: print(type(error).__name__, error, error.advice)\n"
    )
    for limit in (
        1_000_000,
        100_000,
    ):  # in the middle of the sealed file, and of the store's snapshot
        said = subprocess.check_output(
            [sys.executable, "-c", script, site.directory, tmp_path / "copy", str(limit)],
            text=True,
            cwd=Path(__file__).parents[3],
        )
        assert said.startswith("ConfigError"), said
        assert "is full" in said
        assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_what_a_killed_command_left_is_removed_by_the_next_one(site: Site, tmp_path: Path):
    orphan = tmp_path / ".new-0123456789abcdef"
    orphan.write_bytes(b"half a copy")
    write_copy(site, tmp_path / "copy", passphrase=None)
    assert not orphan.exists()


def test_copies_that_precede_a_purge_are_known_to_hold_its_texts(site: Site, tmp_path: Path):
    first = write_copy(site, tmp_path / "first", passphrase=None, label="nightly").header
    with site.store() as store:
        assert store.purge(0) == 8
        last = store.copies.find_last_deletion()
        assert last is not None
    second = write_copy(site, tmp_path / "second", passphrase=None).header
    assert (first.after_purge, first.purged_at) == (0, 0)
    assert (second.after_purge, second.purged_at) == (last.number, last.at)
    assert read_header(tmp_path / "second") == second
    with site.store() as store:
        (held,) = store.copies.list_holding_deleted()
        assert (held.copy_id, held.label) == (first.copy_id, "nightly")
        store.purge(0)  # deletes nothing, so the second copy holds nothing that was deleted
        assert len(store.copies.list_holding_deleted()) == 1
        run_id, keys = begin(store)
        store.answers.settle(run_id, [(key, response()) for key in keys], [])
        store.purge(0)
        assert len(store.copies.list_holding_deleted()) == 2
        store.copies.forget(first.copy_id[:8])
        assert len(store.copies.list_holding_deleted()) == 1


def test_a_copy_in_the_place_of_a_deleted_one_replaces_it(site: Site, tmp_path: Path):
    for _ in range(2):
        (tmp_path / "copy").unlink(missing_ok=True)
        header = write_copy(site, tmp_path / "copy", passphrase=None).header
    with site.store() as store:
        assert [known.copy_id for known in store.copies.read_all()] == [header.copy_id]
        assert store.copies.read_all()[0].is_finished


def test_the_store_knows_no_path_of_a_copy(site: Site, tmp_path: Path):
    folder = tmp_path / "archive-of-mrs-quill"
    folder.mkdir()
    write_copy(site, folder / "mrs-quill.copy", passphrase=None)
    for path in (site.directory / "store").iterdir():
        assert b"quill" not in path.read_bytes()


def test_a_missing_data_key_is_an_error_of_the_site(site: Site, tmp_path: Path):
    (site.keys / "data.key").unlink()
    with pytest.raises(StoreError, match="data key is missing"):
        write_copy(site, tmp_path / "copy", passphrase=PASSPHRASE)
