"""Rows of a leaderboard are told apart, and hold whole values."""

import json
from pathlib import Path

import pytest

from agent.site.directory import Site, create_site
from tests.agent.cli.bold_and_shy import BOLD, asked, shown, write
from tests.agent.cli.judged_suite import judged_site, summarized
from tests.agent.service.filled_site import FilledSite


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    return judged_site(tmp_path)


def test_whole_values_are_in_json_and_csv(filled: FilledSite):
    rows = {
        (r["benchmark"], r["model"]): r
        for r in json.loads(summarized(filled, "--format", "json").stdout)
    }
    llama = rows["mtsamples_replicate", "meta/llama-3.1-8b-instruct"]
    assert (llama["jury"]["seats"], llama["jury"]["filled"]) == (120, 111)
    assert llama["jury"]["family"] == ["llama"]
    assert llama["jury"]["without_family"]["mean"] is not None
    assert llama["normalised"] == pytest.approx((llama["mean"] - 1) / 4)
    gemma = rows["pubmed_qa", "google/gemma-3-27b-it"]
    assert gemma["bounds"] == {"low": 0.5, "high": pytest.approx(80 / 120), "matters": True}
    assert (gemma["rank"], gemma["standing"]["win_rate"]) == ([1, 1], 1.0)
    assert llama["usage"]["answers"] == 40
    assert llama["usage"]["seconds_per_answer"] == 0.5
    assert llama["usage"]["cost"] is None
    of_llama = [
        row["usage"]["prompt_tokens"] for row in rows.values() if row["model"] == llama["model"]
    ]
    assert llama["model_usage"]["prompt_tokens"] == sum(of_llama)
    told = summarized(filled, "--format", "csv").stdout.splitlines()
    assert {"usage_seconds_per_answer", "model_usage_cost_by_tokens", "usage_currency"} <= set(
        told[0].split(",")
    )
    assert {"bound_low", "seats_filled", "without_family_mean", "model_macro", "rank_range"} <= set(
        told[0].split(",")
    )
    assert "{" not in "".join(told)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def test_rows_of_one_benchmark_and_model_are_told_apart_by_their_arguments(site: Site):
    write(site, range(10))
    asked(site, f"own:model={BOLD}", f"own:model={BOLD},temperature=0.5")
    table = shown(site, "--runs")
    assert "Arguments" in table
    assert "temperature=0.5" in table
