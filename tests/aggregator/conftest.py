"""A fresh aggregator for each test, and one that really serves."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from aggregator.api.server import bind, check_ready, make_server
from aggregator.home import Home
from aggregator.store.database import Database
from tests.aggregator import federation
from tests.aggregator.federation import TestSite, new_home, ready
from tests.aggregator.postgres_cluster import create_database, find_programs, start_cluster


@pytest.fixture(scope="session", autouse=True)
def database_of_choice() -> Iterator[None]:
    """With INTRAMURAL_TEST_DATABASE=postgresql every aggregator of these tests is on PostgreSQL, or the tests fail."""
    choice = os.environ.get("INTRAMURAL_TEST_DATABASE", "sqlite")
    if choice == "sqlite":
        yield
        return
    if choice != "postgresql":
        pytest.fail(f"INTRAMURAL_TEST_DATABASE is {choice}; expected sqlite or postgresql")
    try:
        find_programs()
    except (
        pytest.skip.Exception
    ) as missing:  # other tests skip then; who asked for PostgreSQL wants to know
        pytest.fail(f"INTRAMURAL_TEST_DATABASE is postgresql, but: {missing}")
    with start_cluster() as cluster, pytest.MonkeyPatch.context() as patch:
        patch.setattr(federation, "make_database_url", lambda: create_database(cluster))
        yield


@pytest.fixture
def on_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a test's aggregators on SQLite: it is about the database's file."""
    monkeypatch.setattr(federation, "make_database_url", lambda: None)


@pytest.fixture
def empty_database(tmp_path: Path) -> Iterator[Database]:
    made = Database(federation.make_database_url() or f"sqlite:///{tmp_path / 'empty.sqlite3'}")
    yield made
    made.close()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = new_home(tmp_path / "aggregator")
    yield made
    made.database.close()


@pytest.fixture
def site(home: Home) -> TestSite:
    return ready(home)


@dataclass
class Served:
    """A server on loopback."""

    home: Home
    url: str

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def post(self, body: bytes, path: str = "/v1/submissions", **headers: str) -> httpx.Response:
        return httpx.post(
            self.url + path,
            content=body,
            headers=headers,
            timeout=20,
            trust_env=False,
            verify=False,
        )

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.url + path, timeout=20, trust_env=False, verify=False)


@contextlib.contextmanager
def serve_in_thread(home: Home) -> Iterator[Served]:
    """Serve with the real server, in a thread of this process."""
    check_ready(home)
    listening = bind("127.0.0.1", 0)
    server = make_server(home)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield Served(home, f"http://127.0.0.1:{listening.getsockname()[1]}")
    finally:
        server.should_exit = True
        thread.join(timeout=20)
    assert not thread.is_alive()


@pytest.fixture
def served(home: Home) -> Iterator[Served]:
    with serve_in_thread(home) as running:
        yield running


@dataclass
class ServedByProcess(Served):
    """The command `serve` in a process of its own, and its log."""

    process: subprocess.Popen[str]
    log: Path


def start(
    home: Home,
    log: Path,
    program: str = "import aggregator.__main__",
    options: tuple[str, ...] = (),
) -> ServedByProcess:
    with log.open("a") as errors:
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                program,
                "--dir",
                str(home.directory),
                "serve",
                "--port",
                "0",
                *options,
            ],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("Serving on "), log.read_text()
    return ServedByProcess(home, line.split()[-1], process, log)


def stop(served: ServedByProcess) -> None:
    served.process.terminate()
    served.process.wait(timeout=20)
    assert served.process.stdout is not None
    served.process.stdout.close()


@pytest.fixture
def process(home: Home, tmp_path: Path) -> Iterator[ServedByProcess]:
    running = start(home, tmp_path / "serve.log")
    yield running
    stop(running)
