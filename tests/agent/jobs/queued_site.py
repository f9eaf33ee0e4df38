"""A site with a queue, as its users have it: jobs queued by the command line, a dispatcher in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from tests.agent.fault_server import Asked, FaultServer
from tests.end_to_end.conftest import UserSite

MODELS = ("test/m1", "test/m2", "test/m3")
PATIENCE_S = 60.0


def asks_notes(server: FaultServer) -> list[Asked]:
    """Return the benchmark's questions that a server was asked, without those of the probe."""
    return [asked for asked in server.asked if "invented person" in asked.prompt]


def wait_for(condition: Callable[[], object], what: str = "") -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, f"in vain: {what}"
        time.sleep(0.05)


class QueuedSite:
    """One site, with the commands of its queue."""

    def __init__(self, site: UserSite) -> None:
        self.site = site
        self.processes: list[subprocess.Popen[bytes]] = []

    def queue(self, url: str, model: str, *more: str) -> str:
        """Queue a run; return the job's id."""
        words = self.site.run_words(url, "--queue", "-n", "4", *more, model=model)
        return self.read_id(words)

    def read_id(self, words: Sequence[str]) -> str:
        """Run a command that queues a job; return the job's id."""
        queued = self.site.intramural(*words)
        assert queued.returncode == 0, queued.stderr
        return queued.stdout.split("queued as job ")[1].split(":")[0]

    def dispatch(self) -> "subprocess.Popen[bytes]":
        """Start a dispatcher in a process of its own."""
        command = [sys.executable, "-m", "agent", "--site", str(self.site.directory)]
        process = subprocess.Popen(
            [*command, "jobs", "dispatch"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        return process

    def jobs(self) -> list[dict[str, Any]]:
        shown = self.site.intramural("jobs", "list", "--format", "json", "--ended", "100")
        assert shown.returncode == 0, shown.stderr
        return json.loads(shown.stdout)

    def show(self, job_id: str) -> dict[str, Any]:
        shown = self.site.intramural("jobs", "show", job_id, "--format", "json")
        assert shown.returncode == 0, shown.stderr
        return json.loads(shown.stdout)[0]

    def state(self, job_id: str) -> str:
        return str(self.show(job_id)["state"])

    def log(self, job_id: str) -> str:
        return (self.site.directory / "jobs" / f"{job_id}.log").read_text()

    def worker(self, job_id: str) -> int:
        """Return the process of a job's worker."""
        return int((self.site.directory / "jobs" / f"{job_id}.lock").read_text().split()[0])

    def wait_until_ended(self, *job_ids: str) -> None:
        open_states = {"queued", "running", "cancelling"}
        wait_for(
            lambda: (
                not any(job["state"] in open_states for job in self.jobs() if job["id"] in job_ids)
            ),
            "the jobs' end",
        )

    def summaries(self) -> dict[str, dict[str, Any]]:
        """Return the figures of every model."""
        shown = self.site.intramural("summarize", "--suite", "s", "--format", "json")
        assert shown.returncode == 0, shown.stderr
        keys = ("n", "unscored", "mean", "low", "high", "interval")
        return {row["model"]: {key: row[key] for key in keys} for row in json.loads(shown.stdout)}

    def end_all(self) -> None:
        for process in self.processes:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            process.wait(PATIENCE_S)


@contextmanager
def open_queue(site: UserSite) -> Iterator[QueuedSite]:
    queued = QueuedSite(site)
    try:
        yield queued
    finally:
        queued.end_all()


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
