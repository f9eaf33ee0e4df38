"""A copy becomes a whole site again, or nothing; whoever changed one gets nothing restored."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.backup.form import CopyHeader, parse_header
from agent.backup.restore import (
    check_copy,
    open_copy_keys,
    read_header,
    read_keys_folder,
    restore_copy,
)
from agent.backup.sealing import SealedWriter, derive_copy_key
from agent.backup.write import write_copy
from agent.errors import AgentError, ConfigError, StoreError
from agent.keys import read_data_key
from agent.site.directory import Site
from agent.store.database import count_versions
from tests.agent.backup.conftest import PASSPHRASE, restore_with_passphrase
from tests.agent.store.begun_runs import response
from tests.agent.store.old_site import copy_old_site


def refuse(copy: Path, tmp_path: Path, keys: dict[str, bytes], match: str) -> None:
    with pytest.raises(AgentError, match=match) as caught:
        restore_copy(copy, tmp_path / "restored", keys)
    assert "estored" in caught.value.advice
    assert not (tmp_path / "restored").exists()
    assert list(tmp_path.glob(".*")) == []


@pytest.fixture
def keys(site: Site) -> dict[str, bytes]:
    return read_keys_folder(site.keys)


def test_a_restored_site_gives_the_same_results(site: Site, copy: Path, tmp_path: Path):
    restored = restore_with_passphrase(copy, tmp_path / "restored")
    with site.store() as before, restored.store() as after:
        (run,) = before.runs.select("s")
        assert after.runs.select("s") == [run]
        assert [one.response for one in after.answers.read_each_instance(run.run_id)] == [
            response()
        ] * 4
        assert after.scores.read_units(run.run_id, "exact_match") == before.scores.read_units(
            run.run_id, "exact_match"
        )
        assert after.audit.read_events()[-1].event == "site restored"
        restoration = after.copies.find_restoration()
    assert restoration is not None
    assert restoration.copy_id == read_header(copy).copy_id


def test_nobody_rolls_back_to_a_restored_store_without_its_mark(tmp_path: Path):
    """A copy of an earlier version is upgraded as it is restored, and the store before knows of no restoring."""
    old = copy_old_site(tmp_path / "old")
    names = ("store/site.sqlite3", "site.yaml")
    contents = [({"name": name}, (old.directory / name).read_bytes()) for name in names]
    write_copy(old, tmp_path / "copy", passphrase=None)
    forge(old, tmp_path / "copy", contents)
    keys = read_keys_folder(old.keys)
    restored = restore_copy(tmp_path / "copy", tmp_path / "restored", keys).site
    assert [path.name for path in (restored.directory / "store").iterdir()] == ["site.sqlite3"]
    with restored.store() as store:
        assert store.copies.find_restoration() is not None
        assert not any("upgrade" in copy.label for copy in store.copies.read_all())


def test_keys_may_come_from_elsewhere(site: Site, tmp_path: Path, keys: dict[str, bytes]):
    write_copy(site, tmp_path / "copy", passphrase=None)
    with pytest.raises(ConfigError, match="does not contain the site's keys"):
        open_copy_keys(read_header(tmp_path / "copy"), PASSPHRASE)
    restored = restore_copy(tmp_path / "copy", tmp_path / "restored", keys).site
    assert (restored.keys / "agent.key").read_bytes() == (site.keys / "agent.key").read_bytes()
    assert (restored.keys / "data.key").stat().st_mode & 0o777 == 0o600


def test_a_copy_of_another_site_is_not_opened_with_these_keys(
    copy: Path, tmp_path: Path, keys: dict[str, bytes]
):
    refuse(copy, tmp_path, {**keys, "data.key": b"00" * 32 + b"\n"}, "another data key")
    refuse(copy, tmp_path, {**keys, "seal.key": b"00" * 32 + b"\n"}, "seal key")
    refuse(copy, tmp_path, {}, "data key is missing")


def test_a_truncated_copy_is_refused_wherever_it_ends(
    copy: Path, tmp_path: Path, keys: dict[str, bytes]
):
    content = copy.read_bytes()
    line_end = content.index(b"\n")
    for end in (0, 10, line_end, line_end + 1, line_end + 3, line_end + 9, len(content) // 2, -1):
        copy.write_bytes(content[:end])
        refuse(copy, tmp_path, keys, r"damaged|not a copy")


def test_a_changed_copy_is_refused_wherever_it_was_changed(
    copy: Path, tmp_path: Path, keys: dict[str, bytes]
):
    content = copy.read_bytes()
    line_end = content.index(b"\n")
    for position in (2, 30, line_end - 2, line_end + 2, line_end + 9, len(content) // 2, -1):
        changed = bytearray(content)
        changed[position] ^= 1
        copy.write_bytes(bytes(changed))
        with pytest.raises(AgentError):
            check_copy(copy, keys)
        refuse(copy, tmp_path, keys, r"damaged|not a copy|newer version")


def test_the_age_of_a_copy_cannot_be_changed(copy: Path, tmp_path: Path, keys: dict[str, bytes]):
    line, _, rest = copy.read_bytes().partition(b"\n")
    fields = json.loads(line)
    for name in ("made_at", "after_purge", "purged_at"):
        forged = json.dumps({**fields, name: fields[name] + 86_400}, sort_keys=True).encode()
        copy.write_bytes(forged + b"\n" + rest)
        refuse(copy, tmp_path, keys, "damaged")


def test_another_file_is_no_copy(tmp_path: Path, keys: dict[str, bytes]):
    for content in (b"", b"{}", b"[" * 100_000, b'{"format": 7}\n', b"\x1f\x8b" + bytes(100)):
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(StoreError, match="not a copy of a site"):
            read_header(tmp_path / "file")
        refuse(tmp_path / "file", tmp_path, keys, "not a copy of a site")


def test_a_copy_of_a_newer_version_says_which_one(
    copy: Path, tmp_path: Path, keys: dict[str, bytes]
):
    content = copy.read_bytes()
    fields = json.loads(content.partition(b"\n")[0])
    for changes in (
        {"format": "intramural-site-copy/2", "program": "9.9.9"},
        {"store_version": count_versions() + 1, "program": "9.9.9"},
    ):
        copy.write_bytes(json.dumps({**fields, **changes}).encode() + b"\n")
        refuse(copy, tmp_path, keys, r"newer version of intramural \(9\.9\.9\)")


def forge(
    site: Site, copy: Path, contents: Sequence[tuple[dict[str, Any], bytes]], **end: Any
) -> None:
    """Write a copy as somebody could who has the site's data key, and is no friend of whoever restores it."""
    header = read_header(copy)
    line = header.encode()
    key = derive_copy_key(read_data_key(site.keys / "data.key"), header.salt)
    with copy.open("wb") as file:
        file.write(line)
        writer = SealedWriter(file, key, line)
        for fields, content in contents:
            named = {"size": len(content), "mode": 0o600, "mtime_ns": 0, **fields}
            digest = named.pop("digest", hashlib.sha256(content).hexdigest())
            writer.write(json.dumps(named).encode() + b"\n" + content)
            writer.write(json.dumps({"sha256": digest}).encode() + b"\n")
        fields = {"end": True, "members": len(contents), "left_out": [], **end}
        writer.write(json.dumps(fields).encode() + b"\n")
        writer.finish()


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/tmp/evil",
        "data/../../evil",
        "keys/data.key",
        "keys",
        "./keys/data.key",
        "data//evil",
        "data/./evil",
        "data/evil/",
        "",
        ".",
        "..",
        "a\0b",
        7,
        None,
        "n" * 5000,
    ],
)
def test_a_member_that_would_be_written_elsewhere_is_refused(
    site: Site, copy: Path, tmp_path: Path, keys: dict[str, bytes], name: object
):
    store = (site.directory / "store/site.sqlite3").read_bytes()
    forge(site, copy, [({"name": name}, b"evil"), ({"name": "store/site.sqlite3"}, store)])
    refuse(copy, tmp_path, keys, "damaged")
    assert not (tmp_path / "evil").exists()
    assert not Path("/tmp/evil").exists()


