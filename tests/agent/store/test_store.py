"""The encrypted store: what an intruder, a crash or a second process does to it."""

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
from agent.store import KeptMetric, RunDetails, RunScore, Store, Usage, Vault
from agent.vocabulary import Instance, Message, Reason, Reference, Response, Unscored

CANARY = "Zebulon Quackenbush-7731"
KEY = bytes(range(32))
AUDIT_KEY = bytes(range(32))


def instance(number: int, text: str = CANARY) -> Instance:
    return Instance(
        f"{text} id {number}",
        f"{text} unit {number // 2}",
        (Message("user", f"{text} prompt {number}"),),
        (Reference(f"{text} gold", correct=True),),
        extra={"limit": text},
    )


def response(text: str = CANARY) -> Response:
    return Response(text, f"{text} thought", "stop", 10, 2, 0.1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "site.sqlite3"


@pytest.fixture
def store(path: Path):
    store = Store(path, Vault(KEY), AUDIT_KEY)
    yield store
    store.close()


def begin(store: Store, count: int = 4, scored_by: tuple[str, ...] = ("exact_match",)) -> tuple[str, list[bytes]]:
    keys = [store.identities.request_key("local/m", f"request {i}".encode()) for i in range(count)]
    run_id = store.runs.begin(
        suite="s",
        name="b:model=m",
        benchmark="b",
        lineage="l",
        model="m",
        deployment="local/m",
        details=RunDetails(),
        planned=[(instance(i), key) for i, key in enumerate(keys)],
        scored_by=scored_by,
    )
    return run_id, keys


def test_no_text_reaches_the_file_its_journal_or_a_temporary_file(store: Store, path: Path):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(key, response()) for key in keys], [(i, "exact_match", 1.0) for i in range(4)])
    files = list(path.parent.iterdir())
    assert any(file.name.endswith("-wal") for file in files)
    for file in files:
        data = file.read_bytes()
        for part in CANARY.split():
            assert part.encode() not in data, file.name
        assert file.stat().st_mode & 0o077 == 0, file.name


def test_what_was_sealed_comes_back(store: Store):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(keys[1], response("the answer"))], [(1, "exact_match", 0.0)])
    page = store.answers.read_instances(run_id, 1, 2)
    assert page[0].instance == instance(1)
    assert page[0].response == response("the answer")
    assert page[0].scores == {"exact_match": 0.0}
    assert page[1].response is None
    assert store.answers.find(keys[1]) == response("the answer")
    assert store.answers.find(keys[2]) is None


def test_an_answer_moved_to_another_request_does_not_open(store: Store, path: Path):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(keys[0], response("one")), (keys[1], response("two"))], [])
    other = sqlite3.connect(path)
    (sealed,) = other.execute("SELECT sealed FROM answers WHERE request_key = ?", (keys[0],)).fetchone()
    other.execute("UPDATE answers SET sealed = ? WHERE request_key = ?", (sealed, keys[1]))
    other.commit()
    other.close()
    assert store.answers.find(keys[0]) == response("one")
    with pytest.raises(StoreError, match="does not open"):
        store.answers.find(keys[1])


def test_another_sites_key_opens_nothing(store: Store, path: Path):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(keys[0], response())], [])
    assert not Vault(bytes(32)).opens(b"answer\0" + keys[0], store.database.vault.seal(b"answer\0" + keys[0], b"text"))


def test_a_wrong_data_key_is_refused_before_anything_is_written_under_it(store: Store, path: Path):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(keys[0], response())], [])
    store.audit.record("site created", "")
    store.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not the one that this store was made with"):
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
    path.parent.mkdir()
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


def test_the_same_plan_again_keeps_scores_and_another_starts_over(store: Store):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(keys[0], response())], [(0, "exact_match", 1.0)])
    assert begin(store)[0] == run_id
    assert store.answers.read_settled_positions(run_id) == {0}
    begin(store, scored_by=("rouge_l",))
    assert store.answers.read_settled_positions(run_id) == set()
    assert store.answers.find(keys[0]) is not None  # the answer still fits


