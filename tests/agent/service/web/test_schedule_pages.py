"""The page of schedules: made from a job or a new run, seen by all, ended by their owner."""

import time

import pytest

from agent.jobs.cron import find_next_time
from agent.store import Account, Schedule
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.web.running_service import DEPLOYMENTS, RunningService
from tests.agent.service.web.test_job_pages import end, queue

PAGE = "/jobs/schedules"


def list_schedules(filled: FilledSite) -> list[Schedule]:
    with filled.site.store() as store:
        return store.jobs.list_schedules()


def test_an_empty_page_says_how_one_is_made(running: RunningService):
    assert "There is no schedule yet." in running.sign_in("vera").get(PAGE).text
    assert "/new-run" in running.sign_in("dana").get(PAGE).text


def test_a_job_is_repeated_and_the_schedule_ended_by_its_owner(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    job = queue(filled, people["dana"].account_id, "nightly run")
    end(filled, job)
    dana = running.sign_in("dana")
    sent = dana.submit(f"/jobs/{job.job_id}/repeat", cron="0 3 * * *")
    assert sent.headers["location"] == PAGE
    (schedule,) = list_schedules(filled)
    assert (schedule.cron, schedule.command.title) == ("0 3 * * *", "nightly run")
    assert schedule.command.account == people["dana"].account_id
    due = time.strftime("%Y-%m-%d", time.gmtime(find_next_time("0 3 * * *", time.time())))
    for name in ("vera", "dana"):
        text = running.sign_in(name).get(PAGE).text
        assert "nightly run" in text
        assert due in text
    dan = running.sign_in("dan")
    assert "its owner or an administrator can" in dan.get(PAGE).text
    ending = f"{PAGE}/{schedule.schedule_id}/end"
    assert dan.submit(ending).status_code == 403
    assert dana.submit(ending).status_code == 303
    assert list_schedules(filled) == []
    assert dana.submit(ending).status_code == 403
    with filled.site.store() as store:
        details = [event.detail for event in store.audit.read_events()]
    assert f"schedule={schedule.schedule_id} account={people['dana'].account_id}" in details


def test_an_administrator_ends_the_schedule_of_somebody_who_left(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    job = queue(filled, people["dana"].account_id, "t")
    running.sign_in("dana").submit(f"/jobs/{job.job_id}/repeat", cron="0 3 * * *")
    (schedule,) = list_schedules(filled)
    ada = running.sign_in("ada")
    assert ada.submit(f"{PAGE}/{schedule.schedule_id}/end").status_code == 303
    assert list_schedules(filled) == []


@pytest.mark.parametrize(
    "cron",
    ["", " ", "daily", "* * * *", "61 0 * * *", "0 0 31 2 *", "0 3 * * *\n0 4 * * *", "x" * 5_000],
)
def test_a_time_that_never_comes_is_refused(
    filled: FilledSite, running: RunningService, people: dict[str, Account], cron: str
):
    job = queue(filled, people["dana"].account_id, "t")
    dana = running.sign_in("dana")
    began = time.monotonic()
    refused = dana.submit(f"/jobs/{job.job_id}/repeat", cron=cron)
    assert refused.status_code == 400
    assert time.monotonic() - began < 5
    assert list_schedules(filled) == []


def test_a_new_run_is_scheduled_with_its_privacy(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    filled.site.deployments.write_text(DEPLOYMENTS, "utf-8")
    wish = {
        "benchmark": "pubmed_qa",
        "deployment": "local/qwen",
        "suite": "weekly",
        "private": "yes",
    }
    dana = running.sign_in("dana")
    without = dana.submit("/new-run", **wish, step="schedule")
    assert without.status_code == 400
    assert "The time is missing" in without.text
    assert 'value="weekly"' in without.text  # nothing that was entered is lost
    sent = dana.submit("/new-run", **wish, step="schedule", cron="0 20 * * FRI")
    assert sent.headers["location"] == PAGE
    (schedule,) = list_schedules(filled)
    assert schedule.command.private
    assert "weekly" in dana.get(PAGE).text
    others = running.sign_in("ada").get(PAGE).text
    assert "weekly" not in others
    assert "Private run" in others
    with filled.site.store() as store:
        assert all("weekly" not in event.detail for event in store.audit.read_events())
    assert people["dana"].account_id == schedule.command.account
