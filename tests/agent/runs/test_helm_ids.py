"""`score --ids helm`: answers under the ids of a HELM run, and benchmarks whose order in HELM is not known."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.catalog.benchmark import survey_benchmarks
from agent.cli.score import score
from agent.datasets.load import Dataset, locate_dataset
from agent.errors import BenchmarkError, ConfigError
from agent.runs.helm_ids import FIRST_NUMBERS, OWN_IDS, REFUSED, map_helm_ids
from agent.site.directory import Site, create_site
from tests.agent.runs.suites import answers_file, write_benchmark

BENCHMARKS = survey_benchmarks()[0]
METRICS = "gold: {column: gold}\nmetrics:\n  - name: exact_match\n"


def locate(benchmark: str, **arguments: str) -> Dataset:
    """Return a benchmark's sample, as though it were the whole official data."""
    return replace(locate_dataset(BENCHMARKS[benchmark], None, arguments), known="official")


def scored(site: Site, *words: str | Path) -> Result:
    given = [*words, "--ids", "helm", "--format", "json"]
    return CliRunner().invoke(score, [str(word) for word in given], obj=site)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


@pytest.mark.parametrize(
    ("benchmark", "first", "last"),
    [
        ("pubmed_qa", "id0", "id99"),
        ("med_qa", "id11450", "id11549"),
        ("med_mcqa", "id182822", "id182921"),
        ("medec", "id0", "id99"),
        ("aci_bench", "id67", "id86"),
        ("race_based_med", "id0", "id34"),
        # The row about the weather has no number in HELM, which leaves it out too.
        ("medication_qa", "id0", "id7"),
    ],
)
def test_helms_numbers_count_its_instances_and_training_sets(benchmark: str, first: str, last: str):
    helm_ids = list(map_helm_ids(BENCHMARKS[benchmark], locate(benchmark)).values())
    assert (helm_ids[0], helm_ids[-1]) == (first, last)
    assert len(set(helm_ids)) == len(helm_ids)


def test_a_selected_part_of_the_data_keeps_the_numbers_of_the_whole(tmp_path: Path):
    sample = Path(__file__).parents[3] / "benchmarks/pubmed_qa/sample/ori_pqal.json"
    articles = json.loads(sample.read_text("utf-8"))
    extra = {**next(iter(articles.values()))}
    path = tmp_path / "ori_pqal.json"
    path.write_text(json.dumps({"1": extra, **articles}), "utf-8")
    dataset = locate("pubmed_qa", data_path=str(path), split="test")
    helm_ids = map_helm_ids(BENCHMARKS["pubmed_qa"], dataset)
    assert helm_ids["1"] == "id0"
    assert helm_ids[next(iter(articles))] == "id1"


@pytest.mark.parametrize("benchmark", sorted(OWN_IDS))
def test_ids_that_helm_takes_from_the_data_are_those_of_the_data(benchmark: str):
    helm_ids = map_helm_ids(BENCHMARKS[benchmark], locate(benchmark))
    assert all(identity == helm_id for identity, helm_id in helm_ids.items())


@pytest.mark.parametrize("benchmark", sorted(OWN_IDS))
def test_another_version_of_data_with_ids_is_refused_because_an_id_may_mean_another_question(
    benchmark: str,
):
    with pytest.raises(ConfigError, match="complete official data"):
        map_helm_ids(BENCHMARKS[benchmark], replace(locate(benchmark), known="unknown"))


@pytest.mark.parametrize("benchmark", sorted(REFUSED.keys() - {"clear"}))
def test_a_benchmark_whose_order_is_not_known_is_refused_with_the_reason(benchmark: str):
    with pytest.raises(ConfigError, match=f"of {benchmark} cannot be mapped: HELM ") as caught:
        map_helm_ids(BENCHMARKS[benchmark], locate(benchmark))
    assert REFUSED[benchmark] in str(caught.value)
    assert "without --ids helm" in caught.value.advice


def test_a_benchmark_that_nobody_examined_is_refused():
    dataset = locate_dataset(BENCHMARKS["mental_health"])
    with pytest.raises(ConfigError, match="it is not known whether HELM's instances"):
        map_helm_ids(BENCHMARKS["mental_health"], dataset)


def test_the_lists_name_benchmarks_that_exist_once():
    names = [*FIRST_NUMBERS, *OWN_IDS, *REFUSED]
    assert len(set(names)) == len(names)
    assert BENCHMARKS.keys() >= set(names)


def test_other_data_than_the_official_one_is_refused(site: Site, tmp_path: Path):
    sample = Path(__file__).parents[3] / "benchmarks/med_qa/sample/phrases_no_exclude_test.jsonl"
    answers = answers_file(tmp_path / "a.jsonl", {"id11450": "A"})
    done = scored(site, "med_qa", "--data", sample, "--answers", answers)
    assert isinstance(done.exception, ConfigError)
    assert "complete official data" in str(done.exception)


def test_answers_to_a_configurable_benchmark_are_scored_and_judged_by_helms_ids(
    site: Site, tmp_path: Path
):
    rows = [{"note": f"note {n}", "gold": f"gold {n}"} for n in range(3)]
    folder = write_benchmark(site, "own", rows, METRICS)
    header, first, *others = (folder / "data.csv").read_text().splitlines(keepends=True)
    # pandas, which HELM uses, passes over blank lines.
    (folder / "data.csv").write_text("".join([header, first, "\n", *others]))
    answers = {"id0": "gold 0", "id2": "gold 2"}
    done = scored(site, "own", "--answers", answers_file(tmp_path / "a.jsonl", answers))
    assert done.exit_code == 0, done.exception
    (row,) = json.loads(done.stdout)
    assert (row["n"], row["mean"], row["missing"]) == (2, 1.0, ["id1"])
    assert "warning" not in done.stderr
    done = scored(site, "own", "--answers", answers_file(tmp_path / "a.jsonl", {"1": "gold 0"}))
    assert "has an instance_id that is not in the data" in str(done.exception)
    assert "such as 'id0'" in getattr(done.exception, "advice", "")


def test_own_tables_that_helm_would_read_in_another_way_are_refused(site: Site, tmp_path: Path):
    rows = [{"note": "a", "gold": "x", "ward": "north"}]
    write_benchmark(site, "own", rows, METRICS + "arguments: {ward: {column: ward}}\n")
    answers = answers_file(tmp_path / "a.jsonl", {"id0": "x"})
    done = scored(site, "own", "--answers", answers)
    assert "only from a CSV file" in str(done.exception)


def test_a_template_has_the_ids_of_the_data(site: Site, tmp_path: Path):
    done = scored(site, "pubmed_qa", "--write-template", tmp_path / "t.jsonl")
    assert (done.exit_code, "--ids helm is only for --answers" in done.stderr) == (2, True)


def test_helms_ids_without_the_option_are_recognised_once(site: Site, tmp_path: Path):
    answers = {f"id{number}": "B" for number in range(11450, 11460)}
    file = answers_file(tmp_path / "helm.jsonl", answers)
    words = ("med_qa", "--data", BENCHMARKS["med_qa"].folder / "sample", "--answers", file)
    done = CliRunner().invoke(score, [str(word) for word in words], obj=site)
    assert isinstance(done.exception, BenchmarkError)
    assert len(str(done.exception).splitlines()) == 1
    assert "Give --ids helm" in done.exception.advice