def test_only_failures_of_the_server_are_asked_again(store: Store):
    run_id, _ = begin(store)
    rows = [
        (0, "exact_match", Unscored(Reason.TIMEOUT)),
        (1, "exact_match", Unscored(Reason.UNPARSED)),
        (2, "exact_match", Unscored(Reason.LENGTH)),
        (3, "exact_match", 0.0),
    ]
    store.answers.settle(run_id, [], rows)
    assert store.answers.read_settled_positions(run_id) == {1, 2, 3}


def test_instances_not_settled_count_as_not_asked(store: Store):
    run_id, _ = begin(store)
    store.answers.settle(run_id, [], [(0, "exact_match", 1.0)])
    scores = store.scores.read_units(run_id, "exact_match")
    assert [(s.value, s.reason) for s in scores] == [(1.0, None)] + [(None, "not_asked")] * 3
    assert len({s.unit_key for s in scores}) == 2
    assert len({s.instance_key for s in scores}) == 4


def test_purge_removes_texts_and_keeps_scores(store: Store, path: Path):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(key, response()) for key in keys], [(i, "exact_match", 1.0) for i in range(4)])
    assert store.purge(30) == 0
    assert store.purge(30, now=time.time() + 30 * 86_400 - 60) == 0
    assert store.purge(30, now=time.time() + 30 * 86_400 + 60) == 8
    assert [stored.instance for stored in store.answers.read_instances(run_id, 0, 10)] == [None] * 4
    assert len([s for s in store.scores.read_units(run_id, "exact_match") if s.value == 1.0]) == 4
    assert store.answers.read_settled_positions(run_id) == {0, 1, 2, 3}


def test_purging_everything_today_means_everything(store: Store):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(key, response()) for key in keys], [])
    assert store.purge(0) == 8
    assert store.answers.find(keys[0]) is None


def test_purged_texts_are_not_even_left_sealed_in_a_file(store: Store, path: Path):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(key, response("x" * 500)) for key in keys], [(0, "exact_match", 1.0)])
    other = sqlite3.connect(path)
    sealed = [blob for (blob,) in other.execute("SELECT sealed FROM answers UNION ALL SELECT sealed FROM records")]
    other.close()

    def found() -> int:
        files = [file.read_bytes() for file in path.parent.iterdir()]
        return sum(blob[12:60] in data for blob in sealed for data in files)

    assert found() >= len(sealed) == 8
    store.purge(0)
    assert found() == 0


def test_one_patient_has_one_key_in_all_benchmarks_of_a_lineage(store: Store):
    assert store.identities.unit_key("site", "MRN 7") == store.identities.unit_key("site", "MRN 7")
    assert (
        len(
            {
                store.identities.unit_key("site", "MRN 7"),
                store.identities.unit_key("site", "MRN 8"),
                store.identities.unit_key("mimic", "MRN 7"),
            }
        )
        == 3
    )


def test_instances_that_a_smaller_run_would_lose_are_counted(store: Store):
    run_id, _ = begin(store)
    store.answers.settle(run_id, [], [(i, "exact_match", 1.0) for i in range(3)])
    ids = [instance(i).id for i in range(4)]
    assert store.runs.count_left_out(run_id, "b", ids) == 0
    assert store.runs.count_left_out(run_id, "b", ids[:1]) == 2
    assert store.runs.count_left_out(run_id, "b", []) == 3


def test_a_full_disk_is_said_plainly(tmp_path: Path):
    script = (
        "import resource, signal; from pathlib import Path; from agent.store import Store, Vault\n"
        "from agent.errors import StoreError; from tests.agent.store.test_store import begin, response\n"
        f"s = Store(Path({str(tmp_path / 'x' / 's.sqlite3')!r}), Vault(bytes(range(32))), bytes(range(32)))\n"
        "run_id, keys = begin(s)\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (200_000,) * 2)\n"
        "try:\n"
        "    s.answers.settle(run_id, [(bytes([i]) * 32, response('x' * 10_000)) for i in range(100)], [])\n"
        "except StoreError as e: print(e, e.advice)\n"
        "print(s.answers.find(keys[0]), s.answers.read_settled_positions(run_id))\n"
    )
    said = subprocess.check_output([sys.executable, "-c", script], text=True, cwd=Path(__file__).parents[3])
    assert "the store cannot be written (SQLITE_" in said
    assert "The disk is full" in said
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
    said = subprocess.check_output([sys.executable, "-c", script], text=True, cwd=Path(__file__).parents[3])
    assert said.startswith("the store cannot be opened (SQLITE_")
    assert "The disk is full" in said
    assert "back-up" not in said


