"""The service or a worker is killed, a run is cancelled, a second service starts: nothing is lost or asked twice."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.agent.fault_server import Asked, FaultServer, Held
from tests.agent.jobs.queued_site import (
    MODELS,
    QueuedSite,
    asks_notes,
    is_alive,
    open_queue,
    wait_for,
)
from tests.end_to_end.conftest import UserSite
from tests.end_to_end.test_killed_runs import says_yes_or_no


def slow_server(latency_s: float = 0.1) -> FaultServer:
    return FaultServer(models=MODELS, fault=says_yes_or_no, latency_s=latency_s)


def test_the_service_is_killed_during_three_queued_runs(make_site: Callable[..., UserSite]):
    with slow_server(0.0) as server, open_queue(make_site("undisturbed", 40)) as undisturbed:
        for model in MODELS:
            assert undisturbed.site.run(server.url, model=model).returncode == 0
        expected = undisturbed.summaries()
    with (
        slow_server() as one,
        slow_server() as other,
        open_queue(make_site("killed", 40)) as queue,
    ):
        jobs = [
            queue.queue(server.url, m) for server, m in zip((one, one, other), MODELS, strict=True)
        ]
        for asked in (
            5,
            45,
        ):  # in the middle of the first runs, and of the second one on the first server
            dispatcher = queue.dispatch()
            wait_for(lambda asked=asked: len(asks_notes(one)) > asked, "questions")
            dispatcher.kill()
            dispatcher.wait()
        queue.dispatch()
        queue.wait_until_ended(*jobs)
        assert [queue.state(job) for job in jobs] == ["done"] * 3
        assert queue.summaries() == expected
    for figures in expected.values():
        assert figures["n"] == 40


def test_a_killed_service_leaves_no_worker_behind(queue: QueuedSite):
    with slow_server() as server:
        job = queue.queue(server.url, MODELS[0])
        dispatcher = queue.dispatch()
        wait_for(lambda: asks_notes(server), "questions")
        worker = queue.worker(job)
        dispatcher.kill()
        dispatcher.wait()
        wait_for(lambda: not is_alive(worker), "the worker's end")
        assert queue.state(job) == "queued"
        assert queue.show(job)["attempts"] == 0
        time.sleep(0.3)
        asked = len(server.asked)
        time.sleep(0.5)
        assert len(server.asked) == asked


def test_a_killed_worker_is_started_again_and_repeats_no_stored_answer(queue: QueuedSite):
    with slow_server() as server:
        job = queue.queue(server.url, MODELS[0])
        queue.dispatch()
        wait_for(lambda: len(asks_notes(server)) > 10, "questions")
        os.kill(queue.worker(job), signal.SIGKILL)
        queue.wait_until_ended(job)
        assert queue.state(job) == "done"
        assert queue.show(job)["attempts"] == 2
        assert queue.summaries()[MODELS[0]]["n"] == 40
        assert len(asks_notes(server)) < 60


@pytest.mark.full
def test_a_worker_that_is_killed_three_times_fails_its_job_with_a_sentence(queue: QueuedSite):
    with slow_server(1.0) as server:
        job = queue.queue(server.url, MODELS[0])
        queue.dispatch()
        for attempt in (1, 2, 3):
            wait_for(
                lambda attempt=attempt: (
                    (queue.state(job), queue.show(job)["attempts"]) == ("running", attempt)
                ),
                "the attempt",
            )
            os.kill(queue.worker(job), signal.SIGKILL)
        queue.wait_until_ended(job)
    shown = queue.show(job)
    assert (shown["state"], shown["exit_code"]) == ("failed", None)
    assert "its process vanished 3 times" in shown["note"]
    assert "signal 9" in shown["note"]


def test_a_run_is_cancelled_while_it_asks_and_resumed_later(queue: QueuedSite):
    with slow_server() as server:
        job = queue.queue(server.url, MODELS[0])
        queue.dispatch()
        wait_for(lambda: len(asks_notes(server)) > 10, "questions")
        cancelled = queue.site.intramural("jobs", "cancel", job[:6])
        assert cancelled.stdout == f"job {job} is being stopped\n"
        queue.wait_until_ended(job)
        assert queue.state(job) == "cancelled"
        stored = sum(one.response is not None for one in queue.site.stored())
        assert stored > 0
        watched = queue.site.intramural("jobs", "watch", job)
        assert (watched.returncode, f"job {job} is cancelled" in watched.stderr) == (1, True)
        again = queue.read_id(["jobs", "retry", job])
        queue.wait_until_ended(again)
        assert queue.state(again) == "done"
        assert f"asked {40 - stored}, kept {stored}" in queue.log(again)


def test_runs_on_one_server_take_turns_and_runs_on_two_overlap(queue: QueuedSite):
    with slow_server() as one, slow_server() as other:
        jobs = [
            queue.queue(server.url, m) for server, m in zip((one, one, other), MODELS, strict=True)
        ]
        queue.dispatch()
        queue.wait_until_ended(*jobs)
        asked = {}
        for server in (one, other):
            for note in asks_notes(server):
                asked.setdefault(note.body["model"], []).append(note.at)
    first, second, third = (asked[model] for model in MODELS)
    assert max(first) < min(second)
    assert min(third) < max(first)


def test_a_second_service_on_one_site_is_refused(queue: QueuedSite):
    queue.dispatch()
    wait_for(lambda: (queue.site.directory / "jobs/dispatcher.lock").exists(), "the dispatcher")
    time.sleep(1.0)  # it takes the lock
    command = [sys.executable, "-m", "agent", "--site", str(queue.site.directory)]
    second = subprocess.run(
        [*command, "jobs", "dispatch"], capture_output=True, text=True, timeout=60, check=False
    )
    assert second.returncode == 8
    assert "works off this site's queue" in second.stderr


@contextmanager
def held_server() -> Iterator[tuple[FaultServer, threading.Event]]:
    """A server that answers the first ten notes, and the others once the event is set; the probe's questions always."""
    go_on = threading.Event()

    def hold(asked: Asked) -> Held | None:
        is_held = "invented person" in asked.prompt and len(asks_notes(server)) > 10
        return Held(go_on) if is_held else None

    with FaultServer(models=MODELS, answer="Yes", fault=hold) as server:
        try:
            yield server, go_on
        finally:
            go_on.set()