@pytest.mark.parametrize(
    "forged",
    [
        lambda store: [({"name": "site.yaml"}, b"site_name: x\n")],
        lambda store: [store, store],
        lambda store: [({"name": "data"}, b""), ({"name": "data/file"}, b""), store],
        lambda store: [store, ({"name": "site.yaml", "digest": "00" * 32}, b"x")],
        lambda store: [store, ({"name": "site.yaml", "size": 2}, b"x")],
        lambda store: [store, ({"name": "site.yaml", "size": -1}, b"x")],
        lambda store: [store, ({"name": "site.yaml", "size": "1"}, b"x")],
        lambda store: [store, ({"name": "site.yaml", "mode": None}, b"x")],
    ],
    ids=["no store", "twice", "file as folder", "digest", "short", "negative", "text", "mode"],
)
def test_a_forged_copy_is_refused(
    site: Site,
    copy: Path,
    tmp_path: Path,
    keys: dict[str, bytes],
    forged: Callable[[Any], list[Any]],
):
    store = ({"name": "store/site.sqlite3"}, (site.directory / "store/site.sqlite3").read_bytes())
    forge(site, copy, forged(store))
    with pytest.raises(AgentError):
        restore_copy(copy, tmp_path / "restored", keys)
    assert not (tmp_path / "restored").exists()


def test_a_copy_with_fewer_files_than_it_says_is_refused(
    site: Site, copy: Path, tmp_path: Path, keys: dict[str, bytes]
):
    store = ({"name": "store/site.sqlite3"}, (site.directory / "store/site.sqlite3").read_bytes())
    forge(site, copy, [store], members=2)
    refuse(copy, tmp_path, keys, "files are missing")


