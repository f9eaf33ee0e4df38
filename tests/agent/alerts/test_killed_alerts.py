"""A real service is killed between an event and its delivery; and nothing of the site's texts and names leaves."""

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from agent.access.accounts import add_account
from agent.site.directory import Site
from agent.store import Role
from tests.agent.alerts.alerted_site import write_secret
from tests.agent.alerts.receivers import (
    Got,
    WebhookReceiver,
    answer_with,
    open_mail,
    open_webhook,
    open_wire,
)
from tests.agent.fault_server import FaultServer, Status, always
from tests.agent.jobs.queued_site import MODELS, QueuedSite, open_queue, wait_for
from tests.canaries import Canaries, Finder
from tests.end_to_end.conftest import UserSite, intramural, make_site, write_benchmark

__all__ = ["make_site"]


def use_webhook(site: UserSite, url: str) -> None:
    write_secret(site.directory)
    site.set(f"alert_webhook_url: {url}")
    site.set("alert_webhook_secret_file: alerts.secret")
    site.set("alert_every_minutes: 1")


@pytest.fixture
def queue(make_site: Callable[..., UserSite]):
    with open_queue(make_site(instances=4)) as queued:
        yield queued


def fail_job(queue: QueuedSite) -> str:
    """Queue a command that fails at once; return the job's id."""
    return queue.read_id(["rescore", "--suite", "none", "--queue"])


def read_attempts(queue: QueuedSite) -> list[int]:
    with Site(queue.site.directory).store() as store:
        return [message.attempts for message in store.alerts.list_recent(10)]


def test_the_service_is_killed_before_the_receiver_is_back(queue: QueuedSite):
    receiver = WebhookReceiver()
    receiver.start()
    receiver.stop()
    use_webhook(queue.site, receiver.url)
    dispatcher = queue.dispatch()
    wait_for(lambda: (queue.site.directory / "jobs/dispatcher.lock").exists(), "the dispatcher")
    job = fail_job(queue)
    queue.wait_until_ended(job)
    wait_for(lambda: read_attempts(queue) == [1], "the first attempt")
    dispatcher.kill()
    dispatcher.wait()
    receiver.start()
    hurry(queue.site)
    queue.dispatch()
    wait_for(lambda: receiver.got, "the alert")
    receiver.stop()
    assert [event["job"] for event in receiver.got[0].alert["events"]] == [job]


def test_the_service_is_killed_while_the_receiver_takes_the_alert(queue: QueuedSite):
    released = threading.Event()

    def take(handler: BaseHTTPRequestHandler, got: Got) -> None:
        released.wait(30)
        answer_with(204)(handler, got)

    with open_webhook(take) as receiver:
        use_webhook(queue.site, receiver.url)
        dispatcher = queue.dispatch()
        job = fail_job(queue)
        queue.wait_until_ended(job)
        wait_for(lambda: receiver.got, "the alert")
        dispatcher.kill()
        dispatcher.wait()
        released.set()
        queue.dispatch()
        wait_for(lambda: len(receiver.got) > 1, "the repetition")
    first, second = receiver.got
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]


@pytest.mark.full
def test_jobs_run_on_while_the_receiver_is_dead(queue: QueuedSite):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it accepts and never answers
        use_webhook(queue.site, f"http://127.0.0.1:{silent.getsockname()[1]}/")
        with FaultServer(models=MODELS, answer="Yes") as server:
            queue.dispatch()
            jobs = [queue.queue(server.url, model) for model in MODELS]
            queue.wait_until_ended(*jobs)
            assert [queue.state(job) for job in jobs] == ["done"] * 3


def test_no_text_and_no_name_of_the_site_reaches_a_receiver(tmp_path: Path):
    """Canaries stand in all that a job knows; every byte that both receivers get is searched, in many disguises."""
    canaries = Canaries(seed=16)
    draw = canaries.draw_one
    model, suite, account = f"{draw('model owner')}/{draw('model')}", draw("suite"), draw("account")
    rows = [
        {"note": draw("note"), "question": draw("question"), "correct_answer": "Yes"}
        for _ in range(4)
    ]
    folder = tmp_path / draw("folder")
    config = write_benchmark(folder, rows)
    config.write_text(config.read_text().replace("name: own", f"name: {draw('benchmark')}"))
    directory = folder / draw("site folder")
    made = intramural("init", directory, "--site-name", draw("site name"))
    assert made.returncode == 0, made.stderr
    site = UserSite(directory, config)
    for name in {socket.gethostname(), socket.getfqdn()} - {"localhost"}:
        if len(name) >= 8:
            canaries.add("host name", name)
    with Site(directory).store() as store:
        add_account(store, account, frozenset({Role.DATA_SCIENTIST}), 0.0, password=draw("secret"))
    with (
        open_webhook() as receiver,
        open_wire(receiver.port) as (web_wire, web_port),
        open_mail() as (mailbox, mail_port),
        open_wire(mail_port) as (mail_wire, mail_wire_port),
    ):
        use_webhook(site, f"http://127.0.0.1:{web_port}/hook")
        site.set("alert_smtp_host: 127.0.0.1")
        site.set(f"alert_smtp_port: {mail_wire_port}")
        site.set("alert_smtp_security: none")
        site.set("alert_from: intramural@hospital.example")
        site.set("alert_to: [it@hospital.example]")
        answer = canaries.add("answer", "Answer qzjxkvbwpm and its reasons")
        error = Status(500, {}, f'{{"error": "{draw("server error")}"}}'.encode())
        with (
            FaultServer(models=(model,), answer=answer) as server,
            FaultServer(models=(model,), fault=always(error)) as broken,
            open_queue(site) as queue,
        ):
            queue.dispatch()
            entry = f"medhelm_configurable_benchmark:config_path={config},model={model}"
            jobs = [
                queue.read_id(
                    [
                        "run",
                        "--server",
                        each.url,
                        "--run-entries",
                        entry,
                        "--suite",
                        suite,
                        "--queue",
                    ]
                )
                for each in (server, broken)
            ]
            jobs.append(queue.read_id(["rescore", "--suite", draw("no suite"), "--queue"]))
            queue.wait_until_ended(*jobs)
            assert sorted(queue.state(job) for job in jobs) == ["done", "failed", "failed"]
            assert suite in queue.log(jobs[0]) or model in queue.log(jobs[0])  # they were planted

            told = {"job_done": 1, "job_failed": 2}
            wait_for(
                lambda: hurry(site) or sum_counts(receiver, told) == told,
                "the alerts at the webhook",
            )
            wait_for(lambda: all(job in bytes(mail_wire.sent).decode() for job in jobs), "mails")
            tested = site.intramural("alerts", "test")
            assert tested.returncode == 0, tested.stdout + tested.stderr
    finder = Finder(canaries)
    assert len(canaries) > 15
    assert finder.search_named(bytes(web_wire.sent)) == {}
    assert finder.search_named(bytes(mail_wire.sent)) == {}
    assert finder.search_named(bytes(web_wire.sent) + suite.encode()) == {suite: "suite"}
    assert mailbox.mails


def hurry(site: UserSite) -> None:
    """Let the next alerts leave without the minute between two of them."""
    with Site(site.directory).store() as store, store.transaction():
        store.database.connection.execute("UPDATE alert_messages SET made_at = 0, next_at = 0")


def sum_counts(receiver: WebhookReceiver, told: dict[str, int]) -> dict[str, int]:
    alerts = [got.alert for got in receiver.got]
    return {code: sum(alert["counts"].get(code, 0) for alert in alerts) for code in told}
