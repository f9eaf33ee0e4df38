"""Every shipped benchmark and its sample, real or invented; the catalogue held against MedHELM's own facts."""

import hashlib
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from agent.catalog.benchmark import load_benchmark
from agent.catalog.parser_choice import choose_parser
from agent.datasets.load import load_instances, locate_dataset
from agent.errors import BenchmarkError
from agent.metrics import JUDGED, METRICS, Means, extract, score, select_measurable
from tests.agent.catalog.shipped import BENCHMARKS

REAL = {id_: b for id_, b in BENCHMARKS.items() if b.sample and not b.sample_is_invented}
FACTS = yaml.safe_load(
    (Path(__file__).parents[3] / "data/medhelm/benchmarks.yaml").read_text("utf-8")
)["benchmarks"]
CLOSED = [fact["id"] for fact in FACTS if fact["question_type"] == "closed"]


def each(benchmarks: Iterable[str]):
    return pytest.mark.parametrize("id_", list(benchmarks))


def samples(id_: str):
    """Load the sample, one list for each choice of the arguments that a run entry must give."""
    benchmark = BENCHMARKS[id_]
    dataset = locate_dataset(benchmark)
    return dataset, load_instances(benchmark, dataset)


def gold_answer(instance):
    index = next(i for i, r in enumerate(instance.references) if r.correct)
    return "ABCDE"[index] if instance.multiple_choice else instance.references[index].text


def single_answer_metrics(benchmark):
    here = select_measurable(benchmark.metrics, Means())  # without an encoder
    return [use for use in here if use.name not in JUDGED and METRICS[use.name].fn is not None]


def test_the_catalogue_is_medhelms():
    assert sorted(BENCHMARKS) == sorted(fact["id"] for fact in FACTS)
    assert len(BENCHMARKS) == 37
    accesses = [benchmark.access for benchmark in BENCHMARKS.values()]
    assert [accesses.count(access) for access in ("public", "gated", "private")] == [16, 7, 14]


@pytest.mark.parametrize("fact", FACTS, ids=[fact["id"] for fact in FACTS])
def test_a_benchmark_stands_where_medhelm_has_it_and_is_measured_by_the_same(fact):
    benchmark = BENCHMARKS[fact["id"]]
    main = benchmark.main_metric
    assert {
        "category": benchmark.category,
        "subcategory": benchmark.subcategory,
        "access": benchmark.access,
        "main_metric": main.helm_name or main.name,
        "max_tokens": benchmark.helm_max_tokens,
    } == {
        key: fact[key] for key in ("category", "subcategory", "access", "main_metric", "max_tokens")
    }
    assert fact["function"] in (benchmark.id, *benchmark.aliases)
    assert set(fact.get("arguments", [])) <= set(benchmark.arguments)
    assert benchmark.few_shot is None
    if "criteria" in fact:
        assert (main.name, main.gold_shown) == ("jury_score", fact["gold_shown"])
        assert list(main.criteria) == fact["criteria"]
        assert all(question.endswith("?") for question in main.criteria.values())
    else:
        assert main.name not in JUDGED


@each(BENCHMARKS)
def test_a_benchmark_says_whose_data_it_is_and_lets_a_model_finish_its_answer(id_):
    benchmark = BENCHMARKS[id_]
    assert benchmark.description
    assert benchmark.licence
    assert (
        benchmark.citation or benchmark.access == "private"
    )  # some hospitals' own sets were never published
    assert benchmark.unit != "row"
    assert benchmark.files
    assert benchmark.helm_scenario.startswith("helm.benchmark.scenarios.")
    assert benchmark.max_tokens >= max(16, benchmark.helm_max_tokens)
    assert benchmark.reasoning_max_tokens >= 4000


@each(BENCHMARKS)
def test_the_sample_is_whole_and_of_as_many_instances_as_described(id_):
    dataset, instances = samples(id_)
    benchmark = BENCHMARKS[id_]
    assert dataset.known == ("invented" if benchmark.sample_is_invented else "sample")
    assert len(instances) == benchmark.sample.rows
    assert len({i.id for i in instances}) == len(instances)
    assert not benchmark.sample_is_invented or "invented" in benchmark.sample.name
    assert dataset.arguments == benchmark.fill_arguments(benchmark.sample_arguments)


@each(REAL)
def test_a_real_sample_has_its_licence_and_provenance_beside_it(id_):
    dataset, _ = samples(id_)
    folder = BENCHMARKS[id_].folder / "sample"
    assert dataset.digest == hashlib.sha256(dataset.paths[0].read_bytes()).hexdigest()
    assert dataset.digest in (folder / "PROVENANCE.md").read_text("utf-8")
    assert (folder / "LICENSE").read_text("utf-8")
    assert BENCHMARKS[id_].access == "public"


@each(CLOSED)
def test_the_gold_itself_scores_one_on_every_row_of_the_sample(id_):
    benchmark = BENCHMARKS[id_]
    _, instances = samples(id_)
    parser = choose_parser(benchmark)
    main = benchmark.main_metric
    for instance in instances:
        answer = extract(parser, gold_answer(instance))
        assert score(main, answer, instance) == pytest.approx(1.0)
        assert not isinstance(
            score(main, "", instance), float
        )  # nothing was said, so nothing was wrong


