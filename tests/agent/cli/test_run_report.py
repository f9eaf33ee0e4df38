"""What `run` says when it is done: what was asked, and what it cost in all."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.cli.run import run
from agent.site.directory import Site, create_site
from tests.agent.cli.bold_and_shy import BOLD, SHY, asked, write
from tests.agent.fault_server import FaultServer


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def test_equal_prompts_are_counted_once_and_said(site: Site):
    write(site, [1, 2, 3, 3, 3])
    done = asked(site, f"own:model={BOLD}")
    assert "asked 3 for 5 instances (equal prompts are asked once), kept 0" in done.stdout
    assert "n=5" in done.stdout
    again = asked(site, f"own:model={BOLD}")
    assert "asked 0, kept 5" in again.stdout


def test_several_runs_have_a_total_cost_before_and_after(site: Site):
    write(site, range(5))
    entries = (f"own:model={BOLD}", f"own:model={SHY}")
    dry = asked(site, *entries, more=["--dry-run"]).stdout
    together = dry.partition("all 2 runs")[2]
    assert re.search(r"costs [\d,.]+ to [\d,.]+ EUR by GPU hours", together)
    done = asked(site, *entries).stdout
    each = [float(amount) for amount in re.findall(r"^  cost: ([\d.]+) EUR", done, re.MULTILINE)]
    (total,) = re.findall(r"all 2 runs cost ([\d.]+) EUR by GPU hours", done)
    assert float(total) == pytest.approx(sum(each), abs=0.02)
    assert "runs cost" not in asked(site, entries[0]).stdout


def test_a_dry_run_names_replicas_that_would_not_be_asked(site: Site):
    write(site, range(3))
    write(site, range(2), name="other")
    with FaultServer(models=["b"]) as gone:
        pass
    with FaultServer(models=["b"]) as server:
        (site.directory / "model_deployments.yaml").write_text(
            "model_deployments:\n  - name: a/b\n    client_spec:\n      class_name: VLLMChatClient\n"
            f"      args: {{base_urls: ['{server.url}', '{gone.url}']}}\n"
        )
        words = [
            "--suite",
            "s",
            "--dry-run",
            "-r",
            "own:model=a/b",
            "-r",
            "other:model=a/b",
        ]
        done = CliRunner().invoke(run, words, obj=Site(site.directory))
    server_name = f"deployment a/b: the server 127.0.0.1:{gone.port}"
    note = f"note: {server_name} refuses connections; it is left out until it answers"
    assert done.stderr.splitlines().count(note) == 1
