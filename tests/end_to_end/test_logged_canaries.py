"""Names, prompts, answers, files and hosts are planted everywhere; the log of a whole day has none of them.

Every line of it is an event of the closed list. What IT wants to know is there: who started what, when, on which
deployment, how long it took and how it ended.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import httpx
import pytest

from agent.access.accounts import add_account
from agent.monitoring.events import EVENTS, WITHHELD, name_event
from agent.site.directory import Site
from agent.store import Role
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.jobs.queued_site import asks_notes, open_queue, wait_for
from tests.canaries import Canaries, Finder
from tests.end_to_end.conftest import UserSite, intramural, write_benchmark

FIELDS = {name_event(kind): {field.name for field in fields(kind)} for kind in EVENTS}
EVERY_LINE = {"time", "level", "event", "process"}
CONTEXT = {"job", "account"}
PASSWORD = "correct horse battery"
HOST = "127.7.31.7"


def plant(folder: Path, canaries: Canaries) -> UserSite:
    """Make a site with a canary in whatever a person may name or a record may say."""
    rows = [
        {
            "note": f"{note} was seen.",
            "question": canaries.draw_one("question"),
            "correct_answer": gold,
        }
        for note, gold in zip(
            canaries.draw_phrases("note", 12), canaries.draw("gold", 12), strict=True
        )
    ]
    config = write_benchmark(folder / canaries.draw_one("folder"), rows)
    config = config.rename(config.with_name(f"{canaries.draw_one('file')}.yaml"))
    directory = folder / canaries.draw_one("site directory")
    made = intramural("init", directory, "--site-name", canaries.draw_one("site name"))
    assert made.returncode == 0, made.stderr
    site = UserSite(directory, config)
    site.set(f"allowed_hosts: [127.0.0.1, {canaries.add('host', HOST)}]")
    site.set("outage_grace_s: 1\nmax_attempts: 2\nattempt_timeout_s: 5\nfirst_attempt_timeout_s: 5")
    site.set(f"log_level: debug\nlog_format: json\nlog_file: {folder / 'agent.log'}")
    return site


@contextmanager
def serve(site: UserSite) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Start the service; yield its process and its address."""
    words = [sys.executable, "-m", "agent", "--site", str(site.directory), "serve", "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().split()[0].rstrip("/")
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=60)


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.timeout(300)
def test_the_log_of_a_whole_day_says_what_happened_and_nothing_that_was_planted(tmp_path: Path):
    canaries = Canaries(seed=17)
    site = plant(tmp_path, canaries)
    suite, person = canaries.draw_one("suite"), canaries.draw_one("account")
    missing = tmp_path / canaries.draw_one("missing file")
    thought = canaries.draw_one("answer")

    def think(asked: Asked) -> Message:
        return Message({"role": "assistant", "content": f"{thought} {asked.number}"})

    with Site(site.directory).store() as store:
        account = add_account(
            store,
            person,
            frozenset({Role.DATA_SCIENTIST}),
            time.time(),
            password=PASSWORD,
            own_password=True,
        )
    with FaultServer(models=["test/model"], fault=think, host=HOST) as server:
        words = site.run_words(server.url)
        words[words.index("--suite") + 1] = suite
        assert site.intramural(*words).returncode == 0
        site.intramural("run", "--suite", suite, "--conf-paths", missing)
        site.intramural("run", "--suite", suite, "-r", f"{thought}:model={thought}")
        with serve(site) as (process, address), open_queue(site) as queue:
            job = queue.queue(server.url, "test/model")
            client = httpx.Client(base_url=address, timeout=30, trust_env=False)
            form = {"name": person, "password": PASSWORD}
            client.post("/sign-in", data=form, headers={"Origin": address})
            for path in ("/", f"/{thought}", f"/results/{thought}?q={thought}", "/jobs/x"):
                client.get(path, headers={"X-Forwarded-User": thought})
            queue.wait_until_ended(job)
            server.stop()
            lost = site.run_words(server.url, "--replace", "--max-eval-instances", "3")
            site.intramural(*lost)
            process.send_signal(signal.SIGINT)
            printed, errors = process.communicate(timeout=60)
    site.intramural("purge", "--older-than", "0")
    log = tmp_path / "agent.log"
    assert Finder(canaries).search_named(log.read_bytes()) == {}
    assert HOST not in log.read_text()
    assert '"event"' not in errors
    lines = read(log)
    for line in lines:
        event = str(line["event"])
        assert set(line) - EVERY_LINE - CONTEXT <= FIELDS[event], line
        assert WITHHELD not in line.values(), line
    seen = {str(line["event"]) for line in lines}
    assert seen >= {
        *("command_started", "command_ended", "server_probed", "run_started", "run_ended"),
        *("request_sent", "job_started", "job_ended", "job_queued", "texts_purged"),
        *("service_started", "service_stopped", "request_answered"),
    }
    (of_job,) = [line for line in lines if line["event"] == "run_ended" and "job" in line]
    assert of_job["job"] == job
    assert of_job["benchmark"] == "own"
    assert str(of_job["deployment"]).startswith("server-")
    (first, *_) = [line for line in lines if line["event"] == "run_ended"]
    assert (first["asked"], first["stored"], first["failed"]) == (12, 0, 0)
    codes = [line["exit_code"] for line in lines if line["event"] == "command_ended"]
    assert {0, 2, 4} <= set(codes)
    assert account.account_id not in [line.get("account") for line in lines]
    assert printed == ""


