"""`intramural models` as people call it: what is listed and checked, and what is said of wrong names and weights."""

import importlib.util
import os
from pathlib import Path

import pytest

from agent.model_servers.running import RunningServer, ServerFolder, read_begin
from agent.site.directory import Site, create_site
from tests.agent.model_servers.gguf_files import write_gguf
from tests.agent.terminal import Done, intramural

DEPLOYMENTS = """\
model_deployments:
  - {name: local/one, model_name: org/one, model_server: {engine: llamacpp, weights: one.gguf}}
  - {name: theirs, model_name: m, client_spec: {class_name: VLLMClient, args: {base_url: "http://127.0.0.1:9/v1"}}}
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = create_site(tmp_path / "site", "St. Elsewhere")
    site.deployments.write_text(DEPLOYMENTS)
    (site.directory / "one.gguf").write_bytes(b"GGUF and more")
    return site


def models(site: Site, *words: str) -> Done:
    return intramural("--site", str(site.directory), "models", *words, cwd=site.directory)


def test_the_list_names_managed_deployments_their_state_and_their_weights(site: Site):
    done = models(site, "list")
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith("local/one  llamacpp  does not run  weights ")
    digest = line.split()[-1]
    (site.directory / "one.gguf").write_bytes(b"GGUF and others")
    assert models(site, "list").stdout.split()[-1] != digest


def test_check_names_the_engine_to_install_or_accepts_the_weights(site: Site):
    done = models(site, "check")
    if importlib.util.find_spec("xllamacpp") is None:
        assert done.returncode == 2
        assert "pip install '.[llamacpp]'" in done.stderr
    else:
        assert (
            done.stdout == "local/one: the engine is installed, and the weights are of its kind\n"
        )


def test_check_reports_every_deployment_that_cannot_be_served(site: Site):
    (site.directory / "model_deployments.yaml").write_text(
        "model_deployments:\n"
        "  - {name: local/gone, model_name: a, model_server: {engine: llamacpp, weights: gone.gguf}}\n"
        "  - {name: local/text, model_name: b, model_server: {engine: llamacpp, weights: text.gguf}}\n"
    )
    (site.directory / "text.gguf").write_text("no model")
    done = models(site, "check")
    assert done.returncode == 2
    assert "there is no file gone.gguf" in done.stderr
    assert "text.gguf is not a GGUF file" in done.stderr


def test_wrong_weights_are_named_before_anything_is_started(site: Site):
    (site.directory / "one.gguf").write_text("no model")
    done = models(site, "serve", "local/one", "--background")
    assert done.returncode == 2
    assert "one.gguf is not a GGUF file" in done.stderr
    assert not site.servers.exists()


@pytest.mark.parametrize("name", ["local/on", "theirs"])
def test_a_deployment_without_model_server_is_not_started(site: Site, name: str):
    done = models(site, "serve", name)
    assert done.returncode == 2
    assert "no deployment with model_server is called" in done.stderr


def test_stopping_what_does_not_run_says_so(site: Site):
    assert models(site, "stop", "local/one").stdout == "local/one does not run\n"


def test_serving_is_only_for_runs_that_are_made(site: Site):
    entry = ("--run-entries", "pubmed_qa:model=org/one", "--suite", "try", "--serve", "local/one")
    done = intramural("--site", str(site.directory), "run", *entry, "--dry-run", cwd=site.directory)
    assert done.returncode == 2
    assert "models serve local/one --background" in done.stderr


def test_a_server_whose_deployment_was_removed_is_listed_as_long_as_it_runs(site: Site):
    folder = ServerFolder.find(site.servers, "gone")
    folder.path.mkdir(parents=True)
    own = os.getpid()
    folder.write(
        RunningServer("gone", "vllm", "http://127.0.0.1:9/v1", own, read_begin(own), 0, "")
    )
    last = models(site, "list").stdout.splitlines()[-1]
    assert last.startswith("gone  vllm  runs at http://127.0.0.1:9/v1")
    assert last.endswith("not in model_deployments.yaml")


def test_weights_without_a_chat_template_are_reported_by_serve_and_by_a_run(site: Site):
    write_gguf(site.directory / "one.gguf")
    said = "local/one: one.gguf has no chat template: llama.cpp writes questions in ChatML's form"
    assert said in models(site, "serve", "local/one", "--background").stderr
    entry = ("--run-entries", "pubmed_qa:model=org/one", "--suite", "try", "--serve", "local/one")
    done = intramural("--site", str(site.directory), "run", *entry, cwd=site.directory)
    assert f"note: {said}" in done.stderr
