"""The owner of a run deletes it: nothing of its texts stays in the store's files, and nothing of others goes."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent.errors import ConfigError, StoreError
from agent.review.sample import ReviewSampling, make_review
from agent.runs.delete_run import delete_run
from agent.runs.privacy import unshare_run
from agent.site.directory import Site
from agent.store import QueuedCommand, Run, Store
from tests.agent.service.filled_site import MODEL, FilledSite, case, filled_site
from tests.agent.service.judged import add_judged, verdict

OTHER = "pubmed_qa:model=other/model"
_HAS_RUN = "SELECT name FROM pragma_table_info(?) WHERE name = 'run_id'"
_SEALED = ("answers", "records", "judgements", "subgroups", "findings", "reviewed_texts")


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    return filled_site(tmp_path)


@pytest.fixture
def store(filled: FilledSite) -> Iterator[Store]:
    with filled.site.store() as store:
        yield store


def get_run(store: Store, run_id: str) -> Run:
    run = store.runs.find(run_id)
    assert run is not None
    return run


def read_files(site: Site) -> bytes:
    """Return every byte of the store's files."""
    folder = site.directory / "store"
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.sqlite3*")))


def list_sealed(store: Store) -> set[bytes]:
    """Return the sealed texts in the store, each without its ends, which a page of the file may cut."""
    rows: set[bytes] = set()
    for table in _SEALED:
        for (sealed,) in store.database.connection.execute(f"SELECT sealed FROM {table}"):
            if sealed is not None:
                rows.add(sealed)
    return rows


def count_rows(store: Store) -> dict[str, int]:
    """Return the number of rows about runs, by table."""
    connection = store.database.connection
    tables = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    about = [name for name in tables if connection.execute(_HAS_RUN, (name,)).fetchone()]
    counted = [*about, "answers", "records", "judgements"]
    query = "SELECT COUNT(*) FROM {}"
    return {name: connection.execute(query.format(name)).fetchone()[0] for name in counted}


def add_judged_run(filled: FilledSite) -> str:
    cases = [
        case(number, prompt=f"Deleted question {number}?" * 40, answer="gone " * 50)
        for number in range(3)
    ]
    return add_judged(filled, cases, {number: [[verdict()]] * 3 for number in range(3)})


def test_no_byte_of_its_sealed_texts_is_left_in_the_store(filled: FilledSite, store: Store) -> None:
    """With a second connection open, as the service has, and after the run was asked with another plan before."""
    before = list_sealed(store)
    run_id = filled.add([case(number, prompt=f"Earlier {number}? " * 30) for number in range(5)])
    filled.add([case(number, prompt=f"Later {number}? " * 30) for number in range(5)])
    judged = add_judged_run(filled)
    sealed = list_sealed(store) - before
    assert len(sealed) > 20
    content = read_files(filled.site)
    assert all(text[20:-20] in content for text in sealed if len(text) < 1000)
    with filled.site.store():
        for each in (run_id, judged):
            delete_run(filled.site, store, get_run(store, each))
        content = read_files(filled.site)
    assert not any(text[20:60] in content for text in sealed)
    assert set(count_rows(store).values()) == {0}


def test_every_table_loses_its_rows_of_the_run_and_no_other(
    filled: FilledSite, store: Store
) -> None:
    filled.add([case(0), case(1)], entry=OTHER)
    kept = count_rows(store)
    run_id = add_judged_run(filled)
    assert count_rows(store) != kept
    counted = store.count_run(run_id)
    content = delete_run(filled.site, store, get_run(store, run_id))
    assert counted == content
    assert (content.instances, content.answers, content.records) == (3, 3, 3)
    assert (content.verdicts, content.judgements, content.shared) == (9, 9, 0)
    assert count_rows(store) == kept


def test_texts_that_another_run_has_too_stay(filled: FilledSite, store: Store) -> None:
    run_id = filled.add([case(0), case(1), case(2)])
    other = filled.add([case(1), case(2), case(3)], suite="december")
    content = delete_run(filled.site, store, get_run(store, run_id))
    # The questions of both are shared, and so are the answers, because both asked the same deployment.
    assert (content.records, content.answers, content.shared) == (1, 1, 4)
    for stored in store.answers.read_each_instance(other):
        assert stored.instance is not None
        assert stored.response is not None


def test_a_sample_for_review_loses_its_copies_of_the_run_alone(
    filled: FilledSite, store: Store
) -> None:
    long = "of the patient in this long question"
    shared = [case(number, prompt=f"Shared {number} {long}?") for number in range(3)]
    own = [case(number, prompt=f"Own {number} {long}?") for number in range(3, 6)]
    run_id = filled.add([*shared, *own])
    filled.add(shared, entry=OTHER)
    make_review(filled.site, ReviewSampling("first", "november", 100, 1))
    # A new plan under the same name: the copies of the earlier one are of this run as well.
    filled.add([*shared, *own[:1]])
    delete_run(filled.site, store, get_run(store, run_id))
    texts = [text.content["text"] for text in store.reviews.read_texts("first") if text.content]
    assert {text[:6] for text in texts} == {"Shared"}
    assert sum(state.purged for state in store.reviews.read_states("first")) == 3