def test_two_processes_never_work_on_one_run(store: Store, path: Path):
    run_id = store.identities.run_id("s", "b:model=m")
    script = (
        "import sys; from pathlib import Path; from agent.store import Store, Vault\n"
        "from agent.errors import StoreError\n"
        f"s = Store(Path({str(path)!r}), Vault(bytes(range(32))), bytes(range(32)))\n"
        "try:\n"
        f"    with s.runs.lock({run_id!r}): print('got it')\n"
        "except StoreError as e: print('refused')\n"
    )
    with store.runs.lock(run_id):
        assert subprocess.check_output([sys.executable, "-c", script], text=True) == "refused\n"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "got it\n"


def test_a_kill_in_the_middle_of_writing_leaves_whole_transactions(path: Path):
    script = (
        "import os, signal; from pathlib import Path; from agent.store import Store, Vault\n"
        "from tests.agent.store.test_store import begin, response\n"
        f"s = Store(Path({str(path)!r}), Vault(bytes(range(32))), bytes(range(32)))\n"
        "run_id, keys = begin(s)\n"
        "s.answers.settle(run_id, [(keys[0], response())], [(0, 'exact_match', 1.0)])\n"
        "s.database.connection.execute('BEGIN IMMEDIATE')\n"
        "s.database.connection.execute('DELETE FROM scores')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[3], check=False)
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


def test_what_answers_cost_is_summed_once_however_many_instances_share_them(store: Store):
    run_id, keys = begin(store)
    assert store.answers.sum_usage(run_id) == Usage(0, 0, 0, 0, 0, 0, 0, 0.0, 0.0)
    cut = Response("a", "", "stop", 100, 5, 0.5, shortened=30, attempts=3)
    unknown = Response("b", "", "stop", None, 7, 0.25)
    store.answers.settle(run_id, [(keys[0], cut), (keys[1], unknown)], [], asked_seconds=1.5)
    store.answers.settle(run_id, [(keys[2], response())], [], asked_seconds=0.5)
    expected = Usage(3, 110, 14, 1, 5, 1, 30, 0.85, 2.0)
    assert store.answers.sum_usage(run_id) == expected
    # A second run of the same questions shares the answers, and has asked nobody.
    again = store.runs.begin(
        suite="t", name="b:model=m", benchmark="b", lineage="l", model="m", deployment="local/m",
        details=RunDetails(), planned=[(instance(i), keys[0]) for i in range(4)], scored_by=["x"],
    )  # fmt: skip
    assert store.answers.sum_usage(again) == Usage(1, 100, 5, 0, 3, 1, 30, 0.5, 0.0)


def test_time_spent_on_answers_that_a_new_plan_does_not_need_is_not_counted_as_its_own(store: Store):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(keys[0], response())], [], asked_seconds=9.0)
    begin(store, scored_by=("rouge_l",))
    assert store.answers.sum_usage(run_id).asked_seconds == 9.0
    store.runs.begin(
        suite="s", name="b:model=m", benchmark="b", lineage="l", model="m", deployment="local/m",
        details=RunDetails(), planned=[(instance(9), b"k" * 32)], scored_by=["x"],
    )  # fmt: skip
    assert store.answers.sum_usage(run_id) == Usage(0, 0, 0, 0, 0, 0, 0, 0.0, 0.0)


