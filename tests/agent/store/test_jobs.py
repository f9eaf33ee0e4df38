"""The queue's rows: the states of a job, its place, and what a late or repeated change does."""

from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.store import Job, JobProgress, JobState, QueuedCommand, Store
from tests.agent.store.begun_runs import CANARY

PROGRESS = JobProgress("medcalc  m", "asking", 3, 1, 10, 2.5, "about 7 s left", 102.0, unscored=1)


def command(name: str = "a") -> QueuedCommand:
    return QueuedCommand(
        ("run", "--run-entries", name), f"run of {name}", "ada", ("http://one/v1",)
    )


def find(store: Store, job: Job) -> Job:
    row = store.jobs.find(job.job_id)
    assert row is not None
    return row


def test_a_job_is_read_as_it_was_queued(store: Store):
    job = store.jobs.add(command(), now=100.0)
    assert find(store, job) == job
    assert (job.arguments, job.title, job.account) == (command().arguments, "run of a", "ada")
    assert (job.servers, job.state, job.attempts) == (("http://one/v1",), JobState.QUEUED, 0)
    assert store.jobs.find("0" * 16) is None


def test_a_run_reports_and_ends_once(store: Store):
    job = store.jobs.add(command(), now=100.0)
    assert store.jobs.begin(job.job_id, now=101.0)
    assert not store.jobs.begin(job.job_id, now=101.5)  # a second worker
    store.jobs.report(job.job_id, PROGRESS)
    assert store.jobs.end(job.job_id, 9, now=103.0, problem="some instances failed")
    assert not store.jobs.end(job.job_id, 0, now=104.0)
    store.jobs.report(job.job_id, JobProgress("late", "asking", 9, 0, 9, 1.0, "", 105.0))
    ended = find(store, job)
    assert (ended.state, ended.exit_code, ended.ended_at) == (JobState.FAILED, 9, 103.0)
    assert (ended.problem, ended.progress) == ("some instances failed", PROGRESS)
    assert store.jobs.list_open() == []
    assert store.jobs.list_recent(5) == [ended]


def test_a_clean_stop_keeps_the_place_and_counts_no_attempt(store: Store):
    first, second = (store.jobs.add(command(name), now=100.0) for name in "ab")
    store.jobs.begin(first.job_id, now=101.0)
    store.jobs.report(first.job_id, PROGRESS)
    store.jobs.stop(first.job_id, now=102.0)
    assert find(store, first).progress is None
    assert [job.job_id for job in store.jobs.list_open()] == [first.job_id, second.job_id]
    assert (find(store, first).state, find(store, first).attempts) == (JobState.QUEUED, 0)


def test_a_lost_worker_costs_an_attempt_and_the_last_one_fails_the_job(store: Store):
    job = store.jobs.add(command(), now=100.0)
    for attempt in (1, 2):
        store.jobs.begin(job.job_id, now=101.0)
        store.jobs.recover(job.job_id, now=102.0, max_attempts=3, problem="it vanished")
        assert (find(store, job).state, find(store, job).attempts) == (JobState.QUEUED, attempt)
    store.jobs.begin(job.job_id, now=103.0)
    store.jobs.recover(job.job_id, now=104.0, max_attempts=3, problem="it vanished")
    ended = find(store, job)
    assert (ended.state, ended.exit_code, ended.problem) == (JobState.FAILED, None, "it vanished")


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_cancelled_run_is_never_queued_again(store: Store, is_lost: bool):
    job = store.jobs.add(command(), now=100.0)
    store.jobs.begin(job.job_id, now=101.0)
    assert store.jobs.cancel(job.job_id, now=102.0)
    assert find(store, job).state is JobState.CANCELLING
    if is_lost:
        store.jobs.recover(job.job_id, now=103.0, max_attempts=3, problem="it vanished")
    else:
        store.jobs.stop(job.job_id, now=103.0)
    assert (find(store, job).state, find(store, job).ended_at) == (JobState.CANCELLED, 103.0)
    assert not store.jobs.cancel(job.job_id, now=104.0)


