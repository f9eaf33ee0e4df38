"""MedHELM's own files of run entries, run at a site that has none of Stanford's deployments or paths."""

import json

import pytest

from tests.agent.fault_server import FaultServer
from tests.end_to_end.conftest import ROOT, UserSite

ENTRIES = ROOT / "tests" / "data" / "medhelm_run_entries"


@pytest.fixture
def site(make_site) -> UserSite:
    return make_site()


def serve(site: UserSite, url: str) -> None:
    (site.directory / "model_deployments.yaml").write_text(
        "model_deployments:\n  - name: local/llama\n    model_name: meta/llama-of-ours\n    client_spec:\n"
        "      class_name: helm.clients.vllm_client.VLLMChatClient\n"
        f"      args: {{base_url: '{url}', vllm_model_name: test-model}}\n"
    )


@pytest.mark.full
def test_the_private_file_runs_whole_with_one_map_and_no_edit(site: UserSite):
    conf = ENTRIES / "run_entries_medhelm_private_stanford.conf"
    mapping = site.directory / "map.yaml"
    mapping.write_text(
        "stanfordhealthcare*/llama-3.3-70b-instruct: local/llama\nstanfordhealthcare*: none\n"
    )
    with FaultServer(answer="A") as server:
        serve(site, server.url)
        words = ["run", "--conf-paths", conf, "--suite", "s", "--quiet", "-m", "2"]
        lost = site.intramural(*words)
        assert lost.returncode == 2
        assert (
            "/dbfs/mnt/azure_adbfs/Files/medhelm/medhelm-ENT-dataset_filtered.csv (13 entries)"
            in lost.stderr
        )
        assert lost.stderr.count("entries)") == 14, "each path once"
        unmapped = site.intramural(*words, "--ignore-data-paths")
        assert unmapped.returncode == 2
        assert "stanfordhealthcare/claude-3-7-sonnet-20250219 (" in unmapped.stderr
        assert "--deployment-map" in unmapped.stderr
        assert server.asked == []
        done = site.intramural(*words, "--ignore-data-paths", "--deployment-map", mapping)
    assert done.returncode == 0, done.stderr
    assert "26 runs in suite s" in done.stdout
    assert "failed 0" in done.stdout
    shown = site.intramural("summarize", "--suite", "s", "--format", "json")
    assert shown.returncode == 0, shown.stderr
    assert {row["model"] for row in json.loads(shown.stdout)} == {"meta/llama-of-ours"}