def test_a_store_of_the_first_version_opens_with_its_answers_and_no_guess_of_their_cost(path: Path):
    first = Path("agent/store/migrations/0001_runs.sql").read_text()
    path.parent.mkdir(parents=True)
    path.touch(0o600)
    old = sqlite3.connect(path)
    old.executescript(first + "PRAGMA user_version=1;")
    vault, key = Vault(KEY), b"k" * 32
    sealed = vault.seal(b"answer\0" + key, b'[1,"old answer","","stop",10,2,0.1]')
    old.execute("INSERT INTO answers VALUES (?, ?, 1)", (key, sealed))
    old.execute("INSERT INTO runs VALUES ('r','s','n','b','m','d','{\"metrics\": []}',x'00','ended',1,2)")
    old.execute("INSERT INTO run_instances VALUES ('r', 0, ?, ?, ?, ?)", (key, key, key, key))
    old.commit()
    old.close()
    store = Store(path, vault, AUDIT_KEY)
    assert store.answers.find(key) == Response("old answer", "", "stop", 10, 2, 0.1)
    assert store.answers.sum_usage("r") == Usage(1, 0, 0, 1, 1, 0, 0, 0.0, 0.0)
    assert [run.name for run in store.runs.select()] == ["n"]
    store.close()


def test_only_unsettled_instances_come_back_to_be_asked(store: Store):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(keys[0], response()), (keys[1], response())], [(0, "exact_match", 1.0)])
    store.answers.settle(
        run_id, [], [(2, "exact_match", Unscored(Reason.TIMEOUT)), (3, "exact_match", Unscored(Reason.EMPTY))]
    )
    assert store.answers.find_unsettled(run_id) == [(1, keys[1], True), (2, keys[2], False)]
    assert [one.position for one in store.answers.read_each_instance(run_id, [1, 2])] == [1, 2]


def test_a_metric_of_the_whole_run_settles_instances_and_counts_those_left_out(store: Store):
    run_id, _ = begin(store)
    f1 = "classification_macro_f1"
    labelled = [(0, f1, None), (1, f1, Unscored(Reason.UNPARSED)), (2, f1, Unscored(Reason.TIMEOUT))]
    store.answers.settle(run_id, [], [], labelled)
    assert store.answers.read_settled_positions(run_id) == {0, 1}
    assert store.scores.read_whole_run(run_id, f1) == (None, {"unparsed": 1, "timeout": 1, "not_asked": 1})
    value = RunScore(f1, 0.5, 0.4, 0.6, 1, 1)
    store.runs.end(run_id, [value])
    assert store.scores.read_whole_run(run_id, f1)[0] == value
    assert [one.scores for one in store.answers.read_instances(run_id, 1, 1)] == [{f1: Unscored(Reason.UNPARSED)}]
    begin(store, scored_by=("other",))
    assert store.scores.read_whole_run(run_id, f1) == (None, {"not_asked": 4})


def test_new_scores_take_the_place_of_the_old_at_once_or_not_at_all(store: Store, path: Path):
    run_id, _ = begin(store)
    store.answers.settle(run_id, [], [(i, "exact_match", 1.0) for i in range(4)])
    store.scores.draft(run_id, [(i, "exact_match", 0.0) for i in range(4)], [])
    assert [score.value for score in store.scores.read_units(run_id, "exact_match")] == [1.0] * 4
    store.scores.drop_draft(run_id)
    store.scores.put_draft_in_place(run_id, RunDetails(), b"d", [])
    assert store.answers.read_settled_positions(run_id) == set()  # nothing was drafted
    store.scores.draft(run_id, [(0, "rouge_l", 0.5)], [])
    details = RunDetails(metrics=(KeptMetric(name="x"),))
    store.scores.put_draft_in_place(run_id, details, b"e", [])
    assert store.answers.read_settled_positions(run_id) == {0}
    assert store.runs.holds_plan(run_id, b"e")
    found = store.runs.find(run_id)
    assert found is not None
    assert found.details == details


def test_an_old_store_is_opened_by_several_commands_at_once(path: Path):
    """As by the service and a command after an upgrade: whoever waits finds the tables up to date."""
    scripts = sorted(Path("agent/store/migrations").glob("*.sql"))
    path.parent.mkdir(parents=True)
    path.touch(0o600)
    first = sqlite3.connect(path, isolation_level=None)
    first.execute("PRAGMA journal_mode=WAL")
    first.executescript(
        "".join(script.read_text() for script in scripts[:-1]) + f"PRAGMA user_version={len(scripts) - 1};"
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
