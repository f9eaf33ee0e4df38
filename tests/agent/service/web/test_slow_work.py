"""Probes, drafts and checks that take long leave their requests in seconds, and keep nobody else's pages waiting."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from starlette.responses import Response

from agent.errors import BusyError, ConfigError
from agent.service.web.slow_work import SlowWork, WorkLimits
from agent.store import Account
from tests.agent.fault_server import Asked, FaultServer
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.web.running_service import Browser, RunningService

WAIT_S = 0.5
DEPLOYMENT = """
  - name: local/slow-{number}
    model_name: slow/model-{number}
    client_spec:
      class_name: helm.clients.vllm_client.VLLMChatClient
      args: {{base_url: "{url}", vllm_model_name: qwen}}
"""


class SlowServer:
    """Inference servers that answer nothing until they are let go."""

    def __init__(self, filled: FilledSite, count: int) -> None:
        self.go = threading.Event()
        self.servers = [FaultServer(models=("qwen",), fault=self._wait) for _ in range(count)]
        self._filled = filled

    def _wait(self, asked: Asked) -> None:
        del asked
        self.go.wait(60)

    def __enter__(self) -> "SlowServer":
        lines = [
            DEPLOYMENT.format(number=number, url=server.__enter__().url)
            for number, server in enumerate(self.servers)
        ]
        text = "model_deployments:" + "".join(lines)
        self._filled.site.deployments.write_text(text, "utf-8")
        return self

    def __exit__(self, *error: object) -> None:
        self.go.set()
        for server in self.servers:
            server.stop()


@pytest.fixture
def slow(filled: FilledSite, running: RunningService) -> Iterator[SlowServer]:
    running.service.slow_work = SlowWork(WorkLimits(wait_s=WAIT_S))
    with SlowServer(filled, 3) as server:
        yield server


def wait_for(browser: Browser, address: str) -> str:
    """Return where the page of slow work leads when the work has ended."""
    for _ in range(300):
        page = browser.get(address)
        if page.status_code == 303:
            return page.headers["location"]
        assert page.status_code == 200
        assert "This goes on" in page.text
        time.sleep(0.1)
    raise AssertionError("the work did not end")


def test_a_slow_server_keeps_no_request_and_nobody_elses_page(
    slow: SlowServer, running: RunningService, people: dict[str, Account]
):
    """A probe of a server that answers slowly held its request for three minutes."""
    dana, vera = running.sign_in("dana"), running.sign_in("vera")
    secret = dana.read_secret()
    addresses: list[str] = []
    for number in range(3):
        began = time.monotonic()
        sent = dana.send(f"/models/local/slow-{number}", csrf=secret)
        taken = time.monotonic() - began
        assert sent.status_code == 303
        assert sent.headers["location"].startswith("/work/")
        assert WAIT_S <= taken < WAIT_S + 5
        addresses.append(sent.headers["location"])
    # The same again is the same work; a fourth piece is one too many.
    again = dana.send("/models/local/slow-0", csrf=secret)
    assert again.headers["location"] == addresses[0]
    refused = dana.send("/benchmarks/pubmed_qa/check", csrf=secret)
    assert refused.status_code == 503
    assert "3 slow tasks of yours are going on" in refused.text
    times: list[float] = []
    for path in ("/", "/models", "/jobs", "/results/index.html", "/benchmarks") * 2:
        began = time.monotonic()
        assert vera.get(path).status_code == 200
        times.append(time.monotonic() - began)
    print(f"pages of others: {sorted(times)[len(times) // 2] * 1000:.0f} ms at the median")
    assert max(times) < 10  # of a machine that does much else; the servers answer after a minute
    assert not slow.go.is_set()
    # Nobody else sees the outcome, not even in another session of the same account.
    assert vera.get(addresses[0]).status_code == 404
    assert running.sign_in("dana").get(addresses[0]).status_code == 404
    slow.go.set()
    assert wait_for(dana, addresses[0]) == "/models/local/slow-0"
    assert "The probe has ended." in dana.get("/models/local/slow-0").text
    assert dana.get(addresses[0]).status_code == 404  # it is shown once
    del people


def test_what_ends_in_time_is_answered_at_once(running: RunningService):
    dana = running.sign_in("dana")
    checked = dana.submit("/benchmarks/pubmed_qa/check")
    assert checked.status_code == 200
    assert "All data was read again" in checked.text


def block(go: threading.Event, outcome: Response | Exception) -> Callable[[], Response]:
    def do() -> Response:
        go.wait(20)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return do


def test_a_fault_of_slow_work_is_raised_where_its_outcome_is_fetched():
    works, go = SlowWork(WorkLimits(wait_s=0.05)), threading.Event()
    sent = works.answer("s", "a", "x", block(go, ConfigError("wrong")))
    work = works.find(sent.headers["location"].removeprefix("/work/"), "s")
    assert work is not None
    assert works.fetch(work) is None
    go.set()
    assert work.ended.wait(10)
    with pytest.raises(ConfigError, match="wrong"):
        works.fetch(work)
    assert works.find(work.work_id, "s") is None


def test_few_pieces_of_work_go_on_at_a_time_and_the_others_wait_for_their_turn():
    works, go = SlowWork(WorkLimits(wait_s=0.02, at_once=2)), threading.Event()
    at_work: list[int] = []

    def make(number: int) -> Callable[[], Response]:
        def do() -> Response:
            at_work.append(number)
            go.wait(20)
            return Response()

        return do

    for number in range(5):
        works.answer("s", f"account {number}", number, make(number))
    assert sorted(at_work) == [0, 1]
    go.set()
    for _ in range(200):
        if len(at_work) == 5:
            break
        time.sleep(0.05)
    assert sorted(at_work) == [0, 1, 2, 3, 4]


def test_an_account_has_few_pieces_of_work_in_all_its_sessions():
    works, go = SlowWork(WorkLimits(wait_s=0.02, per_account=2)), threading.Event()
    works.answer("s1", "a", 1, block(go, Response()))
    works.answer("s2", "a", 1, block(go, Response()))
    with pytest.raises(BusyError, match="2 slow tasks"):
        works.answer("s3", "a", 1, block(go, Response()))
    works.answer("s4", "b", 1, block(go, Response()))
    go.set()


def test_an_outcome_that_nobody_fetches_is_forgotten():
    works, go = SlowWork(WorkLimits(wait_s=0.02, kept_s=0.1)), threading.Event()
    sent = works.answer("s", "a", 1, block(go, Response()))
    work_id = sent.headers["location"].removeprefix("/work/")
    work = works.find(work_id, "s")
    assert work is not None
    go.set()
    assert work.ended.wait(10)
    time.sleep(0.2)
    assert works.find(work_id, "s") is None
