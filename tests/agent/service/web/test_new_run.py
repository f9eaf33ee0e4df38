"""The form for a new run over a real service and server: what it would take, wrong input, and what is queued."""

import re
from collections.abc import Iterator

import pytest

from agent.service.web.new_run import read_forecast
from tests.agent.fault_server import FaultServer
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.web.running_service import Browser, RunningService
from tests.agent.service.web.test_model_pages import DEPLOYMENTS

WISH = {"benchmark": "pubmed_qa", "deployment": "local/qwen", "suite": "x", "instances": "20"}


@pytest.fixture
def server(filled: FilledSite) -> Iterator[FaultServer]:
    with FaultServer(models=("qwen",)) as server:
        content = DEPLOYMENTS.format(url=server.url).replace(
            "vllm_model_name: qwen}\n",
            "vllm_model_name: qwen}\n    gpu_hour_rate: 360000\n    gpus: 1\n    currency: EUR\n",
        )
        filled.site.deployments.write_text(content, "utf-8")
        yield server


@pytest.fixture
def dana(server: FaultServer, running: RunningService) -> Browser:
    del server
    return running.sign_in("dana")


def read_text(page: str) -> str:
    """Return the words of a page."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_requests_tokens_time_and_cost_are_expected_before_anything_is_queued(
    running: RunningService, dana: Browser
):
    page = dana.submit("/new-run", step="forecast", **WISH)
    assert page.status_code == 200
    words = read_text(page.text)
    for expected in ("20 requests", "tokens in", "tokens out", "takes", "EUR"):
        assert expected in words, expected
    assert "Start this run" in words
    with running.site.store() as store:
        assert store.jobs.list_open() == []


def test_the_sum_of_several_runs_comes_first(dana: Browser):
    wish = {**WISH, "benchmark": ["pubmed_qa", "med_qa"]}
    words = read_text(dana.submit("/new-run", step="forecast", **wish).text)
    assert words.index("all 2 runs") < words.index("Each run") < words.index("pubmed_qa:model=")
    assert "40 requests" in words


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("instances", "2x", "whole number"),
        ("instances", "-1", "whole number"),
        ("suite", "a/../b", "suite"),
        ("benchmark", "nonsense", "not in the list"),
        ("deployment", "cloud/gpt", "not in the list"),
    ],
)
@pytest.mark.parametrize("step", ["forecast", "queue"])
def test_wrong_input_is_said_and_everything_else_stays_as_it_was(
    running: RunningService, dana: Browser, field: str, value: str, message: str, step: str
):
    page = dana.submit("/new-run", step=step, judging="yes", **{**WISH, field: value})
    assert page.status_code == 400
    alert = re.search(r'role="alert">([^<]*)<', page.text)
    assert alert is not None
    assert message in alert.group(1)
    assert str(running.site.directory) not in page.text
    for name, kept in WISH.items():
        if name != field and name in ("benchmark", "deployment"):
            assert f'value="{kept}" checked' in page.text
        elif name != field:
            assert f'value="{kept}"' in page.text
    if field in ("instances", "suite"):
        assert f'value="{value}"' in page.text
    with running.site.store() as store:
        assert store.jobs.list_open() == []


def test_a_server_of_the_sites_own_is_started_for_the_run(running: RunningService, dana: Browser):
    wish = {**WISH, "deployment": "own/tiny"}
    words = read_text(dana.submit("/new-run", step="forecast", **wish).text)
    assert "The server of own/tiny does not run now" in words
    assert "Start this run" in words
    del running


def test_a_server_that_is_gone_is_said_without_the_folders_of_the_machine(
    running: RunningService, server: FaultServer
):
    server.stop()
    page = running.sign_in("dana").submit("/new-run", step="forecast", **WISH)
    assert page.status_code == 200
    assert "no expected duration" in page.text
    assert str(running.site.directory) not in page.text
    assert 'value="pubmed_qa" checked' in page.text


def test_a_server_that_is_gone_is_named_above_several_runs(
    running: RunningService, server: FaultServer
):
    """Only the blocks of the runs named it, folded away, and the sum had no duration for no reason that was said."""
    server.stop()
    wish = {**WISH, "benchmark": ["pubmed_qa", "head_qa"]}
    words = read_text(running.sign_in("dana").submit("/new-run", step="forecast", **wish).text)
    above, _, folded = words.partition("Each run")
    assert "no expected duration: " in above
    assert "refuses connections" in above
    assert "refuses connections" in folded


def test_any_output_is_read_as_blocks():
    forecast = read_forecast(["a", "  1", "  2", "b", "  3"], ["note: c"])
    assert forecast.summary is not None
    assert (forecast.summary.heading, forecast.summary.lines) == ("b", ("3",))
    assert [part.lines for part in forecast.parts] == [("1", "2")]
    assert forecast.notes == ("c",)
    assert read_forecast([]).summary is None
