"""The store's file: what an intruder, a crash, a full disk or a second process does to it."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.store import Store, Usage, Vault
from agent.vocabulary import Response
from tests.agent.store.begun_runs import AUDIT_KEY, KEY, begin, response


def test_a_wrong_data_key_is_refused_before_anything_is_written_under_it(store: Store, path: Path):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(keys[0], response())], [])
    store.audit.record("site created", "")
    store.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not the one that this store was created with"):
        Store(path, Vault(bytes(32)), AUDIT_KEY)
    assert path.read_bytes() == before
    again = Store(path, Vault(KEY), AUDIT_KEY)
    assert again.answers.find(keys[0]) == response()
    assert len(again.audit.read_events()) == 1
    again.close()


def test_a_store_that_others_can_read_is_refused(store: Store, path: Path):
    store.close()
    path.chmod(0o640)
    with pytest.raises(StoreError, match="other accounts"):
        Store(path, Vault(KEY), AUDIT_KEY)


def test_a_damaged_file_is_named_as_such(path: Path):
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"not a database" * 100)
    path.chmod(0o600)
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(path, Vault(KEY), AUDIT_KEY)


def test_a_store_of_a_newer_version_is_left_alone(store: Store, path: Path):
    store.close()
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version=999")
    other.close()
    with pytest.raises(StoreError, match="newer version"):
        Store(path, Vault(KEY), AUDIT_KEY)


def test_a_full_disk_is_said_plainly(tmp_path: Path):
    script = (
        "import resource, signal; from pathlib import Path; from agent.store import Store, Vault\n"
        "from agent.errors import StoreError; from tests.agent.store.begun_runs import begin, response\n"
        f"s = Store(Path({str(tmp_path / 'x' / 's.sqlite3')!r}), Vault(bytes(range(32))), bytes(range(32)))\n"
        "run_id, keys = begin(s)\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (200_000,) * 2)\n"
        "try:\n"
        "    s.answers.settle(run_id, [(bytes([i]) * 32, response('x' * 10_000)) for i in range(100)], [])\n"
        "except StoreError as e: print(e, e.advice)\n"
        "print(s.answers.find(keys[0]), s.answers.read_settled_positions(run_id))\n"
    )
    said = subprocess.check_output(
        [sys.executable, "-c", script], text=True, cwd=Path(__file__).parents[3]
    )
    assert "the store cannot be written (SQLITE_" in said
    assert "The disk or this account's quota is full" in said
    assert "None set()" in said


def test_a_store_on_a_full_disk_is_not_called_damaged_when_it_is_opened(tmp_path: Path):
    path = tmp_path / "s.sqlite3"
    Store(path, Vault(KEY), AUDIT_KEY).close()
    script = (
        "import resource, signal; from pathlib import Path; from agent.store import Store, Vault\n"
        "from agent.errors import StoreError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1_000,) * 2)\n"
        f"try:\n    Store(Path({str(path)!r}), Vault(bytes(range(32))), bytes(range(32)))\n"
        "except StoreError as e: print(e, e.advice)\n"
    )
    said = subprocess.check_output(
        [sys.executable, "-c", script], text=True, cwd=Path(__file__).parents[3]
    )
    assert said.startswith("the store cannot be opened (SQLITE_")
    assert "The disk or this account's quota is full" in said
    assert "backup" not in said


def test_a_kill_in_the_middle_of_writing_leaves_whole_transactions(path: Path):
    script = (
        "import os, signal; from pathlib import Path; from agent.store import Store, Vault\n"
        "from tests.agent.store.begun_runs import begin, response\n"
        f"s = Store(Path({str(path)!r}), Vault(bytes(range(32))), bytes(range(32)))\n"
        "run_id, keys = begin(s)\n"
        "s.answers.settle(run_id, [(keys[0], response())], [(0, 'exact_match', 1.0)])\n"
        "s.database.connection.execute('BEGIN IMMEDIATE')\n"
        "s.database.connection.execute('DELETE FROM scores')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parents[3], check=False
    )
    assert killed.returncode == -9
    store = Store(path, Vault(KEY), AUDIT_KEY)
    run_id = store.identities.run_id("s", "b:model=m")
    assert store.answers.read_settled_positions(run_id) == {0}
    store.close()


def test_the_files_are_made_for_the_owner_alone_whatever_the_umask(tmp_path: Path):
    old = os.umask(0)
    try:
        store = Store(tmp_path / "s" / "site.sqlite3", Vault(KEY), AUDIT_KEY)
        begin(store)
    finally:
        os.umask(old)
    assert [f.name for f in (tmp_path / "s").iterdir() if f.stat().st_mode & 0o077] == []
    store.close()


def test_a_store_of_the_first_version_opens_with_its_answers_and_no_guess_of_their_cost(path: Path):
    first = Path("agent/store/migrations/0001_runs.sql").read_text()
    path.parent.mkdir(mode=0o700, parents=True)
    path.touch(0o600)
    old = sqlite3.connect(path)
    old.executescript(first + "PRAGMA user_version=1;")
    vault, key = Vault(KEY), b"k" * 32
    sealed = vault.seal(b"answer\0" + key, b'[1,"old answer","","stop",10,2,0.1]')
    old.execute("INSERT INTO answers VALUES (?, ?, 1)", (key, sealed))
    old.execute(
        "INSERT INTO runs VALUES ('r','s','n','b','m','d','{\"metrics\": []}',x'00','ended',1,2)"
    )
    old.execute("INSERT INTO run_instances VALUES ('r', 0, ?, ?, ?, ?)", (key, key, key, key))
    old.commit()
    old.close()
    store = Store(path, vault, AUDIT_KEY)
    assert store.answers.find(key) == Response("old answer", "", "stop", 10, 2, 0.1)
    assert store.answers.sum_usage("r") == Usage(1, 0, 0, 1, 1, 0, 0, 0.0, 0.0)
    assert [run.name for run in store.runs.select()] == ["n"]
    store.close()


def test_an_old_store_is_opened_by_several_commands_at_once(path: Path):
    """As by the service and a command after an upgrade: whoever waits finds the tables up to date."""
    scripts = sorted(Path("agent/store/migrations").glob("*.sql"))
    path.parent.mkdir(mode=0o700, parents=True)
    path.touch(0o600)
    first = sqlite3.connect(path, isolation_level=None)
    first.execute("PRAGMA journal_mode=WAL")
    first.executescript(
        "".join(script.read_text() for script in scripts[:-1])
        + f"PRAGMA user_version={len(scripts) - 1};"
    )
    first.executescript("BEGIN IMMEDIATE;" + scripts[-1].read_text())
    with ThreadPoolExecutor(4) as pool:
        others = [pool.submit(lambda: Store(path, Vault(KEY), AUDIT_KEY).close()) for _ in range(4)]
        time.sleep(0.3)  # they wait for the first to write
        first.execute(f"PRAGMA user_version={len(scripts)}")
        first.execute("COMMIT")
        for other in others:
            other.result(20)
    first.close()
    Store(path, Vault(KEY), AUDIT_KEY).close()


def test_a_new_store_is_made_by_several_commands_at_once(tmp_path: Path):
    with ThreadPoolExecutor(6) as pool:
        for round_ in range(5):
            path, together = tmp_path / f"{round_}" / "store.sqlite", threading.Barrier(6)

            def opened(path: Path = path, together: threading.Barrier = together) -> None:
                together.wait(20)
                Store(path, Vault(KEY), AUDIT_KEY).close()

            for other in [pool.submit(opened) for _ in range(6)]:
                other.result(40)