def test_a_run_that_becomes_private_leaves_the_samples(filled: FilledSite, store: Store) -> None:
    run_id = filled.add([case(0, prompt="A question that is long enough to be read?")])
    make_review(filled.site, ReviewSampling("first", "november", 100, 1))
    unshare_run(filled.site, store, get_run(store, run_id))
    assert [text.content for text in store.reviews.read_texts("first")] == [None]


def test_a_run_at_work_is_not_deleted(filled: FilledSite, store: Store) -> None:
    run_id = filled.add([case(0)])
    run = get_run(store, run_id)
    command = QueuedCommand(("rescore",), "t", "command line", suite="november", whole_suite=True)
    job = store.jobs.add(command, 1.0)
    store.jobs.begin(job.job_id, 2.0)
    with pytest.raises(ConfigError, match=f"job {job.job_id} works on the suite"):
        delete_run(filled.site, store, run)
    store.jobs.end(job.job_id, 0, 3.0)
    with (
        filled.site.store() as other,
        other.runs.lock(run_id),
        pytest.raises(StoreError, match="another process is working on this run"),
    ):
        delete_run(filled.site, store, run)
    delete_run(filled.site, store, run)
    with pytest.raises(ConfigError, match="deleted already"):
        delete_run(filled.site, store, run)


def test_a_run_that_begins_meanwhile_keeps_its_questions(filled: FilledSite, store: Store) -> None:
    """It stores its questions before it has any: just then, they look as if no run had them."""
    run_id = filled.add([case(0), case(1)])
    run = get_run(store, run_id)
    refusals: list[str] = []

    def interrupt(number: int) -> int:
        if number == 1:
            with pytest.raises(StoreError) as refused:
                delete_run(filled.site, store, run)
            refusals.append(str(refused.value))
        return number

    with filled.site.store() as other:
        planned = ((case(interrupt(number)).instance, bytes([number]) * 32) for number in range(2))
        begun = other.runs.begin(
            suite="december", name="b:model=m", benchmark="b", lineage="l", model="m", deployment="d",
            details=run.details, planned=planned, scored_by=("exact_match",),
        )  # fmt: skip
    assert refusals == ["a run is just beginning"]
    delete_run(filled.site, store, run)
    assert all(stored.instance for stored in store.answers.read_each_instance(begun))


def test_a_private_run_of_somebody_else_at_work_in_the_same_suite_is_no_obstacle(
    filled: FilledSite, store: Store
) -> None:
    """A refusal would tell that there is one."""
    run_id = filled.add([case(0)])
    command = QueuedCommand(("run",), "t", "a" * 16, suite="november", private=True)
    job = store.jobs.add(command, 1.0)
    store.jobs.begin(job.job_id, 2.0)
    delete_run(filled.site, store, get_run(store, run_id))


def test_traces_that_a_reader_kept_alive_are_told_and_purged_later(
    filled: FilledSite, store: Store
) -> None:
    run_id = filled.add([case(0, answer="a unique answer " * 20)])
    (sealed,) = store.database.connection.execute("SELECT sealed FROM answers").fetchone()
    store.database.connection.execute("PRAGMA busy_timeout=200")
    path = filled.site.directory / "store" / "site.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM answers").fetchone()
        with pytest.raises(StoreError, match="traces of its encrypted texts may remain"):
            delete_run(filled.site, store, get_run(store, run_id))
        reader.execute("ROLLBACK")
    assert store.runs.find(run_id) is None
    assert sealed[20:60] in read_files(filled.site)
    store.purge(36_500)
    assert sealed[20:60] not in read_files(filled.site)


def test_the_audit_log_tells_who_deleted_what(filled: FilledSite, store: Store) -> None:
    run_id = filled.add([case(0), case(1)])
    delete_run(filled.site, store, get_run(store, run_id), by="ab12")
    event = store.audit.read_events()[-1]
    assert event.event == "run deleted"
    assert event.detail == f"run={run_id} instances=2 texts=4 submissions=- account=ab12"
    assert MODEL not in event.detail


def test_a_deleted_run_can_be_made_again(filled: FilledSite, store: Store) -> None:
    run_id = filled.add([case(0)])
    delete_run(filled.site, store, get_run(store, run_id))
    assert filled.add([case(0)]) == run_id
    assert store.answers.count_instances(run_id) == 1


def test_the_locks_stay_readable_by_the_site_alone(filled: FilledSite, store: Store) -> None:
    delete_run(filled.site, store, get_run(store, filled.add([case(0)])))
    folder = filled.site.directory / "store"
    modes = {path.name: path.stat().st_mode & 0o077 for path in folder.iterdir()}
    assert set(modes.values()) == {0}
    assert "beginnings.lock" in modes
