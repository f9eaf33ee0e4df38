"""The service is killed at any step of a post: no receipt without its leaf, and nothing that was taken is lost.

`make test-kills` tries every step of every kind of statement on both databases; `make test` a few.
"""

import http.client
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregator.home import Home, today_day
from aggregator.intake import accept
from protocol.envelope import decode
from protocol.receipt import verify_receipt
from tests.aggregator.conftest import start, stop
from tests.aggregator.federation import TestSite, new_home, ready, registry_of
from tests.aggregator.log_checks import check_log
from tests.aggregator.postgres_cluster import create_database, start_cluster
from tests.aggregator.test_http import statement_of_kind

ALL = "INTRAMURAL_ALL_KILLS" in os.environ
KINDS = ("dataset", "plan", "abandon", "withdraw", "result")
MAX_STEPS = 200

DIES_AT_A_STEP = """
import os, signal
from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.pool import Pool
from aggregator.api import submission_routes

steps_left = None

def take_step(*_):
    global steps_left
    if steps_left is None:
        return
    steps_left -= 1
    if steps_left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

accept = submission_routes.accept

def accept_and_count(*arguments, **named):
    global steps_left
    steps_left = {step}
    try:
        receipted = accept(*arguments, **named)
        take_step()  # decided, and not yet answered
        return receipted
    finally:
        steps_left = None

submission_routes.accept = accept_and_count
for name in ("before_cursor_execute", "after_cursor_execute", "begin", "commit", "rollback"):
    event.listen(Engine, name, take_step)
event.listen(Pool, "checkin", take_step)
from aggregator.cli import main
main()
"""


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


def post_and_kill(home: Home, log: Path, envelope: bytes, step: int) -> str | None:
    """Post to a service that is killed at a step; return the answer, None if the service died first."""
    running = start(home, log, DIES_AT_A_STEP.format(step=step))
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
    try:
        connection.request("POST", "/v1/submissions", envelope)
        return connection.getresponse().read().decode()
    except (http.client.HTTPException, OSError):
        assert running.process.wait(timeout=20) == -signal.SIGKILL
        return None
    finally:
        connection.close()
        stop(running)


def kill_at_every_step(home: Home, site: TestSite, kind: str, log: Path, every: int) -> int:
    """Kill at each `every`-th step of taking statements of one kind; return at how many."""
    registry = registry_of(home)
    checked = check_log(home)
    for killed, step in enumerate(range(1, MAX_STEPS, every)):
        envelope = site.sign(statement_of_kind(home, site, kind, step))
        before = check_log(home, checked)
        answered = post_and_kill(home, log, envelope, step)
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
    home: Home, tmp_path: Path
) -> None:
    site = ready(home)
    kinds = KINDS if ALL else ("result",)
    counts = {
        kind: kill_at_every_step(home, site, kind, tmp_path / "log", 3 if ALL else 8)
        for kind in kinds
    }
    print(f"killed at {sum(counts.values())} steps: {counts}")
    assert sum(counts.values()) >= (50 if ALL else 2)
