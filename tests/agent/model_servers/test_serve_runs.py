"""Runs whose models the agent serves: one server after the other, and none left when the runs are done."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.catalog.deployments import read_deployments
from agent.catalog.model_server import ModelServer
from agent.catalog.run_entries import parse_run_entry
from agent.cli.doctor import examine
from agent.cli.run import run as run_command
from agent.errors import ConfigError, InferenceError
from agent.io.progress import Progress
from agent.model_servers import start
from agent.model_servers.engines import EngineStart
from agent.model_servers.running import list_running
from agent.runs.outcomes import RunOutcome
from agent.runs.plan import RunOptions
from agent.runs.run import run_entries
from agent.runs.serve_runs import run_while_serving
from agent.site.directory import Site, create_site
from agent.vocabulary import Reason
from tests.servers.sites import write_open_benchmark

DEPLOYMENTS = """\
model_deployments:
  - {name: local/one, model_name: org/one, model_server: {engine: llamacpp, weights: one.gguf}}
  - {name: local/two, model_name: org/two, model_server: {engine: llamacpp, weights: one.gguf}}
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site with two managed deployments, whose engines are small ones that note their starts."""
    site = create_site(tmp_path / "site", "St. Example")
    site.deployments.write_text(DEPLOYMENTS)
    (site.directory / "one.gguf").write_bytes(b"GGUF")

    def describe(server: ModelServer, name: str, port: int, token: str) -> EngineStart:
        del server
        assert list(list_running(site.servers)) == []  # one at a time
        with (tmp_path / "served").open("a") as file:
            file.write(f"{name}\n")
        command = (
            sys.executable,
            "-m",
            "tests.agent.model_servers.small_engine",
            "serve",
            str(tmp_path),
        )
        return EngineStart(command, {}, json.dumps({"name": name, "port": port, "token": token}))

    monkeypatch.setattr(start, "describe_start", describe)
    return site


def test_each_model_is_served_for_its_entries_and_the_outcomes_keep_their_order(
    site: Site, tmp_path: Path
):
    entries = [parse_run_entry(f"pubmed_qa:model=org/{name}") for name in ("two", "one")]
    options = RunOptions("try", max_eval_instances=2)
    served = dict.fromkeys(("local/one", "local/two"), lambda seconds: None)
    done = run_while_serving(site, entries, options, served, Progress(quiet=True))
    outcomes = done.outcomes
    assert [outcome.summary.run.deployment for outcome in outcomes] == ["local/two", "local/one"]
    assert [outcome.asked for outcome in outcomes] == [2, 2]
    assert (tmp_path / "runs").read_text() == "xx"
    assert list(list_running(site.servers)) == []


def test_a_server_that_does_not_start_does_not_keep_the_next_from_being_run(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    describe = start.describe_start

    def refuse_one(server: ModelServer, name: str, port: int, token: str) -> EngineStart:
        if name == "org/one":
            raise InferenceError("the server of local/one needs more memory than there is")
        return describe(server, name, port, token)

    monkeypatch.setattr(start, "describe_start", refuse_one)
    entries = [parse_run_entry(f"pubmed_qa:model=org/{name}") for name in ("one", "two")]
    served = dict.fromkeys(("local/one", "local/two"), lambda seconds: None)
    options = RunOptions("try", max_eval_instances=2)
    done = run_while_serving(site, entries, options, served, Progress(quiet=True))
    assert list(done.by_entry) == [1]
    assert [each.runs for each in done.not_started] == [("pubmed_qa:model=org/one",)]
    with pytest.raises(InferenceError, match="needs more memory"):
        run_while_serving(site, entries[:1], options, served, Progress(quiet=True))


def test_judges_are_served_when_all_models_have_answered(site: Site, tmp_path: Path):
    write_open_benchmark(site.directory)
    site.judges.write_text(
        "judges:\n  - {model: org/two, model_deployment: local/two}\n"
        "  - {model: org/one, model_deployment: local/one}\n"
    )
    entries = [parse_run_entry(f"open:model=org/{name}") for name in ("two", "one")]
    served = dict.fromkeys(("local/one", "local/two"), lambda seconds: None)

    def run() -> list[RunOutcome]:
        (tmp_path / "served").write_text("")
        done = run_while_serving(site, entries, RunOptions("try"), served, Progress(quiet=True))
        return done.outcomes

    for outcome in run():
        # The small engine's words are no verdict, and are not asked for again.
        assert outcome.judged.answers == 2
        assert outcome.judged.open == 0
        (metric,) = outcome.summary.metrics
        assert metric.unscored == {Reason.NO_QUORUM: 2}
    in_order = ["org/one", "org/two", "org/one", "org/two"]  # the models, then the judges
    assert (tmp_path / "served").read_text().split() == in_order
    assert [outcome.judged.asked for outcome in run()] == [0, 0]
    assert (tmp_path / "served").read_text().split() == ["org/one", "org/two"]


def test_a_note_about_the_jury_is_written_once_and_a_judge_that_rests_is_no_fault(site: Site):
    write_open_benchmark(site.directory)
    site.judges.write_text("judges: [{model: org/one, model_deployment: local/one}]\n")
    words = ["--suite", "try", "-r", "open:model=org/one", "--serve", "local/one"]
    done = CliRunner().invoke(run_command, words, obj=site)
    note = "note: a model judges itself: local/one is on the jury for its own answers"
    assert done.stderr.splitlines().count(note) == 1
    (jury,) = [check for check in examine(site) if check.subject == "jury"]
    assert "its server does not run" not in jury.finding
    assert jury.verdict == "warning"  # one seat is too few


def test_a_judge_that_is_not_served_is_missed_before_any_question(site: Site):
    write_open_benchmark(site.directory)
    site.judges.write_text("judges: [{model: org/two, model_deployment: local/two}]\n")
    entries = [parse_run_entry("open:model=org/one")]
    served = {"local/one": lambda seconds: None}
    with pytest.raises(ConfigError, match="deployment local/two: its server does not run"):
        run_while_serving(site, entries, RunOptions("try"), served, Progress(quiet=True))


def test_other_weights_under_the_same_name_are_another_model(site: Site):
    entries = [parse_run_entry("pubmed_qa:model=org/one")]
    served = {"local/one": lambda seconds: None}

    def run(suite: str, *, replace: bool = False) -> RunOutcome:
        options = RunOptions(suite, max_eval_instances=2, replace=replace)
        done = run_while_serving(site, entries, options, served, Progress(quiet=True))
        (outcome,) = done.outcomes
        return outcome

    first = run("try").summary.run.details.weights
    assert first is not None
    assert run("try").kept == 2
    assert run("again").asked == 0  # the same answers, since the weights are the same
    (site.directory / "one.gguf").write_bytes(b"GGUF of another model")
    with pytest.raises(ConfigError, match="other weights of local/one, and so another model"):
        run("try")
    assert run("after").asked == 2
    replaced = run("try", replace=True)
    assert replaced.summary.run.details.weights not in (first, None)


def test_a_managed_model_that_is_not_served_is_refused_with_the_way_to_start_it(site: Site):
    with pytest.raises(ConfigError, match="its server does not run") as caught:
        run_entries(
            site,
            [parse_run_entry("pubmed_qa:model=org/one")],
            RunOptions("try"),
            Progress(quiet=True),
        )
    assert "--serve local/one" in caught.value.advice


def test_a_name_to_serve_that_is_no_deployment_is_refused(site: Site):
    with pytest.raises(ConfigError, match="there is no model deployment 'local/on'"):
        run_while_serving(
            site, [], RunOptions("try"), {"local/on": lambda seconds: None}, Progress(quiet=True)
        )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{engine: llama, weights: a}", "'llama' is not one of llamacpp, vllm"),
        ("{engine: llamacpp}", "weights: is required"),
        ("{engine: llamacpp, weights: a, gpu_share: 0.5}", "has no meaning with engine: llamacpp"),
        ("{engine: vllm, weights: a, gpu_share: 2}", "expected a number above 0 and at most 1"),
        (
            "{engine: vllm, weights: a, extra_arguments: [--api-key=x]}",
            "--api-key is set by the agent",
        ),
        (
            "{engine: vllm, weights: a, extra_arguments: [--chat_template=own.jinja]}",
            "--chat-template is set by chat_template",
        ),
        ("{engine: vllm, weights: a, extra_arguments: [--trust-remote-code]}", "could run code"),
        ("{engine: vllm, weights: a, extra_arguments: [--trust_remote]}", "could run code"),
        ("{engine: vllm, weights: a, extra_arguments: [--config, own.yaml]}", "--config could set"),
        (
            "{engine: vllm, weights: a, extra_arguments: [--enable-log-requests]}",
            "could write prompts",
        ),
        (
            "{engine: vllm, weights: a, extra_arguments: [--no-disable-log-requests]}",
            "could write prompts",
        ),
        (
            "{engine: vllm, weights: a, extra_arguments: [--load_format=dummy]}",
            "other than the weights",
        ),
        (
            "{engine: vllm, weights: a, extra_arguments: [--lora-modules, x=/y]}",
            "other than the weights",
        ),
        (
            "{engine: vllm, weights: a, extra_arguments: [--kv-events-config.endpoint, 'tcp://*:1']}",
            "could send prompts",
        ),
        (
            "{engine: vllm, weights: a, extra_arguments: [--otlp-traces-endpoint=http://a]}",
            "could send prompts",
        ),
        ("{engine: vllm, weights: a, extra_arguments: [--worker-cls, a.B]}", "could run code"),
        ("{engine: vllm, weights: a, port: 80}", "port: unknown key"),
    ],
)
def test_mistakes_in_model_server_are_named_by_key(tmp_path: Path, text: str, problem: str):
    path = tmp_path / "model_deployments.yaml"
    path.write_text(f"model_deployments:\n  - {{name: local/one, model_server: {text}}}\n")
    with pytest.raises(ConfigError, match=problem):
        read_deployments(path)