def test_a_run_on_the_command_line_beside_its_own_job_is_refused_and_nothing_is_asked_twice(
    queue: QueuedSite,
):
    with held_server() as (server, go_on):
        job = queue.queue(server.url, MODELS[0])
        queue.dispatch()
        wait_for(lambda: len(asks_notes(server)) > 10, "questions")
        refused = queue.site.run(server.url, model=MODELS[0])
        assert refused.returncode == 8
        assert "another process is working on this run" in refused.stderr
        go_on.set()
        queue.wait_until_ended(job)
        assert queue.state(job) == "done"
        again = queue.site.run(server.url, model=MODELS[0])
        assert "asked 0, kept 40" in again.stdout
        assert len({note.prompt for note in asks_notes(server)}) == len(asks_notes(server)) == 40


def test_a_job_beside_its_own_run_on_the_command_line_fails_in_words_and_its_retry_keeps_all(
    queue: QueuedSite,
):
    with held_server() as (server, go_on):
        command = queue.site.command(server.url, "-n", "4", model=MODELS[0])
        first = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        wait_for(lambda: len(asks_notes(server)) > 10, "questions")
        job = queue.queue(server.url, MODELS[0])
        queue.dispatch()
        queue.wait_until_ended(job)
        assert queue.state(job) == "failed"
        assert "another process is working on this run" in queue.log(job)
        go_on.set()
        assert first.wait(60) == 0
        again = queue.read_id(["jobs", "retry", job])
        queue.wait_until_ended(again)
        assert "asked 0, kept 40" in queue.log(again)
        assert len({note.prompt for note in asks_notes(server)}) == len(asks_notes(server)) == 40


def test_a_service_that_is_stopped_puts_its_jobs_back_into_the_queue(queue: QueuedSite):
    with slow_server() as server:
        job = queue.queue(server.url, MODELS[0])
        dispatcher = queue.dispatch()
        wait_for(lambda: asks_notes(server), "questions")
        dispatcher.send_signal(signal.SIGINT)
        assert dispatcher.wait(60) == 0
        assert (queue.state(job), queue.show(job)["attempts"]) == ("queued", 0)


def test_a_service_manager_that_signals_every_process_loses_no_answer(queue: QueuedSite):
    """As systemd does: the service, its workers and whatever they started get SIGTERM, and workers get it twice."""
    with slow_server() as server:
        job = queue.queue(server.url, MODELS[0])
        dispatcher = queue.dispatch()
        wait_for(lambda: len(asks_notes(server)) > 10, "questions")
        answered = len(asks_notes(server)) - 4  # as many may be under way
        os.kill(queue.worker(job), signal.SIGTERM)
        dispatcher.send_signal(signal.SIGTERM)
        assert dispatcher.wait(60) == 0
        assert (queue.state(job), queue.show(job)["attempts"]) == ("queued", 0)
        assert sum(one.response is not None for one in queue.site.stored()) >= answered


def test_a_worker_that_is_interrupted_by_hand_goes_on_later(queue: QueuedSite):
    with slow_server() as server:
        job = queue.queue(server.url, MODELS[0])
        queue.dispatch()
        wait_for(lambda: len(asks_notes(server)) > 10, "questions")
        os.kill(queue.worker(job), signal.SIGINT)
        queue.wait_until_ended(job)
    assert (queue.state(job), queue.show(job)["attempts"]) == ("done", 1)
    assert "interrupted" in queue.log(job)
