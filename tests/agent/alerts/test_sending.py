"""Receivers are down, come back, refuse, or are flooded: alerts arrive once they can, and not in their thousands."""

import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event

import pytest

from agent.alerts.channels import AlertPlan, MailServer
from agent.alerts.content import MOST_LISTED, AlertContent, write_json, write_subject, write_text
from agent.alerts.courier import AlertCourier
from agent.alerts.noticing import Noticer
from agent.alerts.sending import choose_wait, deliver_due
from agent.site.directory import Site, create_site
from agent.store import AlertCode, AlertEvent, Channel, MessageState, Store
from tests.agent.alerts.alerted_site import end_job, plan_for, write_secret
from tests.agent.alerts.receivers import Got, answer_with, open_mail, open_webhook
from tests.agent.jobs.queued_site import wait_for

NOW = 1_900_000_000.0


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


@pytest.fixture
def store(site: Site) -> Iterator[Store]:
    with site.store() as store:
        store.alerts.watch([Channel.WEBHOOK])
        yield store


class Clocked:
    """Steps of a courier, at times of the test's choice."""

    def __init__(self, site: Site, store: Store, plan: AlertPlan) -> None:
        self.now = NOW
        self.store = store
        self.plan = plan
        self._noticer = Noticer(site, plan.codes, lambda: self.now)

    def step(self, after_s: float = 0.0) -> None:
        self.now += after_s
        self._noticer.notice_jobs(self.store)
        for channel in self.plan.channels:
            deliver_due(self.store, self.plan, channel, self.now)


def test_a_failed_job_is_told_in_codes_and_counts(site: Site, store: Store):
    with open_webhook() as receiver:
        clocked = Clocked(site, store, plan_for(site, receiver.url))
        job = end_job(store, exit_code=9, now=NOW)
        clocked.step()
        clocked.step(60)
    (got,) = receiver.got
    assert got.alert == {
        "version": 1,
        "id": got.headers["webhook-id"],
        "time": "2030-03-17T17:46:40Z",
        "test": False,
        "counts": {"job_failed": 1},
        "events": [
            {
                "event": "job_failed",
                "time": "2030-03-17T17:46:40Z",
                "job": job.job_id,
                "exit_code": 9,
                "done": 20,
                "failed": 3,
                "unscored": 1,
            }
        ],
        "unlisted": 0,
    }


def test_a_receiver_that_is_down_gets_the_alert_once_it_is_back(site: Site, store: Store):
    with open_webhook() as receiver:
        receiver.stop()
        clocked = Clocked(site, store, plan_for(site, receiver.url))
        end_job(store, now=NOW)
        clocked.step()
        message = store.alerts.find_open(Channel.WEBHOOK)
        assert message is not None
        assert (message.attempts, message.outcome) == (1, "unreachable")
        end_job(store, exit_code=2, now=NOW)
        clocked.step(choose_wait(0) - 1)  # too early
        receiver.start()
        clocked.step()
        assert receiver.got == []
        clocked.step(1)
        clocked.step(1)
    first, second = receiver.got
    assert first.alert["id"] == message.message_id
    assert (first.alert["counts"], second.alert["counts"]) == ({"job_done": 1}, {"job_failed": 1})
    events = [event.event for event in store.audit.read_events()]
    assert events.count("alert sent") == 2


def test_a_repeated_alert_is_the_same_to_the_byte(site: Site, store: Store):
    with open_webhook(answer_with(500)) as receiver:
        clocked = Clocked(site, store, plan_for(site, receiver.url))
        end_job(store, now=NOW)
        for _ in range(3):
            clocked.step(3600)
            end_job(store, now=clocked.now)
    assert len(receiver.got) == 3
    assert len({got.body for got in receiver.got}) == 1
    assert len({got.headers["webhook-id"] for got in receiver.got}) == 1


def test_a_dead_receiver_is_asked_ever_more_seldom_and_given_up_in_the_end(
    site: Site, store: Store
):
    with open_webhook(answer_with(503)) as receiver:
        clocked = Clocked(site, store, plan_for(site, receiver.url))
        end_job(store, now=NOW)
        while clocked.now < NOW + 86_400 + 3600:
            clocked.step(10)
        assert len(receiver.got) < 40
        assert store.alerts.find_open(Channel.WEBHOOK) is None
        (message,) = store.alerts.list_recent(10)
        assert (message.state, message.outcome) == (MessageState.GIVEN_UP, "status 503")
        (event,) = [one for one in store.audit.read_events() if one.event == "alert given up"]
        assert f"events=1 attempts={len(receiver.got)} last=status 503" in event.detail
        receiver.answer = answer_with(200)
        end_job(store, exit_code=3, now=clocked.now)
        clocked.step(1)
    assert receiver.got[-1].alert["counts"] == {"job_failed": 1}