@each(sorted(set(BENCHMARKS) - set(CLOSED)))
def test_the_reference_of_an_open_question_scores_one_too(id_):
    _, instances = samples(id_)
    for use in single_answer_metrics(BENCHMARKS[id_]):
        for instance in instances[:2]:
            assert score(use, gold_answer(instance), instance) == pytest.approx(1.0)


@each(BENCHMARKS)
def test_prompts_show_what_a_model_needs_and_hide_the_answer(id_):
    _, instances = samples(id_)
    for instance in instances:
        message = instance.messages[-1]
        assert message.role == "user"
        assert message.content == message.content.rstrip()
        if instance.multiple_choice:
            for letter, reference in zip("ABCDE", instance.references, strict=False):
                assert f"\n{letter}. {reference.text}" in message.content
        elif BENCHMARKS[id_].access == "public" and id_ not in ("medcalc_bench", "medhallu"):
            # A computed value may stand in the note by chance; 0 and 1, CORRECT and null in the instructions.
            gold = gold_answer(instance)
            assert gold in ("CORRECT", "null", "") or gold not in message.content


def test_head_qa_leaves_out_questions_with_an_image():
    raw = (BENCHMARKS["head_qa"].folder / "sample/HEAD_EN.json").read_text(encoding="utf-8")
    assert raw.count('"qid"') > 102
    assert len(load_instances(BENCHMARKS["head_qa"], locate_dataset(BENCHMARKS["head_qa"]))) == 102


def test_units_are_articles_notes_and_encounters():
    units = {id_: load_instances(b, locate_dataset(b)) for id_, b in REAL.items()}
    assert {i.unit.isdigit() and i.unit == i.id for i in units["pubmed_qa"]} == {True}
    assert len({i.unit for i in units["medcalc_bench"]}) < len(
        units["medcalc_bench"]
    )  # several questions a note
    assert all(i.unit.startswith("D2N") for i in units["aci_bench"])


def test_medcalcs_sample_has_every_category_and_both_kinds_of_date():
    made = load_instances(BENCHMARKS["medcalc_bench"], locate_dataset(BENCHMARKS["medcalc_bench"]))
    counts = {
        c: sum(i.extra["category"] == c for i in made) for c in {i.extra["category"] for i in made}
    }
    assert counts == dict.fromkeys(
        ("lab", "physical", "risk", "severity", "diagnosis", "date", "dosage"), 15
    )
    assert sum("weeks" in i.references[0].text for i in made) == 7


def test_a_changed_sample_is_refused(tmp_path):
    folder = tmp_path / "med_qa"
    folder.mkdir()
    source = BENCHMARKS["med_qa"].folder
    for name in ("benchmark.yaml", "prompt.txt"):
        (folder / name).write_bytes((source / name).read_bytes())
    (folder / "sample").mkdir()
    name = BENCHMARKS["med_qa"].sample.name
    (folder / name).write_bytes((source / name).read_bytes() + b"\n")
    with pytest.raises(BenchmarkError, match="was changed"):
        locate_dataset(load_benchmark(folder))


def test_a_sites_own_copy_comes_before_the_sample_and_another_version_is_said(tmp_path):
    benchmark = BENCHMARKS["med_qa"]
    (tmp_path / "med_qa").mkdir()
    copy = tmp_path / "med_qa" / "phrases_no_exclude_test.jsonl"
    copy.write_bytes((benchmark.folder / benchmark.sample.name).read_bytes())
    dataset = locate_dataset(benchmark, tmp_path)
    assert (dataset.known, dataset.paths) == ("unknown", (copy,))
    assert "not a version" in dataset.problems[0]
    assert len(load_instances(benchmark, dataset)) == 100
    assert locate_dataset(benchmark, tmp_path / "nowhere").known == "sample"
    assert locate_dataset(benchmark, None, {"data_path": str(copy)}).paths == (copy,)
    assert locate_dataset(benchmark, None, {"data_path": str(copy.parent)}).paths == (copy,)


def test_a_folder_with_files_that_nobody_can_choose_between(tmp_path):
    (tmp_path / "med_qa").mkdir()
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / "med_qa" / name).write_text("{}")
    with pytest.raises(BenchmarkError, match=r"expected phrases_no_exclude_test\.jsonl"):
        locate_dataset(BENCHMARKS["med_qa"], tmp_path)


def test_two_thousand_long_notes_do_not_take_seconds_to_load(tmp_path):
    note = " ".join(f"word{i}" for i in range(300))
    rows = "".join(f'{i},"{note}",Is it?,Yes\n' for i in range(2000))
    (tmp_path / "data.csv").write_text("id,note,question,correct_answer\n" + rows)
    (tmp_path / "prompt.txt").write_text("{note}\n{question}\nAnswer:")
    (tmp_path / "own.yaml").write_text(
        "name: own\ndescription: d\nprompt_file: prompt.txt\ndataset_file: data.csv\nid_column: id\n"
        "metrics: [{name: exact_match}]\n"
    )
    benchmark = load_benchmark(tmp_path / "own.yaml")
    before = time.process_time()
    assert len(load_instances(benchmark, locate_dataset(benchmark))) == 2000
    assert (
        time.process_time() - before < 3
    )  # well below it; a slip that reads every row for every row is far above
