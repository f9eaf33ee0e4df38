"""The first page over a real service: each role sees what it can attend to, and nothing that is done already."""

import time
from pathlib import Path

import pytest

from agent.access.accounts import add_account
from agent.io.disk_room import DiskRoom
from agent.store import Account, QueuedCommand, Role
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.web.running_service import PASSWORD, RunningService
from tests.agent.store.set_clock import SetClock


def fail_job(running: RunningService, account: str, *arguments: str) -> None:
    with running.site.store() as store:
        command = QueuedCommand(arguments, "a <b>title</b>", account)
        job = store.jobs.add(command, time.time())
        store.jobs.begin(job.job_id, time.time())
        store.jobs.fail(job.job_id, time.time(), "its process vanished")


def test_an_empty_site_says_to_each_role_what_to_do_next(running: RunningService):
    dana, vera = running.sign_in("dana").get("/").text, running.sign_in("vera").get("/").text
    assert "Start the first one" in dana
    assert "Start" not in vera.partition("Newest runs")[2]
    assert "There is only one administrator" in running.sign_in("ada").get("/").text
    assert "Needs attention" not in vera


def test_a_failed_job_is_shown_to_who_can_start_it_again_until_it_is_started_again(
    running: RunningService, people: dict[str, Account]
):
    fail_job(running, people["dana"].account_id, "rescore", "--suite", "november")
    dana = running.sign_in("dana")
    assert "a &lt;b&gt;title&lt;/b&gt;” failed" in dana.get("/").text
    for name in ("dan", "vera", "stella"):
        assert "” failed" not in running.sign_in(name).get("/").text
    assert "” failed" in running.sign_in("ada").get("/").text
    with running.site.store() as store:
        command = QueuedCommand(("rescore", "--suite", "november"), "again", "somebody")
        store.jobs.add(command, time.time())
    assert "” failed" not in dana.get("/").text


def test_a_run_that_did_not_end_is_shown_to_those_who_can_go_on_with_it(
    filled: FilledSite, running: RunningService
):
    filled.add([case(0)], ended=False)
    assert "1 run did not end" in running.sign_in("dana").get("/").text
    assert "did not end" not in running.sign_in("stella").get("/").text


def test_a_full_disk_is_shown_to_those_who_see_the_health(
    running: RunningService, monkeypatch: pytest.MonkeyPatch
):
    def find_none(folder: Path) -> DiskRoom:
        del folder
        return DiskRoom(10**6, 10**11)

    monkeypatch.setattr("agent.service.web.attention.find_room", find_none)
    assert "The disk is nearly full: 1.0 MB are free" in running.sign_in("ada").get("/").text
    assert "disk" not in running.sign_in("vera").get("/").text


def test_a_wrong_clock_is_shown_to_those_who_see_the_health(
    filled: FilledSite, monkeypatch: pytest.MonkeyPatch
):
    people = {"ada": Role.ADMINISTRATOR, "vera": Role.VIEWER}
    with filled.site.store() as store:
        for name, role in people.items():
            add_account(
                store, name, frozenset({role}), time.time(), password=PASSWORD, own_password=True
            )
    monkeypatch.setattr("agent.store.clock.read_clock", SetClock(1_580_000_000).read)
    service = RunningService(filled.site)
    try:
        pages = {name: service.sign_in(name).get("/").text for name in people}
    finally:
        service.stop()
    assert "clock says 2020-01-26" in pages["ada"]
    assert "clock says" not in pages["vera"]


def test_jobs_that_nothing_works_off_are_noticed(running: RunningService):
    with running.site.store() as store:
        store.jobs.add(QueuedCommand(("rescore",), "rescore", "somebody"), time.time())
    assert "nothing works off the queue" in running.sign_in("ada").get("/").text


def test_roles_that_nobody_holds_are_noticed(filled: FilledSite):
    with filled.site.store() as store:
        add_account(
            store,
            "ada",
            frozenset({Role.ADMINISTRATOR}),
            time.time(),
            password=PASSWORD,
            own_password=True,
        )
    service = RunningService(filled.site)
    try:
        page = service.sign_in("ada").get("/").text
    finally:
        service.stop()
    assert "Nobody can run anything" in page
    assert "Nobody can approve a submission" in page