def test_a_thousand_failed_jobs_lead_to_a_few_alerts(site: Site, store: Store):
    with open_webhook() as receiver:
        clocked = Clocked(site, store, plan_for(site, receiver.url, gap_s=300))
        with store.transaction():
            for _ in range(1000):
                end_job(store, exit_code=4, now=NOW)
        for _ in range(600):
            clocked.step(1)
    assert len(receiver.got) <= 3
    told = [got.alert["counts"]["job_failed"] for got in receiver.got]
    assert sum(told) == 1000
    assert sum(got.alert["counts"].get("server_gone", 0) for got in receiver.got) == 1
    for got in receiver.got:
        assert len(got.alert["events"]) == MOST_LISTED
        counted = sum(got.alert["counts"].values())
        assert got.alert["unlisted"] == counted - MOST_LISTED
        assert len(got.body) < 5000


def test_jobs_that_fail_all_day_lead_to_an_alert_every_few_minutes_at_most(
    site: Site, store: Store
):
    with open_webhook() as receiver:
        clocked = Clocked(site, store, plan_for(site, receiver.url, gap_s=300))
        for _ in range(360):
            end_job(store, exit_code=1, now=clocked.now)
            clocked.step(10)
    assert len(receiver.got) <= 13


def test_a_receiver_with_another_secret_gets_the_alert_once_the_file_is_right(
    site: Site, store: Store
):
    with open_webhook(answer_with(401)) as receiver:
        clocked = Clocked(site, store, plan_for(site, receiver.url))
        write_secret(site.directory, "a wrong one").write_text("\n")
        end_job(store, now=NOW)
        clocked.step()
        message = store.alerts.find_open(Channel.WEBHOOK)
        assert (message and message.outcome, receiver.got) == ("settings", [])
        write_secret(site.directory, "another-secret")
        clocked.step(3600)
        message = store.alerts.find_open(Channel.WEBHOOK)
        assert message is not None
        assert message.outcome == "status 401"
        receiver.answer = answer_with(204)
        write_secret(site.directory)
        clocked.step(3600)
        assert store.alerts.find_open(Channel.WEBHOOK) is None


def test_one_dead_channel_does_not_keep_the_other_from_its_alert(site: Site, store: Store):
    with open_webhook(answer_with(500)) as receiver, open_mail() as (mailbox, port):
        mail = MailServer("127.0.0.1", port, "none", "a@h.example", ("it@h.example",))
        plan = replace(plan_for(site, receiver.url), mail=mail)
        store.alerts.watch(plan.channels)
        clocked = Clocked(site, store, plan)
        end_job(store, exit_code=4, now=NOW)
        clocked.step()
    assert len(mailbox.mails) == 1
    subject = "Subject: Intramural: 1 job failed, an inference server failed"
    assert subject in mailbox.mails[0].content
    assert store.alerts.find_open(Channel.WEBHOOK) is not None


def test_a_clock_that_was_wrong_by_a_year_does_not_silence_alerts(site: Site, store: Store):
    with open_webhook() as receiver:
        clocked = Clocked(site, store, plan_for(site, receiver.url, gap_s=300))
        clocked.now = NOW + 365 * 86_400
        end_job(store, now=clocked.now)
        receiver.answer = answer_with(500)
        clocked.step()
        receiver.answer = answer_with(200)
        clocked.now = NOW
        receiver.answer = answer_with(500)
        clocked.step()
        assert store.alerts.find_open(Channel.WEBHOOK) is not None
        receiver.answer = answer_with(200)
        clocked.step(choose_wait(1))
        end_job(store, now=clocked.now)
        clocked.step()
    assert len(receiver.got) == 4


