"""Models over a real service and a real server: what a probe found is kept, explained, and shown with its age."""

from collections.abc import Iterator

import pytest

from agent.inference.kept_probes import KeptProbe, write_probe
from agent.model_servers.running import ServerFolder
from tests.agent.fault_server import FaultServer
from tests.agent.service.filled_site import MODEL, FilledSite, case
from tests.agent.service.web.running_service import RunningService

DEPLOYMENTS = """
model_deployments:
  - name: local/qwen
    model_name: qwen/qwen2.5-7b-instruct
    client_spec:
      class_name: helm.clients.vllm_client.VLLMChatClient
      args: {{base_url: "{url}", vllm_model_name: qwen}}
  - name: own/tiny
    model_name: smollm/tiny
    model_server: {{engine: llamacpp, weights: /models/tiny.gguf}}
"""


@pytest.fixture
def server(filled: FilledSite) -> Iterator[FaultServer]:
    with FaultServer(models=("qwen",)) as server:
        filled.site.deployments.write_text(DEPLOYMENTS.format(url=server.url), "utf-8")
        yield server


def test_a_probe_is_kept_and_shown_to_everyone(server: FaultServer, running: RunningService):
    dana = running.sign_in("dana")
    assert "not asked yet" in dana.get("/models").text
    assert "It was never probed" in dana.get("/models/local/qwen").text
    assert dana.submit("/models/local/qwen").status_code == 303
    assert server.asked
    page = running.sign_in("vera").get("/models/local/qwen").text
    assert "Probed just now" in page
    assert "Stop sequences" in page
    assert "Probe it now" not in page
    assert "everything works" in dana.get("/models").text
    with running.site.store() as store:
        assert "model probed" in [event.event for event in store.audit.read_events()]


def test_a_server_that_is_gone_is_on_the_first_page(server: FaultServer, running: RunningService):
    server.stop()
    ada = running.sign_in("ada")
    assert ada.submit("/models/local/qwen").status_code == 303
    assert "failed:" in ada.get("/models/local/qwen").text
    listed = ada.get("/models").text
    assert "could not be probed" in listed
    assert "did not answer" in listed
    assert "local/qwen could not be used" in ada.get("/").text


def test_a_run_tells_about_its_server_as_a_probe_does(
    filled: FilledSite, server: FaultServer, running: RunningService
):
    del server
    filled.add([case(0)], entry=f"pubmed_qa:model={MODEL},model_deployment=local/qwen", server=None)
    page = running.sign_in("dana").get("/models/local/qwen").text
    assert "Probabilities of tokens" in page
    assert "is ignored" in page
    assert "1 of 2 features missing" in page


def test_a_damaged_file_of_a_probe_counts_as_none(
    filled: FilledSite, server: FaultServer, running: RunningService
):
    del server
    write_probe(filled.site.probes, KeptProbe("local/qwen", 1.0, None, "gone"))
    (file,) = filled.site.probes.iterdir()
    for content in (
        "",
        "[]",
        '{"probed_at": "x"}',
        '{"probed_at": 1, "capabilities": 3, "problem": ""}',
    ):
        file.write_text(content)
        assert "It was never probed" in running.sign_in("dana").get("/models/local/qwen").text


def test_a_server_of_the_sites_own_shows_its_state_and_log_to_those_who_run_it(
    filled: FilledSite, server: FaultServer, running: RunningService
):
    del server
    folder = ServerFolder.find(filled.site.servers, "own/tiny")
    folder.path.mkdir(parents=True)
    folder.log.write_bytes(b"x" * 20_000 + b"\n\x1b[31mout of <memory>\x1b[0m\n")
    page = running.sign_in("dana").get("/models/own/tiny").text
    assert "does not run now" in page
    assert "out of &lt;memory&gt;" in page
    assert "\x1b" not in page
    assert "/models/tiny.gguf" not in page
    assert "Probe it now" not in page
    assert "memory" not in running.sign_in("vera").get("/models/own/tiny").text


def test_a_broken_file_of_deployments_takes_no_page_down(
    filled: FilledSite, running: RunningService
):
    filled.site.deployments.write_text(
        "model_deployments:\n  - name: a\n    nonsense: 1\n", "utf-8"
    )
    dana = running.sign_in("dana")
    for path in ("/", "/models", "/new-run", "/api/v1/deployments"):
        page = dana.get(path)
        assert page.status_code == 200, path
        assert str(filled.site.directory) not in page.text
    assert "nonsense" in dana.get("/models").text
    assert "no model can be asked" in dana.get("/").text
    assert "cannot be read" in dana.get("/new-run").text
