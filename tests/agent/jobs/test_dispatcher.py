"""The queue works on: failing commands, schedules, a clock that is set back, a store that cannot be used now."""

import os
import sqlite3
import time
from pathlib import Path

import pytest

from agent.access.accounts import add_account, lock_account, unlock_account
from agent.cli.main import intramural
from agent.jobs.dispatcher import Dispatcher, is_dispatched
from agent.jobs.queue import add_schedule, queue_job
from agent.site.directory import Site, create_site
from agent.store import Job, JobState, Role
from tests.agent.fault_server import FaultServer, Status, always
from tests.agent.jobs.queued_site import MODELS, QueuedSite, wait_for

assert intramural.name  # importing it makes the commands known


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def find(site: Site, job_id: str) -> Job:
    with site.store() as store:
        job = store.jobs.find(job_id)
    assert job is not None
    return job


def wait_until_ended(site: Site, job_id: str) -> Job:
    wait_for(lambda: not find(site, job_id).state.is_open, "the job's end")
    return find(site, job_id)


def test_a_command_that_fails_says_so(queue: QueuedSite):
    with FaultServer(models=MODELS, fault=always(Status(500))) as broken:
        failing = queue.queue(broken.url, MODELS[0])
        wrong = queue.read_id(["rescore", "--suite", "none", "--queue"])
        queue.dispatch()
        queue.wait_until_ended(failing, wrong)
    shown = queue.show(failing)
    assert (shown["state"], shown["exit_code"]) == ("failed", 4)
    assert "the inference server failed" in shown["note"]
    shown = queue.show(wrong)
    assert (shown["state"], shown["exit_code"]) == ("failed", 2)
    assert "a setting, an option or a run entry is wrong" in shown["note"]
    assert "there is no suite none" in queue.log(wrong)
    assert queue.site.intramural("jobs", "watch", wrong).returncode == 2


def test_instances_without_an_answer_fail_the_job_with_the_advice_to_queue_it_again(
    queue: QueuedSite,
):
    from tests.agent.fault_server import containing

    with FaultServer(
        models=MODELS, answer="Yes", fault=containing("Note 7 of an invented", Status(500))
    ) as server:
        with (queue.site.directory / "site.yaml").open("a") as settings:
            settings.write("max_attempts: 1\n")
        job = queue.queue(server.url, MODELS[0])
        queue.dispatch()
        queue.wait_until_ended(job)
    shown = queue.show(job)
    assert (shown["state"], shown["exit_code"]) == ("failed", 9)
    assert "queue the job again: it asks only for these" in shown["note"]


def test_the_files_of_jobs_are_for_the_sites_account_alone(site: Site):
    job = queue_job(site, ("rescore",))
    old = os.umask(0)
    try:
        with Dispatcher(site):
            assert is_dispatched(site)
            wait_until_ended(site, job.job_id)
    finally:
        os.umask(old)
    assert not is_dispatched(site)
    assert site.jobs.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in site.jobs.iterdir() if path.stat().st_mode & 0o077] == []


def test_a_schedule_queues_its_job_once_although_the_clock_is_set_back_an_hour(site: Site):
    schedule = add_schedule(site, "*/5 * * * *", ("rescore",))
    now = [schedule.made_at]
    dispatcher = Dispatcher(site, clock=lambda: now[0])

    def step() -> int:
        """Return the number of jobs that the schedule has queued after another look at it."""
        dispatcher._next_schedules = 0.0
        with site.store() as store:
            dispatcher._queue_due(store)
            jobs = store.jobs.list_open()
            for job in jobs:
                store.jobs.cancel(job.job_id, now[0])
            return len(jobs)

    assert step() == 0
    now[0] += 3000.0  # ten times were passed over while nothing ran
    assert step() == 1
    now[0] -= 3600.0
    assert step() == 0
    now[0] += 3601.0
    assert step() in (0, 1)  # one more if another five minutes are full
    now[0] += 300.0
    assert step() == 1


def test_schedules_of_a_locked_account_rest_until_it_is_unlocked(site: Site):
    with site.store() as store:
        account = add_account(store, "dana", [Role.DATA_SCIENTIST], now=1.0)
    schedule = add_schedule(site, "*/5 * * * *", ("rescore",), account=account.account_id)
    now = [schedule.made_at]
    dispatcher = Dispatcher(site, clock=lambda: now[0])

    def count_queued() -> int:
        dispatcher._next_schedules = 0.0
        with site.store() as store:
            dispatcher._queue_due(store)
            return len(store.jobs.list_open())

    with site.store() as store:
        lock_account(store, account, now[0])
    now[0] += 3000.0
    assert count_queued() == 0
    with site.store() as store:
        unlock_account(store, account)
    assert count_queued() == 1


def test_ended_jobs_and_their_logs_are_deleted_in_time(site: Site):
    job = queue_job(site, ("rescore",))
    with site.store() as store:
        store.jobs.cancel(job.job_id, 1.0)
        site.jobs.mkdir()
        (site.jobs / f"{job.job_id}.log").write_text("old")
        Dispatcher(site)._tidy(store)
        assert store.jobs.find(job.job_id) is None
    assert list(site.jobs.iterdir()) == []


def test_a_store_locked_by_another_process_delays_the_queue_and_loses_nothing(site: Site):
    job = queue_job(site, ("rescore",))
    other = sqlite3.connect(site.directory / "store" / "site.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Dispatcher(site):
        time.sleep(2.5)  # the worker waits for the store
        assert find(site, job.job_id).state is JobState.QUEUED
        other.execute("ROLLBACK")
        other.close()
        assert wait_until_ended(site, job.job_id).exit_code == 2  # there is no suite


def test_a_store_that_is_missing_for_a_while_stops_the_queue_with_a_problem(site: Site):
    job = queue_job(site, ("rescore",))
    store = site.directory / "store"
    hidden = site.directory / "hidden"
    store.rename(hidden)
    notes: list[str] = []
    with Dispatcher(site, note=notes.append) as dispatcher:
        wait_for(lambda: dispatcher.problem, "the problem")
        assert dispatcher.problem == "the site's store is missing"
        hidden.rename(store)
        wait_until_ended(site, job.job_id)
        wait_for(lambda: not dispatcher.problem, "the end of the problem")
    assert notes[0] == "the queue stands still: the site's store is missing"
    assert "the queue goes on (the site's store is missing)" in notes