def test_modes_of_a_forged_copy_open_nothing_to_others(
    site: Site, copy: Path, tmp_path: Path, keys: dict[str, bytes]
):
    with sqlite3.connect(site.directory / "store/site.sqlite3") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    members = [
        (
            {"name": "store/site.sqlite3", "mode": 0o777},
            (site.directory / "store/site.sqlite3").read_bytes(),
        ),
        ({"name": "site.yaml", "mode": 0o6777}, (site.directory / "site.yaml").read_bytes()),
    ]
    forge(site, copy, members)
    old = os.umask(0)
    try:
        restored = restore_copy(copy, tmp_path / "restored", keys).site.directory
    finally:
        os.umask(old)
    assert restored.stat().st_mode & 0o7777 == 0o700
    for path in restored.rglob("*"):
        assert path.stat().st_mode & 0o7077 == 0, path


def test_a_directory_with_something_in_it_is_left_alone(
    copy: Path, tmp_path: Path, keys: dict[str, bytes]
):
    (tmp_path / "restored").mkdir()
    (tmp_path / "restored" / "mine").write_text("mine")
    with pytest.raises(ConfigError, match="is not empty"):
        restore_copy(copy, tmp_path / "restored", keys)
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="is not empty"):
        restore_copy(copy, tmp_path / "link", keys)
    assert (tmp_path / "restored" / "mine").read_text() == "mine"
    assert restore_copy(copy, tmp_path / "empty", keys).files > 5


def test_two_restores_to_one_directory_do_not_mix(
    copy: Path, tmp_path: Path, keys: dict[str, bytes]
):
    import fcntl

    growing = tmp_path / ".restored.restoring"
    growing.mkdir()
    handle = os.open(growing, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        with pytest.raises(ConfigError, match="another command is restoring"):
            restore_copy(copy, tmp_path / "restored", keys)
    finally:
        os.close(handle)
    (growing / "left by a killed command").mkdir()
    restored = restore_copy(copy, tmp_path / "restored", keys).site.directory
    assert not (restored / "left by a killed command").exists()


def test_a_folder_that_does_not_exist_is_named(copy: Path, tmp_path: Path, keys: dict[str, bytes]):
    with pytest.raises(ConfigError, match="there is no folder"):
        restore_copy(copy, tmp_path / "no such folder" / "restored", keys)


def test_a_full_disk_leaves_nothing_and_says_what_to_do(site: Site, copy: Path, tmp_path: Path):
    script = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from agent.backup.restore import read_keys_folder, restore_copy; from agent.errors import AgentError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]),) * 2)\n"
        "try:\n    restore_copy(Path(sys.argv[1]), Path(sys.argv[2]), read_keys_folder(Path(sys.argv[3])))\n"
        "except AgentError as error: print(type(error).__name__, error, error.advice)\n"
    )
    store_size = (site.directory / "store/site.sqlite3").stat().st_size
    for limit in (1_000_000, store_size + 100):
        said = subprocess.check_output(
            [sys.executable, "-c", script, copy, tmp_path / "restored", site.keys, str(limit)],
            text=True,
            cwd=Path(__file__).parents[3],
        )
        assert said.startswith("ConfigError"), said
        assert "is full" in said
        assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "site"]


def test_sessions_of_the_copy_do_not_come_back(site: Site, tmp_path: Path, keys: dict[str, bytes]):
    with site.store() as store:
        account = store.accounts.add("anna", [], store.clock.read().now)
        store.sessions.add("secret", account.account_id, store.clock.read().now)
    write_copy(site, tmp_path / "copy", passphrase=None)
    restored = restore_copy(tmp_path / "copy", tmp_path / "restored", keys)
    assert restored.ended_sessions == 1
    with restored.site.store() as store:
        assert store.sessions.find("secret") is None


def test_a_changed_audit_log_is_restored_as_evidence(
    site: Site, tmp_path: Path, keys: dict[str, bytes]
):
    with sqlite3.connect(site.directory / "store/site.sqlite3") as connection:
        connection.execute("UPDATE audit_events SET record = replace(record, 'site', 'sight')")
    write_copy(site, tmp_path / "copy", passphrase=None)
    restored = restore_copy(tmp_path / "copy", tmp_path / "restored", keys).site
    with restored.store() as store, pytest.raises(StoreError, match="event 1 was changed"):
        store.audit.read_events()


def test_a_damaged_store_is_neither_copied_nor_restored(
    site: Site, copy: Path, tmp_path: Path, keys: dict[str, bytes]
):
    path = site.directory / "store/site.sqlite3"
    damaged = bytearray(path.read_bytes())
    for page in range(2, len(damaged) // 4096):
        damaged[page * 4096 : page * 4096 + 64] = bytes(64)
    forge(site, copy, [({"name": "store/site.sqlite3"}, bytes(damaged))])
    with pytest.raises(StoreError):
        restore_copy(copy, tmp_path / "restored", keys)
    path.write_bytes(bytes(damaged))
    with pytest.raises(StoreError):
        write_copy(site, tmp_path / "another", passphrase=None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "site"]


def test_the_first_line_of_a_copy_says_its_age_to_everyone(site: Site, copy: Path):
    header = parse_header(copy.read_bytes().partition(b"\n")[0] + b"\n")
    assert isinstance(header, CopyHeader)
    with site.store() as store:
        assert abs(store.clock.read().now - header.made_at) < 600
