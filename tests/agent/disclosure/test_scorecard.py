"""A scorecard drafted from definitions asks for nothing that no site could submit."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.catalog.benchmark import Benchmark, find_benchmarks
from agent.disclosure.scorecard import draft_scorecard, left_out, parse_subgroups, token_limits
from agent.errors import BenchmarkError, ConfigError
from agent.metrics import METRICS, MetricUse
from agent.vocabulary import AccessLevel


@pytest.fixture
def benchmark() -> Benchmark:
    return find_benchmarks()["med_qa"]


def test_every_shipped_benchmark_that_can_be_scored_makes_its_cells(benchmark: Benchmark) -> None:
    card = draft_scorecard("all", 1, [benchmark])
    single = [use.name for use in benchmark.metrics if METRICS[use.name].fn is not None]
    assert [cell.key for cell in card.cells] == [f"med_qa/{name}" for name in single]


@pytest.mark.parametrize("metric", ["jury_score", "BERTScore-F"])
def test_a_metric_that_this_version_does_not_give_is_left_out_and_said(benchmark: Benchmark, metric: str) -> None:
    jury = replace(benchmark, metrics=(MetricUse(metric), *benchmark.metrics))
    assert draft_scorecard("all", 1, [jury]).cells[0].metric == "exact_match"
    (notice,) = left_out([jury])
    assert notice.startswith(f"med_qa: {metric} is left out, for ")
    assert notice.endswith("the board shows exact_match in its place")


def test_every_benchmark_that_cannot_be_reported_is_told_at_once(benchmark: Benchmark) -> None:
    jury = replace(benchmark, metrics=(MetricUse("jury_score"),))
    unnamed = replace(benchmark, id="own", access="private", unit_column=None)
    with pytest.raises(ConfigError) as caught:
        draft_scorecard("all", 1, [jury, unnamed])
    assert (
        "med_qa: none of its metrics could be submitted (jury_score: grades of different juries cannot be merged"
        in str(caught.value)
    )
    assert "own: it is private, and its units are row numbers" in str(caught.value)
    assert "benchmark.yaml" not in caught.value.advice  # those of the package are nobody's to change


def test_the_shipped_benchmarks_of_a_jury_are_reported_by_what_is_computed() -> None:
    found = find_benchmarks()
    card = draft_scorecard("all", 1, [found["aci_bench"], found["med_qa"]])
    assert "aci_bench/rouge_l" in {cell.key for cell in card.cells}
    assert "aci_bench/jury_score" not in {cell.key for cell in card.cells}


def test_a_broken_definition_of_the_sites_own_is_in_nobodys_way_unless_it_is_reported(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "benchmark.yaml").write_text("name: broken\ndescription: 1\nmetrics: none\n")
    card = draft_scorecard("all", 1, [benchmark])
    assert token_limits(card, tmp_path)[benchmark.digest] == benchmark.max_tokens
    with pytest.raises(BenchmarkError, match="broken"):
        token_limits(draft_scorecard("all", 1, [replace(benchmark, id="broken")]), tmp_path)


@pytest.mark.parametrize("access", ["gated", "private"])
def test_a_protected_benchmark_without_named_units_is_refused_before_anyone_runs_it(
    benchmark: Benchmark, access: AccessLevel
) -> None:
    own = replace(benchmark, access=access, unit_column=None)
    with pytest.raises(ConfigError, match=f"it is {access}, and its units are row numbers") as caught:
        draft_scorecard("own", 1, [own])
    assert "unit_column" in caught.value.advice
    assert draft_scorecard("own", 1, [replace(own, unit_column="patient")]).cells[0].access == access


def test_a_figure_of_a_whole_run_makes_no_cell(benchmark: Benchmark) -> None:
    macro = MetricUse("classification_macro_f1")
    card = draft_scorecard("own", 1, [replace(benchmark, metrics=(*benchmark.metrics, macro))])
    assert "classification_macro_f1" not in {cell.metric for cell in card.cells}
    (notice, *_) = left_out([replace(benchmark, metrics=(macro, *benchmark.metrics))])
    assert "it is a figure of the whole run, which no site could submit; the board shows exact_match" in notice
    with pytest.raises(ConfigError, match="none of its metrics could be submitted"):
        draft_scorecard("own", 1, [replace(benchmark, metrics=(macro,))])


def test_groups_of_units_are_reported_for_the_first_metric_alone(benchmark: Benchmark) -> None:
    grouped = replace(benchmark, subgroup_columns={"sex": "SEX", "age group": "AGE"})
    wanted = parse_subgroups(["med_qa:sex=Female,Male", "med_qa:age group=18 to 64,65 and over"])
    card = draft_scorecard("all", 1, [grouped], wanted)
    first = card.cells[0].metric
    assert [cell.key for cell in card.cells if cell.subgroup] == [
        f"med_qa/{first}/sex.female",
        f"med_qa/{first}/sex.male",
        f"med_qa/{first}/age-group.18-to-64",
        f"med_qa/{first}/age-group.65-and-over",
    ]


@pytest.mark.parametrize("description", ["sex=a,b", "med_qa:sex", "med_qa:sex=", "med_qa:sex=female", ":sex=a,b"])
def test_a_subgroup_that_is_misspelt_is_named(description: str) -> None:
    with pytest.raises(ConfigError, match="is not of the form"):
        parse_subgroups([description])


def test_a_subgroup_that_no_definition_knows_is_named(benchmark: Benchmark) -> None:
    with pytest.raises(ConfigError, match="med_qa: it has no subgroup sex") as caught:
        draft_scorecard("all", 1, [benchmark], parse_subgroups(["med_qa:sex=a,b", "other:sex=a,b"]))
    assert "other: subgroups are asked for" in str(caught.value)