def test_a_queued_job_is_cancelled_at_once(store: Store):
    job = store.jobs.add(command(), now=100.0)
    assert store.jobs.cancel(job.job_id, now=101.0)
    assert find(store, job).state is JobState.CANCELLED
    assert not store.jobs.begin(job.job_id, now=102.0)


def test_a_queued_job_moves_before_another_and_to_the_end(store: Store):
    first, second, third = (store.jobs.add(command(name), now=100.0) for name in "abc")

    def names() -> list[str]:
        return [job.arguments[-1] for job in store.jobs.list_open()]

    assert store.jobs.move(third.job_id, before=first.job_id)
    assert names() == ["c", "a", "b"]
    assert store.jobs.move(first.job_id, before=None)
    assert names() == ["c", "b", "a"]
    store.jobs.begin(third.job_id, now=101.0)
    assert not store.jobs.move(second.job_id, before=third.job_id)
    assert not store.jobs.move(third.job_id, before=None)
    assert names() == ["c", "b", "a"]


def test_a_job_that_was_added_later_comes_later_even_after_deletions(store: Store):
    first = store.jobs.add(command("a"), now=100.0)
    store.jobs.cancel(first.job_id, now=100.0)
    second = store.jobs.add(command("b"), now=90.0)  # the clock was set back
    assert store.jobs.delete_ended(before=101.0) == [first.job_id]
    third = store.jobs.add(command("c"), now=91.0)
    assert [job.job_id for job in store.jobs.list_open()] == [second.job_id, third.job_id]


def test_a_schedule_queues_one_job_for_a_time_although_two_services_find_it_due(store: Store):
    schedule = store.jobs.add_schedule("0 3 * * *", command(), now=100.0)
    assert store.jobs.list_schedules() == [schedule]
    job = store.jobs.queue_due(schedule, until=200.0, now=201.0)
    assert job is not None
    assert job.schedule_id == schedule.schedule_id
    assert store.jobs.queue_due(schedule, until=200.0, now=201.0) is None
    assert len(store.jobs.list_open()) == 1


def test_a_time_is_passed_over_while_the_schedules_last_job_is_open(store: Store):
    schedule = store.jobs.add_schedule("0 3 * * *", command(), now=100.0)
    job = store.jobs.queue_due(schedule, until=200.0, now=201.0)
    assert job is not None
    assert store.jobs.queue_due(schedule, until=300.0, now=301.0) is None
    store.jobs.cancel(job.job_id, now=302.0)
    assert store.jobs.queue_due(schedule, until=300.0, now=303.0) is None
    assert store.jobs.queue_due(schedule, until=400.0, now=401.0) is not None
    assert store.jobs.list_schedules()[0].considered_until == 400.0
    assert store.jobs.remove_schedule(schedule.schedule_id)
    assert not store.jobs.remove_schedule(schedule.schedule_id)


def test_a_file_that_a_command_line_names_is_sealed(store: Store, path: Path):
    store.jobs.add(QueuedCommand(("run", "-c", CANARY), CANARY, CANARY, (CANARY,)), now=100.0)
    store.jobs.add_schedule(
        "0 3 * * *", QueuedCommand(("run", CANARY), CANARY, CANARY, (CANARY,)), now=100
    )
    store.close()
    assert CANARY.encode() not in path.read_bytes()


def test_a_row_copied_to_another_job_does_not_open(store: Store):
    first, second = (store.jobs.add(command(name), now=100.0) for name in "ab")
    connection = store.database.connection
    connection.execute(
        "UPDATE jobs SET sealed = (SELECT sealed FROM jobs WHERE job_id = ?) WHERE job_id = ?",
        (first.job_id, second.job_id),
    )
    with pytest.raises(StoreError, match="cannot be decrypted"):
        store.jobs.list_open()
