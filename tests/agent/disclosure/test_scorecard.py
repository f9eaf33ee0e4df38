"""A scorecard drafted from definitions asks for nothing that no site could submit."""

from dataclasses import replace

import pytest

from agent.catalog.benchmark import Benchmark, find_benchmarks
from agent.disclosure.scorecard import draft_scorecard
from agent.errors import ConfigError
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
def test_a_metric_that_is_not_available_yet_is_named(benchmark: Benchmark, metric: str) -> None:
    jury = replace(benchmark, metrics=(*benchmark.metrics, MetricUse(metric)))
    with pytest.raises(ConfigError, match=f"med_qa: {metric} is not available in this version"):
        draft_scorecard("all", 1, [jury])


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
    with pytest.raises(ConfigError, match="its main metric, classification_macro_f1, is one of the whole run"):
        draft_scorecard("own", 1, [replace(benchmark, metrics=(macro, *benchmark.metrics))])
