"""The whole command: killed during queued runs, started twice, and searched for what it must not say."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest

from agent.site.directory import Site
from tests.agent.fault_server import FaultServer
from tests.agent.jobs.queued_site import MODELS, asks_notes, open_queue, wait_for
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.web.running_service import PASSWORD, add_people
from tests.end_to_end.conftest import UserSite
from tests.end_to_end.test_killed_runs import says_yes_or_no

pytestmark = pytest.mark.full
CANARY = "Zebedee Quillfeather"


@dataclass
class Command:
    """`intramural serve` as a process, with the address that it printed."""

    process: "subprocess.Popen[str]"
    address: str


@contextmanager
def serve(site: Site) -> Iterator[Command]:
    words = [sys.executable, "-m", "agent", "--site", str(site.directory), "serve", "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        yield Command(process, process.stdout.readline().split()[0].rstrip("/"))
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)


def sign_in(address: str) -> httpx.Client:
    client = httpx.Client(base_url=address, timeout=30, trust_env=False)
    fields = {"name": "dana", "password": PASSWORD}
    done = client.post("/sign-in", data=fields, headers={"Origin": address})
    assert done.status_code == 303
    return client


def test_the_service_is_killed_during_three_queued_runs_which_end_with_the_same_numbers(
    make_site: Callable[..., UserSite],
):
    quick = FaultServer(models=MODELS, fault=says_yes_or_no)
    with quick as server, open_queue(make_site("undisturbed", 20)) as undisturbed:
        for model in MODELS:
            assert undisturbed.site.run(server.url, model=model).returncode == 0
        expected = undisturbed.summaries()
    slow = FaultServer(models=MODELS, fault=says_yes_or_no, latency_s=0.5)
    with slow as server, open_queue(make_site("killed", 20)) as queue:
        site = Site(queue.site.directory)
        add_people(site)
        jobs = [queue.queue(server.url, model) for model in MODELS]
        with serve(site) as command:
            client = sign_in(command.address)
            wait_for(lambda: len(asks_notes(server)) > 5, "questions")
            assert "asks the same inference server" in client.get(f"/jobs/{jobs[2]}").text
            command.process.send_signal(signal.SIGKILL)
            command.process.wait()
        with serve(site) as command:
            queue.wait_until_ended(*jobs)
            page = sign_in(command.address).get("/jobs").text
        assert [queue.state(job) for job in jobs] == ["done"] * 3
        assert "failed" not in page
        assert queue.summaries() == expected


def test_a_second_service_of_the_same_site_is_refused_in_words(filled: FilledSite):
    with serve(filled.site):
        time.sleep(1)
        words = [sys.executable, "-m", "agent", "--site", str(filled.site.directory)]
        second = subprocess.run(
            [*words, "serve", "--port", "0"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert second.returncode != 0
    assert "works off this site's queue" in second.stderr


def test_no_text_of_a_record_is_in_what_the_service_writes_or_names(filled: FilledSite):
    """Prompts, answers and ids are planted, pages are read, and every byte that was written is searched."""
    add_people(filled.site)
    run_id = filled.add(
        [case(n, prompt=f"{CANARY} has fever", answer=CANARY, identity=CANARY) for n in range(3)]
    )
    with serve(filled.site) as command:
        client = sign_in(command.address)
        for path in (
            "/",
            f"/results/runs/{run_id}/instances-1.html",
            f"/results/runs/{run_id}/index.html",
            f"/results/runs/{CANARY}/index.html",
            "/jobs",
        ):
            answer = client.get(path)
            assert CANARY not in answer.text
            assert CANARY not in str(answer.headers)
            assert answer.headers["cache-control"] == "no-store"
        command.process.send_signal(signal.SIGINT)
        said, _ = command.process.communicate(timeout=60)
    assert CANARY not in said
    for folder, _, names in os.walk(filled.site.directory):
        for name in names:
            assert CANARY not in name
            with open(os.path.join(folder, name), "rb") as file:  # noqa: PTH118, PTH123 (any name)
                assert CANARY.encode() not in file.read()


def test_while_another_program_locks_the_store_the_page_says_so_and_nothing_is_lost(
    filled: FilledSite,
):
    add_people(filled.site)
    filled.add([case(0)])
    with serve(filled.site) as command:
        client = sign_in(command.address)
        path = filled.site.directory / "store" / "site.sqlite3"
        with sqlite3.connect(path, isolation_level=None) as other:
            other.execute("BEGIN EXCLUSIVE")
            secret = re.search(r'name="csrf" value="([0-9a-f]{64})"', client.get("/account").text)
            other.execute("ROLLBACK")
        assert secret is not None  # reading goes on while others write
        assert client.get("/").status_code == 200