def test_alerts_that_are_switched_on_tell_nothing_of_the_past(site: Site):
    with open_webhook() as receiver, site.store() as store:
        end_job(store, exit_code=1, now=NOW)
        plan = plan_for(site, receiver.url)
        store.alerts.watch(plan.channels)
        clocked = Clocked(site, store, plan)
        clocked.step()
        assert receiver.got == []
        store.alerts.watch([])
        end_job(store, exit_code=2, now=NOW)
        store.alerts.watch(plan.channels)
        end_job(store, exit_code=3, now=NOW)
        clocked.step(1)
    (got,) = receiver.got
    assert [event["exit_code"] for event in got.alert["events"]] == [3]


def test_events_that_nobody_asked_for_are_not_told(site: Site, store: Store):
    with open_webhook() as receiver:
        plan = replace(plan_for(site, receiver.url), codes=frozenset({AlertCode.JOB_FAILED}))
        clocked = Clocked(site, store, plan)
        end_job(store, now=NOW)
        clocked.step()
        assert receiver.got == []
        end_job(store, exit_code=1, now=NOW)
        clocked.step(1)
    assert len(receiver.got) == 1


def test_a_cancelled_job_is_no_event(site: Site, store: Store):
    with open_webhook() as receiver:
        clocked = Clocked(site, store, plan_for(site, receiver.url))
        job = end_job(store, now=NOW)
        store.jobs.mark_noticed(job.job_id)
        queued = store.jobs.add(job.command, NOW)
        store.jobs.cancel(queued.job_id, NOW)
        clocked.step()
    assert receiver.got == []


@pytest.mark.parametrize(
    "fields",
    [{"job_id": "Mrs Miller"}, {"exit_code": "text"}, {"done": 1.5}, {"waiting": True}],
)
def test_text_cannot_be_put_into_an_event(fields: dict[str, object]):
    with pytest.raises(ValueError, match="codes and counts only"):
        AlertEvent(AlertCode.JOB_DONE, NOW, **fields)  # type: ignore[arg-type]


def test_text_that_was_written_into_the_stores_file_does_not_leave(site: Site, store: Store):
    with open_webhook() as receiver:
        store.alerts.add_event(AlertEvent(AlertCode.JOB_DONE, NOW))
        connection = store.database.connection
        for column, value in (("job_id", "Mrs Miller"), ("code", "Mrs Miller")):
            connection.execute(f"UPDATE alert_events SET {column} = ?", (value,))
            clocked = Clocked(site, store, plan_for(site, receiver.url))
            with suppress(ValueError):
                clocked.step()
    assert receiver.got == []


def test_messages_read_like_sentences_and_name_the_site_only_if_it_has_a_label():
    counts = {AlertCode.JOB_DONE: 2, AlertCode.DRAFT_WAITING: 1}
    content = AlertContent("ab" * 16, NOW, None, counts)
    assert write_subject(content) == "Intramural: a draft waits for approval, 2 jobs are done"
    assert b"site" not in write_json(content)
    labelled = replace(content, site="North")
    assert write_subject(labelled).startswith("Intramural (North): ")
    assert b'"site":"North"' in write_json(labelled)
    assert "and 3 more" in write_text(labelled)
    for code in AlertCode:
        assert write_subject(AlertContent("", NOW, None, {code: 1})) != "Intramural: "


def test_a_store_that_is_locked_delays_alerts_and_loses_none(site: Site):
    with open_webhook() as receiver:
        plan = plan_for(site, receiver.url)
        with site.store() as store:
            store.alerts.watch(plan.channels)
            end_job(store)
        courier = AlertCourier(site, plan)
        with site.store() as other, other.transaction():
            courier.start()
            time.sleep(1.0)
            assert receiver.got == []
        wait_for(lambda: receiver.got, "the alert")
        courier.stop()


def test_a_receiver_that_hangs_delays_neither_the_queue_nor_its_end(site: Site):
    released = Event()

    def hang(handler: BaseHTTPRequestHandler, got: Got) -> None:
        released.wait(20)

    with open_webhook(hang) as receiver:
        with site.store() as store:
            store.alerts.watch([Channel.WEBHOOK])
            end_job(store)
        courier = AlertCourier(site, plan_for(site, receiver.url))
        courier.start()
        wait_for(lambda: receiver.got, "the request")
        began = time.monotonic()
        with closing(site._open_store()) as store:
            end_job(store)  # nothing is locked while a receiver is asked
        courier.stop()
        assert time.monotonic() - began < 4
        released.set()
