"""The form for a new run over a real service and server: what it would take, wrong input, and what is queued."""

import re
from collections.abc import Iterator

import pytest

from agent.service.web.new_run import read_forecast
from agent.store import QueuedCommand
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


def test_what_one_of_two_servers_lacks_is_said_above_all_runs_with_its_deployment(
    filled: FilledSite, server: FaultServer, running: RunningService
):
    """The note of one server stood folded away in the block of one run, and named no model."""
    with FaultServer(models=("qwen",), ignores={"max_tokens"}) as other:
        content = DEPLOYMENTS.format(url=server.url)
        second = content.partition("own/tiny")[0].partition("model_deployments:\n")[2]
        second = second.replace("local/qwen", "local/older").removesuffix("  - name: ")
        second = second.replace(server.url, other.url)
        filled.site.deployments.write_text(content + second, "utf-8")
        wish = {**WISH, "deployment": ["local/qwen", "local/older"]}
        page = running.sign_in("dana").submit("/new-run", step="forecast", **wish)
    above, _, folded = read_text(page.text).partition("Each run")
    note = "The server only honours the token limit"
    assert f"Deployment local/older: {note}" in above
    assert f"Deployment local/qwen: {note}" not in above
    assert note not in folded


def test_a_run_that_a_server_cannot_do_is_refused_with_its_deployment(
    filled: FilledSite, running: RunningService
):
    limits = {"max_tokens", "max_completion_tokens"}
    with FaultServer(models=("qwen",), ignores=limits) as server:
        filled.site.deployments.write_text(DEPLOYMENTS.format(url=server.url), "utf-8")
        page = running.sign_in("dana").submit("/new-run", step="forecast", **WISH)
    alert = re.search(r'role="alert">([^<]*)<', page.text)
    assert alert is not None
    assert "deployment local/qwen: the server does not honour features" in alert.group(1)


def test_without_a_model_the_page_says_how_to_add_one(filled: FilledSite, running: RunningService):
    """The form had an empty box of models, and a button that could only fail."""
    assert "model_deployments: []" in filled.site.deployments.read_text("utf-8")
    dana = running.sign_in("dana")
    page = dana.get("/new-run").text
    assert "There is no model yet" in page
    assert "model_deployments.yaml" in page
    assert "docs/deployments.md" in page
    assert 'href="/models"' in page
    assert "<fieldset>" not in page
    assert "There is no model yet" in dana.get("/models").text
    # The lines to copy are a file that works.
    lines = re.search(r"<pre[^>]*>(model_deployments:.*?)</pre>", page, re.DOTALL)
    assert lines is not None
    filled.site.deployments.write_text(lines.group(1), "utf-8")
    assert 'value="local/my-model"' in dana.get("/new-run").text


def end_last_job(running: RunningService) -> str:
    """End the newest job as failed, and return its id."""
    with running.site.store() as store:
        job = store.jobs.list_open()[-1]
        store.jobs.begin(job.job_id, 1_800_000_001)
        store.jobs.end(job.job_id, 4, 1_800_000_002, "")
    return job.job_id


def read_fields(page: str) -> dict[str, list[str]]:
    """Return what a browser would send with the form of a page: ticked boxes and texts."""
    fields: dict[str, list[str]] = {}
    for tag in re.findall(r"<input [^>]*>", page):
        name = re.search(r'name="([^"]*)"', tag)
        value = re.search(r'value="([^"]*)"', tag)
        is_box = 'type="checkbox"' in tag
        if name is None or value is None or name[1] == "csrf" or "disabled" in tag:
            continue
        if not is_box or " checked" in tag:
            fields.setdefault(name[1], []).append(value[1])
    return fields


def test_a_failed_job_leads_to_a_form_with_the_same_choices(running: RunningService, dana: Browser):
    """The page of a failed job offered only to run it again, and eighteen choices had to be made anew."""
    wish = {
        "benchmark": ["pubmed_qa", "med_dialog:subset=icliniq"],
        "deployment": "local/qwen",
        "suite": "try-2",
        "instances": "7",
        "private": "yes",
    }
    assert dana.submit("/new-run", step="queue", **wish).status_code == 303
    with running.site.store() as store:
        first = store.jobs.list_open()[-1].arguments
    job_id = end_last_job(running)
    link = f'href="/new-run?job={job_id}"'
    assert link in dana.get(f"/jobs/{job_id}").text
    page = dana.get(f"/new-run?job={job_id}")
    fields = read_fields(page.text)
    assert fields["suite"] == ["try-2"]
    assert "judging" not in fields
    fields.pop("cron")
    assert dana.submit("/new-run", step="queue", **fields).status_code == 303
    with running.site.store() as store:
        again = store.jobs.list_open()[-1].arguments
    assert sorted(again) == sorted(first)  # the form has its own order of benchmarks


def test_choices_that_are_gone_are_named(
    filled: FilledSite, running: RunningService, dana: Browser
):
    assert dana.submit("/new-run", step="queue", **WISH).status_code == 303
    job_id = end_last_job(running)
    content = filled.site.deployments.read_text("utf-8").replace("local/qwen", "local/other")
    filled.site.deployments.write_text(content, "utf-8")
    page = read_text(dana.get(f"/new-run?job={job_id}").text)
    assert "Not offered any more, so not chosen: local/qwen" in page


@pytest.mark.parametrize(
    "arguments",
    [
        ["rescore", "--suite", "x"],
        ["run", "--suite", "x", "--sample-seed", "3", "-r"],
        ["run", "--suite", "x", "--answer-mode", "constrained", "-r"],
    ],
)
def test_a_job_with_other_options_offers_no_form(
    running: RunningService, dana: Browser, arguments: list[str]
):
    if arguments[-1] == "-r":
        arguments = [
            *arguments,
            "pubmed_qa:model=qwen/qwen2.5-7b-instruct,model_deployment=local/qwen",
        ]
    with running.site.store() as store:
        account = store.accounts.find("dana")
        assert account is not None
        command = QueuedCommand(tuple(arguments), "t", account.account_id)
        store.jobs.add(command, 1_800_000_000)
    job_id = end_last_job(running)
    page = dana.get(f"/jobs/{job_id}").text
    assert "Run it again" in page
    assert "New run with the same choices" not in page
    assert dana.get(f"/new-run?job={job_id}").status_code == 400


def test_choices_of_somebody_elses_job_are_not_shown(running: RunningService, dana: Browser):
    for private in ({}, {"private": "yes"}):
        assert dana.submit("/new-run", step="queue", **WISH, **private).status_code == 303
        job_id = end_last_job(running)
        page = running.sign_in("dan").get(f"/new-run?job={job_id}")
        assert page.status_code in (400, 403)
        assert "pubmed_qa" not in page.text


def test_any_output_is_read_as_blocks():
    forecast = read_forecast(["a", "  1", "  note: d", "  2", "b", "  3"], ["note: c"])
    assert forecast.summary is not None
    assert (forecast.summary.heading, forecast.summary.lines) == ("b", ("3",))
    assert [part.lines for part in forecast.parts] == [("1", "2")]
    assert forecast.notes == ("c", "d")
    assert read_forecast([]).summary is None
