"""What a run asks of its server: a question once, however many instances ask it, and counts where a limit is set."""

from pathlib import Path

import pytest

from agent.site.directory import Site, create_site
from tests.agent.fault_server import FaultServer
from tests.agent.runs.suites import run, write_benchmark

METRICS = "gold: {column: gold}\nmetrics:\n  - name: exact_match\n"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def test_instances_that_ask_the_same_are_asked_once_and_each_has_its_own_score(site: Site):
    rows = [
        {"note": "the same invented note", "gold": gold} for gold in ("yes", "no", "yes", "yes")
    ]
    write_benchmark(site, "own", rows, METRICS)
    with FaultServer(models=["a/b"], answer="yes") as server:
        (outcome,) = run(site, server.url, "own:model=a/b")
        asked = [prompt for prompt in server.prompts if "invented note" in prompt]
    assert len(asked) == 1
    assert (outcome.summary.main.mean.n, outcome.summary.main.mean.value) == (4, 0.75)
    with site.store() as store:
        (stored,) = store.runs.select("s")
        assert [
            one.scores["exact_match"] for one in store.answers.read_instances(stored.run_id, 0, 9)
        ] == [
            1.0,
            0.0,
            1.0,
            1.0,
        ]


def test_a_limit_of_prompt_tokens_that_nobody_can_count_is_told_with_the_run(site: Site):
    limited = "arguments:\n  max_length: {kind: tokens, default: '400'}\n"
    write_benchmark(site, "own", [{"note": "an invented note", "gold": "yes"}], METRICS + limited)
    write_benchmark(site, "free", [{"note": "an invented note", "gold": "yes"}], METRICS)
    with FaultServer(models=["a/b"], answer="yes") as server:
        run(site, server.url, "own:model=a/b", "free:model=a/b")
    with site.store() as store:
        said = {
            stored.benchmark: " ".join(stored.details.workarounds)
            for stored in store.runs.select("s")
        }
    assert "The tokens of prompts cannot be counted" in said["own"]
    assert "cannot be counted" not in said["free"]
