"""What happens to machines: each accident has a clear state on the page, and nothing is lost."""

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from agent.service.web import application
from agent.site.directory import Site
from agent.store import Account, database
from tests.agent.fault_server import FaultServer
from tests.agent.jobs.queued_site import MODELS, asks_notes, open_queue, wait_for
from tests.agent.service.filled_site import FilledSite, case, filled_site
from tests.agent.service.web.running_service import Browser, RunningService, add_people
from tests.agent.service.web.test_killed_service import serve, sign_in
from tests.end_to_end.conftest import UserSite
from tests.end_to_end.test_killed_runs import says_yes_or_no
from tests.small_disk import fill_disk, mount_small_disk, remount

BODY = {"arguments": ["rescore", "--suite", "november"]}
UNEXPECTED = "unexpected error"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 32 MiB of its own."""
    with mount_small_disk(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def on_disk(disk: Path) -> FilledSite:
    filled = filled_site(disk)
    add_people(filled.site)
    filled.add([case(0), case(1)])
    return filled


@pytest.fixture
def running_on_disk(on_disk: FilledSite) -> Iterator[RunningService]:
    service = RunningService(on_disk.site)
    yield service
    service.stop()


def queue_by_api(client: httpx.Client, secret: str, origin: str) -> httpx.Response:
    headers = {"X-CSRF": secret, "Origin": origin}
    return client.post("/api/v1/jobs", json=BODY, headers=headers)


def queue_as(browser: Browser, secret: str) -> httpx.Response:
    return queue_by_api(browser.client, secret, browser.origin)


def count_jobs(site: Site) -> int:
    with site.store() as store:
        return len([*store.jobs.list_open(), *store.jobs.list_recent(100)])


def test_a_full_disk_is_told_and_what_was_stored_stays(
    disk: Path, on_disk: FilledSite, running_on_disk: RunningService
):
    dana = running_on_disk.sign_in("dana")
    secret = dana.read_secret()
    assert queue_as(dana, secret).status_code == 200
    ballast = fill_disk(disk)
    for path in ("/", "/jobs", "/results/suites/november/index.html", "/new-run"):
        page = dana.get(path)
        assert page.status_code in (200, 503), path
        assert UNEXPECTED not in page.text
        assert page.status_code == 200 or "quota is full: make room" in page.text
    refused = queue_as(dana, secret)
    assert refused.status_code == 503
    assert "The disk or this account's quota is full: make room" in refused.json()["advice"]
    ballast.unlink()
    assert count_jobs(on_disk.site) == 1
    assert queue_as(dana, secret).status_code == 200
    assert count_jobs(on_disk.site) == 2
    assert dana.get("/results/suites/november/index.html").status_code == 200


def test_a_disk_that_becomes_read_only_is_told_and_what_was_stored_stays(
    disk: Path, on_disk: FilledSite, running_on_disk: RunningService
):
    dana = running_on_disk.sign_in("dana")
    secret = dana.read_secret()
    assert queue_as(dana, secret).status_code == 200
    remount(disk, writable=False)
    try:
        page = dana.get("/jobs")
        assert page.status_code in (200, 503)
        assert UNEXPECTED not in page.text
        refused = queue_as(dana, secret)
        assert refused.status_code == 503
        assert "must be writable" in refused.json()["advice"], refused.text
    finally:
        remount(disk, writable=True)
    assert count_jobs(on_disk.site) == 1
    assert queue_as(dana, secret).status_code == 200


def test_the_service_of_a_read_only_disk_is_refused_in_words(disk: Path, on_disk: FilledSite):
    remount(disk, writable=False)
    try:
        words = [sys.executable, "-m", "agent", "--site", str(on_disk.site.directory)]
        refused = subprocess.run(
            [*words, "serve", "--port", "0"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    finally:
        remount(disk, writable=True)
    assert refused.returncode == 8
    assert "Traceback" not in refused.stderr
    assert "must be writable" in refused.stderr
    assert "the disk may be read-only" in refused.stderr
    assert "backup" not in refused.stderr


def test_a_store_that_another_program_locks_delays_a_form_and_then_says_so(
    filled: FilledSite,
    running: RunningService,
    people: dict[str, Account],
    monkeypatch: pytest.MonkeyPatch,
):
    del people
    filled.add([case(0)])
    dana = running.sign_in("dana")
    secret = dana.read_secret()
    monkeypatch.setattr(database, "_PATIENCE_S", 0.5)
    path = filled.site.directory / "store" / "site.sqlite3"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert dana.get("/results/suites/november/index.html").status_code == 200
    refused = queue_as(dana, secret)
    assert refused.status_code == 503
    assert refused.json()["advice"] == "Another command is writing; try again in a moment."
    page = dana.submit("/new-run", benchmark="pubmed_qa", step="queue")
    assert page.status_code == 400  # a form that is wrong anyway is still checked
    other.execute("ROLLBACK")
    other.close()
    assert count_jobs(filled.site) == 0
    assert queue_as(dana, secret).status_code == 200


def test_a_clock_that_is_set_back_an_hour_signs_everyone_out_and_loses_no_job(
    filled: FilledSite,
    running: RunningService,
    people: dict[str, Account],
    monkeypatch: pytest.MonkeyPatch,
):
    del people
    filled.add([case(0)])
    dana = running.sign_in("dana")
    assert queue_as(dana, dana.read_secret()).status_code == 200
    real_time = time.time
    monkeypatch.setattr(time, "time", lambda: real_time() - 3_600)
    assert application.time.time is time.time
    page = dana.get("/jobs")
    assert page.status_code == 303
    assert page.headers["location"].startswith("/sign-in")
    again = running.sign_in("dana")
    assert "rescore" in again.get("/jobs").text
    assert queue_as(again, again.read_secret()).status_code == 200
    assert count_jobs(filled.site) == 2


def test_a_queue_that_stands_still_says_why_on_the_pages(
    running: RunningService, people: dict[str, Account]
):
    del people
    vera = running.sign_in("vera")
    assert "stands still" not in vera.get("/jobs").text
    running.service.find_queue_problem = lambda: "the store cannot be written (SQLITE_FULL)"
    for path in ("/", "/jobs"):
        text = vera.get(path).text
        assert "The queue stands still:" in text
        assert "the store cannot be written (SQLITE_FULL)" in text


@pytest.mark.full
def test_a_store_that_is_missing_for_a_while_is_told_and_found_again(filled: FilledSite):
    add_people(filled.site)
    with serve(filled.site) as command:
        client = sign_in(command.address)
        store = filled.site.directory / "store"
        hidden = filled.site.directory / "hidden"
        store.rename(hidden)
        page = client.get("/jobs")
        assert page.status_code == 503
        assert "The site's store is missing" in page.text.replace("&#39;", "'")
        hidden.rename(store)
        wait_for(lambda: client.get("/jobs").status_code == 200, "the store")
        wait_for(lambda: "stands still" not in client.get("/jobs").text, "the queue")


@pytest.mark.full
def test_a_server_that_is_gone_for_longer_than_a_run_waits_fails_the_job_until_it_is_retried(
    make_site: Callable[..., UserSite],
):
    """Ten minutes, with a setting by which a run waits for one second only."""
    quick = FaultServer(models=MODELS, fault=says_yes_or_no)
    with quick as server, open_queue(make_site("undisturbed", 30)) as undisturbed:
        assert undisturbed.site.run(server.url, model=MODELS[0]).returncode == 0
        expected = undisturbed.summaries()
    slow = FaultServer(models=MODELS, fault=says_yes_or_no, latency_s=0.5)
    user_site = make_site("outage", 30)
    user_site.set("outage_grace_s: 1")
    user_site.set("max_attempts: 2")
    with slow as server, open_queue(user_site) as queue:
        site = Site(user_site.directory)
        add_people(site)
        with serve(site) as command:
            client = sign_in(command.address)
            job = queue.queue(server.url, MODELS[0])
            wait_for(lambda: len(asks_notes(server)) > 5, "questions")
            server.stop()
            queue.wait_until_ended(job)
            assert queue.show(job)["exit_code"] in (4, 9)
            page = client.get(f"/jobs/{job}").text
            assert "failed" in page
            assert "queue the job again" in page
            asked_before = len(asks_notes(server))
            server.start()
            assert user_site.intramural("jobs", "retry", job).returncode == 0
            (again,) = (each["id"] for each in queue.jobs() if each["id"] != job)
            queue.wait_until_ended(again)
            assert "done" in client.get(f"/jobs/{again}").text
        assert queue.summaries() == expected
        # No question with a stored answer was asked twice; those on their way when the server went are.
        assert len(asks_notes(server)) - asked_before < 30
