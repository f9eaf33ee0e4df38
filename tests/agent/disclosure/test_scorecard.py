"""A scorecard drafted from definitions asks for nothing that no site could submit."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from agent.catalog.benchmark import Benchmark
from agent.catalog.dataset_sizes import published_units, read_sizes
from agent.catalog.judges import Jury
from agent.catalog.taxonomy import taxonomy
from agent.disclosure.scorecard import draft_scorecard, left_out, parse_subgroups, token_limits
from agent.errors import BenchmarkError, ConfigError
from agent.jury.registered_jury import rubric_digest
from agent.metrics import METRICS, Judge, MetricUse, Scale
from agent.vocabulary import AccessLevel
from benchmarks.make_scorecard import make_scorecard, render
from protocol.scorecard import parse_scorecard
from tests.agent.catalog.shipped import BENCHMARKS


@pytest.fixture
def benchmark() -> Benchmark:
    return BENCHMARKS["med_qa"]


def test_every_shipped_benchmark_that_can_be_scored_makes_its_cells(benchmark: Benchmark) -> None:
    card = draft_scorecard("all", 1, [benchmark])
    single = [use.name for use in benchmark.metrics if METRICS[use.name].fn is not None]
    assert [cell.key for cell in card.cells] == [f"med_qa/{name}" for name in single]


@pytest.mark.parametrize("metric", ["jury_score", "BERTScore-F"])
def test_a_metric_that_this_version_does_not_give_is_left_out_and_said(
    benchmark: Benchmark, metric: str
) -> None:
    jury = replace(benchmark, metrics=(MetricUse(metric), *benchmark.metrics))
    assert draft_scorecard("all", 1, [jury]).cells[0].metric == "exact_match"
    (notice,) = left_out([jury])
    assert notice.startswith(f"med_qa: {metric} is left out: ")
    assert notice.endswith("the board shows exact_match instead")


def test_every_benchmark_that_cannot_be_reported_is_told_at_once(benchmark: Benchmark) -> None:
    jury = replace(benchmark, metrics=(MetricUse("jury_score"),))
    unnamed = replace(benchmark, id="own", access="private", unit_column=None)
    with pytest.raises(ConfigError) as caught:
        draft_scorecard("all", 1, [jury, unnamed])
    assert (
        "med_qa: none of its metrics can be submitted (jury_score: grades of different juries cannot be merged,"
        in str(caught.value)
    )
    assert "own: it is private, and its units are row numbers" in str(caught.value)
    assert (
        "benchmark.yaml" not in caught.value.advice
    )  # those of the package are nobody's to change


def test_the_shipped_benchmarks_of_a_jury_are_reported_by_what_is_computed() -> None:
    found = BENCHMARKS
    card = draft_scorecard("all", 1, [found["aci_bench"], found["med_qa"]])
    assert "aci_bench/rouge_l" in {cell.key for cell in card.cells}
    assert "aci_bench/jury_score" not in {cell.key for cell in card.cells}


def test_a_broken_definition_of_the_sites_own_is_in_nobodys_way_unless_it_is_reported(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "benchmark.yaml").write_text(
        "name: broken\ndescription: 1\nmetrics: none\n"
    )
    card = draft_scorecard("all", 1, [benchmark])
    assert token_limits(card, tmp_path)[benchmark.digest] == benchmark.max_tokens
    with pytest.raises(BenchmarkError, match="broken"):
        token_limits(draft_scorecard("all", 1, [replace(benchmark, id="broken")]), tmp_path)


@pytest.mark.parametrize("access", ["gated", "private"])
def test_a_protected_benchmark_without_named_units_is_refused_before_anyone_runs_it(
    benchmark: Benchmark, access: AccessLevel
) -> None:
    own = replace(benchmark, access=access, unit_column=None)
    with pytest.raises(
        ConfigError, match=f"it is {access}, and its units are row numbers"
    ) as caught:
        draft_scorecard("own", 1, [own])
    assert "unit_column" in caught.value.advice
    assert (
        draft_scorecard("own", 1, [replace(own, unit_column="patient")]).cells[0].access == access
    )


def test_a_figure_of_a_whole_run_makes_no_cell(benchmark: Benchmark) -> None:
    macro = MetricUse("classification_macro_f1")
    card = draft_scorecard("own", 1, [replace(benchmark, metrics=(*benchmark.metrics, macro))])
    assert "classification_macro_f1" not in {cell.metric for cell in card.cells}
    (notice, *_) = left_out([replace(benchmark, metrics=(macro, *benchmark.metrics))])
    assert (
        "it is computed for the whole run, and such values cannot be submitted; the board shows exact_match"
        in notice
    )
    with pytest.raises(ConfigError, match="none of its metrics can be submitted"):
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


@pytest.mark.parametrize(
    "description", ["sex=a,b", "med_qa:sex", "med_qa:sex=", "med_qa:sex=female", ":sex=a,b"]
)
def test_a_subgroup_that_is_misspelt_is_named(description: str) -> None:
    with pytest.raises(ConfigError, match="does not have the form"):
        parse_subgroups([description])


def test_a_subgroup_that_no_definition_knows_is_named(benchmark: Benchmark) -> None:
    with pytest.raises(ConfigError, match="med_qa: it has no subgroup sex") as caught:
        draft_scorecard("all", 1, [benchmark], parse_subgroups(["med_qa:sex=a,b", "other:sex=a,b"]))
    assert "other: subgroups were requested" in str(caught.value)


SHIPPED = Path(__file__).parents[3] / "scorecards" / "medhelm-v1.json"


def test_the_shipped_scorecard_is_the_one_that_the_definitions_give() -> None:
    written = SHIPPED.read_text("utf-8")
    assert written == render(make_scorecard()), "run: python benchmarks/make_scorecard.py"


def test_the_shipped_scorecard_has_all_of_medhelm_with_one_main_metric_each() -> None:
    card = parse_scorecard(json.loads(SHIPPED.read_bytes()))
    found = BENCHMARKS
    assert {entry.id for entry in card.benchmarks} == set(found)
    assert len(card.benchmarks) == len(card.cells) == 37
    for entry, cell in zip(card.benchmarks, card.cells, strict=True):
        assert (cell.benchmark, cell.metric) == (entry.id, found[entry.id].main_metric.name)
        assert (entry.category, entry.subcategory) == (
            found[entry.id].category,
            found[entry.id].subcategory,
        )
        assert (entry.units == 0) == (cell.access == "private")
    levels = Counter(cell.access for cell in card.cells)
    assert levels == {"public": 16, "gated": 7, "private": 14}
    categories = dict.fromkeys(entry.category for entry in card.benchmarks)
    assert (list(categories), len({entry.subcategory for entry in card.benchmarks})) == (
        list(taxonomy()),
        22,
    )


def test_the_shipped_scorecard_registers_medhelms_jury_for_each_open_benchmark() -> None:
    card = parse_scorecard(json.loads(SHIPPED.read_bytes()))
    judged = [cell for cell in card.cells if cell.metric == "jury_score"]
    assert len(judged) == len(card.juries) == 13
    assert {jury.seats for jury in card.juries} == {
        (
            "openai/gpt-4o-2024-05-13",
            "meta/llama-3.3-70b-instruct",
            "anthropic/claude-3-7-sonnet-20250219",
        )
    }
    for cell in judged:
        jury = card.jury_of(cell)
        assert jury is not None
        assert (jury.quorum, jury.rubric) == (
            2,
            rubric_digest(BENCHMARKS[cell.benchmark].main_metric),
        )


def test_a_jury_that_a_benchmark_names_itself_is_registered_before_the_given_one(
    benchmark: Benchmark,
) -> None:
    own = MetricUse(
        "jury_score",
        criteria={"accuracy": "Is it right?"},
        judges=(Judge("local/own", "own/judge"),),
    )
    given = Jury((Judge("local/a", "a/judge"), Judge("local/b", "b/judge")))
    for use, seats in ((own, ("own/judge",)), (replace(own, judges=()), ("a/judge", "b/judge"))):
        card = draft_scorecard("own", 1, [replace(benchmark, metrics=(use,))], jury=given)
        assert [jury.seats for jury in card.juries] == [seats]


def test_a_scale_between_whole_numbers_is_left_out_and_said(benchmark: Benchmark) -> None:
    halves = MetricUse("jury_score", criteria={"accuracy": "Is it right?"}, scale=Scale(0.5, 5))
    jury = Jury((Judge("local/a", "a/judge"),))
    (notice,) = left_out([replace(benchmark, metrics=(halves, *benchmark.metrics))], jury)
    assert (
        "the ends of its scale are not whole numbers; the board shows exact_match instead" in notice
    )


def test_a_published_dataset_has_a_size_and_a_sites_own_has_none(benchmark: Benchmark) -> None:
    found = BENCHMARKS
    assert published_units(found["med_qa"]) == 1273  # rows of its file
    assert published_units(found["medhallu"]) == 1000  # of two instances each
    assert published_units(found["ehrshot"]) == 6739  # stated by its publisher
    assert published_units(replace(benchmark, access="private")) == 0
    assert (
        published_units(replace(benchmark, files=(*benchmark.files, found["ehrshot"].files[0])))
        == 0
    )


def test_every_size_is_of_a_published_dataset_and_says_where_it_comes_from() -> None:
    found = BENCHMARKS
    for name, size in read_sizes().items():
        assert found[name].access != "private"
        assert size.source
        rows = [file.rows for file in found[name].files]
        assert None in rows or size.units < sum(rows), f"{name}: its files say it already"