@pytest.mark.timeout(120)
def test_the_events_of_a_job_are_on_the_services_standard_error_and_not_in_the_jobs_log(
    make_site: Callable[..., UserSite],
):
    site = make_site()
    with FaultServer(models=["test/model"]) as server, open_queue(site) as queue:
        job = queue.queue(server.url, "test/model")
        command = [sys.executable, "-m", "agent", "--site", str(site.directory)]
        options = ["--log-level", "info", "--log-format", "json"]
        process = subprocess.Popen(
            [*command, *options, "jobs", "dispatch"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        queue.processes.append(process)  # ended with the queue, whatever happens
        queue.wait_until_ended(job)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=200)
        assert "run_ended" not in queue.log(job)
    lines = [json.loads(line) for line in errors.splitlines()]
    by_event = {line["event"]: line for line in lines}
    assert by_event["run_ended"]["job"] == by_event["job_ended"]["ended_job"] == job
    assert by_event["run_ended"]["process"] != by_event["job_ended"]["process"]
    assert by_event["job_ended"]["state"] == "done"
    names = [line["command"] for line in lines if line["event"] == "command_started"]
    assert names == ["jobs dispatch", "run"]
    assert by_event["command_started"]["uid"] == os.getuid()


def test_the_option_overrides_the_settings_and_wrong_settings_are_told_as_before(
    make_site: Callable[..., UserSite],
):
    site = make_site()
    site.set("log_level: info\nlog_format: json")
    quiet = site.intramural("--log-level", "warning", "benchmarks", "list")
    assert quiet.stderr == ""
    text = site.intramural("--log-format", "text", "benchmarks", "list")
    assert " info command_started " in text.stderr
    lines = [json.loads(line) for line in site.intramural("runs", "list").stderr.splitlines()]
    assert [line["event"] for line in lines] == ["command_started", "command_ended"]
    site.set("log_file: [1]")
    wrong = site.intramural("runs", "list")
    assert wrong.returncode == 2
    assert "log_file: expected a path" in wrong.stderr


@pytest.mark.timeout(400)
def test_a_job_of_a_service_that_its_manager_ends_stays_in_the_queue(
    make_site: Callable[..., UserSite],
):
    site = make_site()
    slow = FaultServer(models=["test/model"], latency_s=5)
    with slow as server, open_queue(site) as queue:
        job = queue.queue(server.url, "test/model")
        site.set("log_level: info\nlog_format: json\nlog_file: agent.log")
        with serve(site) as (process, _):
            wait_for(lambda: asks_notes(server), "questions")
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=200)
        assert process.returncode == 0
        assert queue.state(job) == "queued"
    lines = read(site.directory / "agent.log")
    events = [line["event"] for line in lines if line["process"] == process.pid]
    assert events[-3:] == ["service_stopped", "job_ended", "command_ended"]
    assert [line["state"] for line in lines if line["event"] == "job_ended"] == ["queued"]
