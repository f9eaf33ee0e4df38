"""A dry run counts the questions that are still to be sent, and no stored or equal one."""

import pytest

from agent.site.directory import Site
from tests.agent.fault_server import FaultServer
from tests.agent.judging.juries import judged, open_benchmark
from tests.agent.runs.forecast.commands import judge, run, told


@pytest.mark.full
def test_a_dry_run_counts_what_is_stored_as_done(
    site: Site, model: FaultServer, judges: FaultServer
):
    assert "  3 requests" in run(site, model, "--dry-run")
    run(site, model, "--no-judging")
    asked = run(site, model, "--dry-run")
    assert (
        "  nothing is left to ask\n  3 instances of 3 not asked: stored, or identical to another"
        in asked
    )
    assert "judge local/a: 3 requests, about" in asked
    judge(site, "--only", "a", "--only", "b")
    asked = run(site, model, "--dry-run")
    assert "judge local/a: nothing is left to judge" in asked
    assert "judge local/c: 3 requests, about" in asked
    judge(site)
    asked = run(site, model, "--dry-run")
    assert asked.count("nothing is left to judge") == 3
    assert "requests" not in asked
    assert len(judged(judges)) == 3 * 3


def test_a_dry_run_of_more_instances_counts_the_new_ones_alone(
    site: Site, model: FaultServer, judges: FaultServer
):
    run(site, model, "-m", "2")
    asked = run(site, model, "--dry-run")
    assert "  1 request, " in asked
    assert "2 instances of 3 not asked" in asked


def test_equal_prompts_are_forecast_once(site: Site, model: FaultServer, judges: FaultServer):
    open_benchmark(site, instances=5, name="more", same=True)
    asked = told(
        site, "run", "--server", model.url, "-r", "more:model=m", "--suite", "s", "--dry-run"
    )
    assert "  1 request, " in asked
    assert "4 instances of 5 not asked: stored, or identical to another" in asked
