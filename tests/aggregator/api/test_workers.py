"""Several workers on one PostgreSQL: they share the log, and each can die."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from aggregator.cli import cli
from aggregator.errors import SettingsError
from aggregator.home import Home
from protocol.envelope import decode
from protocol.receipt import verify_receipt
from tests.aggregator.conftest import ServedByProcess, start, stop
from tests.aggregator.federation import TestSite, new_home, ready, registry_of, scores
from tests.aggregator.log_checks import check_log
from tests.aggregator.postgres_cluster import create_database, find_programs, start_cluster

find_programs()  # without them nothing of this file can be tried


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with start_cluster() as url:
        yield url


@pytest.fixture
def home(cluster: str, tmp_path: Path) -> Iterator[Home]:
    made = new_home(tmp_path / "aggregator", database_url=create_database(cluster))
    yield made
    made.database.close()


@pytest.fixture
def two_workers(home: Home, tmp_path: Path) -> Iterator[ServedByProcess]:
    running = start(home, tmp_path / "serve.log", options=("--workers", "2"))
    yield running
    stop(running)


def list_workers(served: ServedByProcess) -> list[int]:
    text = Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children").read_text()
    return [int(pid) for pid in text.split()]


def post_until_taken(served: ServedByProcess, envelope: bytes) -> str:
    """Post as a site does, which tries again while the connection fails; return the receipt."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            answer = served.post(envelope)
            if answer.status_code == 200:
                return str(answer.json()["receipt"])
            assert answer.status_code == 503
        time.sleep(0.05)
    raise AssertionError("no receipt within half a minute")


def post_chain(served: ServedByProcess, site: TestSite, length: int) -> dict[bytes, str]:
    """Post links of one site's chain, one after the other; return their receipts."""
    registry = registry_of(served.home)
    receipts = {}
    for seed in range(length):
        envelope = site.sign(site.result(registry, scores(seed)))
        receipts[envelope] = post_until_taken(served, envelope)
        site.accepted(envelope)
    return receipts


def test_two_workers_share_one_log_and_one_page_of_metrics(two_workers: ServedByProcess) -> None:
    home = two_workers.home
    sites = [ready(home, f"Site {number}") for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        receipts = list(pool.map(lambda site: post_chain(two_workers, site, 5), sites))
    assert sum(len(each) for each in receipts) == 30
    assert check_log(home) == 6 * 2 + 6 + 30
    time.sleep(1.1)  # the page is made once a second
    lines = two_workers.get("/metrics").text.splitlines()
    taken = 'intramural_answers_total{method="POST",route="/v1/submissions",status="200"} '
    assert [line for line in lines if line.startswith(taken)] == [taken + "30.0"]


def test_workers_killed_in_turn_lose_nothing_and_are_replaced(two_workers: ServedByProcess) -> None:
    home = two_workers.home
    registry = registry_of(home)
    sites = [ready(home, f"Site {number}") for number in range(4)]
    registry = registry_of(home)
    seen: set[int] = set()
    with ThreadPoolExecutor(4) as pool:
        chains = [pool.submit(post_chain, two_workers, site, 12) for site in sites]
        for _ in range(4):
            time.sleep(0.7)
            workers = list_workers(two_workers)
            if workers:
                seen |= set(workers)
                os.kill(workers[0], signal.SIGKILL)
        receipts = [chain.result() for chain in chains]
    assert check_log(home) == 4 * 2 + 4 + 4 * 12
    for chain in receipts:
        for envelope, receipt in chain.items():
            verify_receipt(receipt, decode(envelope).pae, registry.log_keys, registry.log_name)
    deadline = time.monotonic() + 20
    while len(list_workers(two_workers)) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(list_workers(two_workers)) == 2
    assert len(seen) > 2
    assert "is replaced" in two_workers.log.read_text()


@pytest.mark.full
def test_ending_the_service_ends_all_workers(home: Home, tmp_path: Path) -> None:
    running = start(home, tmp_path / "serve.log", options=("--workers", "3"))
    workers = list_workers(running)
    deadline = time.monotonic() + 20
    while len(workers) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
        workers = list_workers(running)
    stop(running)
    assert len(workers) == 3
    assert [pid for pid in workers if Path(f"/proc/{pid}").exists()] == []
    assert running.process.returncode == 0


def test_several_workers_on_sqlite_are_refused_in_a_sentence(tmp_path: Path) -> None:
    made = new_home(tmp_path / "on-sqlite", database_url=f"sqlite:///{tmp_path / 'log.sqlite3'}")
    made.database.close()
    result = CliRunner().invoke(cli, ["--dir", str(made.directory), "serve", "--workers", "2"])
    assert isinstance(result.exception, SettingsError)
    assert "2 workers need PostgreSQL" in str(result.exception)
