"""A service is scraped while jobs and commands work: what they do is counted, and nobody is named."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.agent.fault_server import Asked, FaultServer, Status
from tests.agent.jobs.queued_site import QueuedSite, open_queue, wait_for
from tests.end_to_end.conftest import UserSite

HOST = "127.7.31.7"


def refuse_some(asked: Asked) -> Status | None:
    """Fail on Notes 7, 17, ..., whenever they are asked about."""
    return Status(500) if "7 of an invented" in asked.prompt else None


def make_token(site: UserSite) -> str:
    added = site.intramural("accounts", "add", "prometheus", "--role", "viewer", "--origin", "proxy")  # fmt: skip
    assert added.returncode == 0, added.stderr
    made = site.intramural(
        *("tokens", "create", "prometheus", "--label", "monitoring"),
        *("--scope", "view_metrics", "--days", "30"),
    )
    assert made.returncode == 0, made.stderr
    return next(word for word in made.stdout.split() if word.startswith("imt_"))


@contextmanager
def serve(site: UserSite) -> Iterator[str]:
    """Start the service; yield its address."""
    command = [sys.executable, "-m", "agent", "--site", str(site.directory), "serve", "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[0].rstrip("/")
    finally:
        process.terminate()
        process.communicate(timeout=60)


class Scraper:
    def __init__(self, address: str, token: str) -> None:
        self._client = httpx.Client(base_url=address, timeout=60, trust_env=False)
        self._headers = {"Authorization": f"Bearer {token}"}
        self.text = ""

    def read(self) -> dict[str, float]:
        answer = self._client.get("/metrics", headers=self._headers)
        assert answer.status_code == 200, answer.text
        self.text = answer.text
        return {
            " ".join([sample.name, *sample.labels.values()]): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }


@pytest.mark.timeout(300)
def test_a_monitoring_system_sees_what_jobs_and_commands_do(
    make_site: Callable[..., UserSite], tmp_path: Path
):
    site = make_site("site", 30)
    site.set(f"allowed_hosts: [127.0.0.1, {HOST}]\nmax_attempts: 2\nlog_level: info")
    token = make_token(site)
    server = FaultServer(models=["test/model"], fault=refuse_some, host=HOST)
    with serve(site) as address, server, open_queue(site) as queue:
        scraper = Scraper(address, token)
        before = scraper.read()
        assert before["intramural_instances_total answered"] == 0
        watch_a_job(scraper, queue, server)
        values = scraper.read()
        assert values["intramural_instances_total answered"] == 27
        assert values["intramural_instances_total failed"] == 3
        assert values["intramural_server_requests_total server_error"] >= 3
        assert values["intramural_server_requests_total ok"] >= 27
        assert values["intramural_server_request_seconds_count"] >= 30
        assert values["intramural_jobs failed"] == 1
        server.fault = None
        assert site.run(server.url, "-n", "4").returncode == 0  # in a terminal
        values = scraper.read()
        assert values["intramural_instances_total answered"] == 30
        assert list((site.directory / "counts").glob("*.json")) == []
    planted = (HOST, "test/model", "own", "invented", "Test", str(tmp_path), "prometheus ")
    names = [word for word in planted if word in scraper.text.replace("prometheus_client", "")]
    assert names == []
    site.intramural("summarize", "--suite", "s")
    assert list((site.directory / "counts").glob("*.json")) == []


def watch_a_job(scraper: Scraper, queue: QueuedSite, server: FaultServer) -> None:
    """Queue a run, and see it in the figures while it goes on."""
    server.latency_s = 0.3
    job = queue.queue(server.url, "test/model")
    wait_for(lambda: scraper.read()["intramural_jobs running"] == 1, "the job to begin")
    wait_for(lambda: scraper.read()["intramural_instances_total answered"] > 0, "counts")
    queue.wait_until_ended(job)
    server.latency_s = 0.0
