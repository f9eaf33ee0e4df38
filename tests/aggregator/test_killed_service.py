"""The service is killed at any step of a post: no receipt without its leaf, and nothing that was taken is lost.

`make test-kills` tries every step of every kind of statement on both databases; `make test` a few.
"""

import http.client
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from aggregator.home import Home, today_day
from aggregator.intake import accept
from protocol.envelope import decode
from protocol.receipt import verify_receipt
from tests.aggregator.federation import TestSite, new_home, ready, registry_of
from tests.aggregator.log_checks import check_log
from tests.aggregator.postgres_cluster import create_database, start_cluster
from tests.aggregator.test_http import statement_of_kind
from tests.forked import ROOT, Nursery, Order, open_nursery

ALL = "INTRAMURAL_ALL_KILLS" in os.environ
KINDS = ("dataset", "plan", "abandon", "withdraw", "result")
MAX_STEPS = 200
START_S = 20.0


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> Iterator[str | None]:
    if request.param == "sqlite":
        yield None
        return
    with start_cluster() as cluster:
        yield create_database(cluster)


@pytest.fixture
def home(database_url: str | None, tmp_path: Path) -> Iterator[Home]:
    made = new_home(tmp_path / "aggregator", database_url=database_url)
    yield made
    made.database.close()


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    """Forks the services: a new interpreter for each of a hundred takes minutes."""
    with open_nursery() as nursery:
        yield nursery


class DyingService:
    """A service that is killed at a step of the first post."""

    def __init__(self, home: Home, nursery: Nursery, log: Path, step: int) -> None:
        self._nursery = nursery
        self._output = log.with_name(f"output-{step}")
        self._output.write_text("")
        order = Order(
            module="aggregator",
            words=["--dir", str(home.directory), "serve", "--port", "0"],
            folder=str(ROOT),
            output=str(self._output),
            errors=str(log),
            before="tests.aggregator.dying_service:die_at_step",
            settings={"step": step},
        )
        self._pid = nursery.begin(order)

    def read_port(self) -> int:
        """Return its port, once it listens."""
        until = time.monotonic() + START_S
        while not (said := self._output.read_text()).endswith("\n"):
            assert time.monotonic() < until, self._output.with_name("log").read_text()
            time.sleep(0.01)
        assert said.startswith("Serving on ")
        port = urlsplit(said.split()[-1]).port
        assert port is not None
        return port

    def end(self) -> int:
        """End it, unless it is dead already; return the signal that ended it, negative, or its exit code."""
        os.kill(self._pid, signal.SIGTERM)
        return self._nursery.wait(self._pid)


def post_and_kill(service: DyingService, envelope: bytes) -> str | None:
    """Post to a service that is killed at a step; return the answer, None if the service died first."""
    connection = http.client.HTTPConnection("127.0.0.1", service.read_port(), timeout=20)
    answer: str | None = None
    try:
        connection.request("POST", "/v1/submissions", envelope)
        answer = connection.getresponse().read().decode()
    except (http.client.HTTPException, OSError):
        pass
    finally:
        connection.close()
        code = service.end()
    assert (code == -signal.SIGKILL) is (answer is None)
    return answer


def kill_at_every_step(
    home: Home, nursery: Nursery, site: TestSite, kind: str, log: Path, every: int
) -> int:
    """Kill at each `every`-th step of taking statements of one kind; return at how many."""
    registry = registry_of(home)
    checked = check_log(home)
    for killed, step in enumerate(range(1, MAX_STEPS, every)):
        envelope = site.sign(statement_of_kind(home, site, kind, step))
        before = check_log(home, checked)
        answered = post_and_kill(DyingService(home, nursery, log, step), envelope)
        after = check_log(home, before)
        assert after in {before, before + 1}
        # Posted again it gets its receipt, once.
        receipt = accept(home, envelope, today_day=today_day()).receipt
        verify_receipt(receipt, decode(envelope).pae, registry.log_keys, registry.log_name)
        checked = check_log(home, before)
        assert checked == before + 1
        site.accepted(envelope)
        if answered is not None:  # it was done before that step
            assert after == before + 1
            return killed
    raise AssertionError("a post does not end")


@pytest.mark.sample(1)
def test_killed_at_any_step_the_service_loses_no_statement_and_gives_no_false_receipt(
    home: Home, nursery: Nursery, tmp_path: Path
) -> None:
    site = ready(home)
    kinds = KINDS if ALL else ("result",)
    counts = {
        kind: kill_at_every_step(home, nursery, site, kind, tmp_path / "log", 3 if ALL else 8)
        for kind in kinds
    }
    print(f"killed at {sum(counts.values())} steps: {counts}")
    assert sum(counts.values()) >= (50 if ALL else 2)
