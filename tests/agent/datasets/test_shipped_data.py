"""The seven benchmarks and their real samples, and the official files where they are at hand."""

import hashlib
import os
import time
from pathlib import Path

import pytest

from agent.catalog.benchmark import find_benchmarks, load_benchmark
from agent.datasets.load import load_instances, locate_dataset
from agent.errors import BenchmarkError
from agent.metrics import score

BENCHMARKS = find_benchmarks()
OFFICIAL = Path(os.environ.get("INTRAMURAL_OFFICIAL_DATA", ""))


def gold_answer(instance):
    index = next(i for i, r in enumerate(instance.references) if r.correct)
    return "ABCDE"[index] if instance.multiple_choice else instance.references[index].text


@pytest.mark.parametrize("benchmark", BENCHMARKS.values(), ids=list(BENCHMARKS))
def test_the_sample_is_real_licensed_and_as_described(benchmark):
    dataset = locate_dataset(benchmark)
    instances = load_instances(benchmark, dataset)
    folder = benchmark.folder / "sample"
    assert dataset.known == "sample"
    assert dataset.digest == hashlib.sha256((benchmark.folder / benchmark.sample.name).read_bytes()).hexdigest()
    assert dataset.digest in (folder / "PROVENANCE.md").read_text()
    assert (folder / "LICENSE").read_text()
    assert len(instances) == benchmark.sample.rows
    assert len({i.id for i in instances}) == len(instances)


@pytest.mark.parametrize("benchmark", BENCHMARKS.values(), ids=list(BENCHMARKS))
def test_the_gold_itself_scores_one_on_every_row_of_the_sample(benchmark):
    instances = load_instances(benchmark, locate_dataset(benchmark))
    metrics = [m for m in benchmark.metrics if m.name != "rouge_l"]  # slow: the longest common sequence
    for use in metrics:
        for instance in instances[:5] if use.name.startswith("rouge") else instances:
            assert score(use, gold_answer(instance), instance) == pytest.approx(1.0)


def test_prompts_show_what_a_model_needs_and_hide_the_answer():
    instances = {id_: load_instances(b, locate_dataset(b)) for id_, b in BENCHMARKS.items()}
    for id_, made in instances.items():
        for instance in made:
            (message,) = instance.messages
            assert message.role == "user"
            assert message.content.startswith(BENCHMARKS[id_].instructions)
            assert message.content == message.content.rstrip()
            if instance.multiple_choice:
                for letter, reference in zip("ABCDE", instance.references, strict=False):
                    assert f"\n{letter}. {reference.text}" in message.content
            else:
                # A computed value may stand in the note by chance, and CORRECT in the instructions.
                gold = gold_answer(instance)
                assert id_ == "medcalc_bench" or gold == "CORRECT" or gold not in message.content


def test_head_qa_leaves_out_questions_with_an_image():
    raw = (BENCHMARKS["head_qa"].folder / "sample/HEAD_EN.json").read_text(encoding="utf-8")
    assert raw.count('"qid"') > 102
    assert len(load_instances(BENCHMARKS["head_qa"], locate_dataset(BENCHMARKS["head_qa"]))) == 102


def test_units_are_articles_notes_and_encounters():
    units = {id_: load_instances(b, locate_dataset(b)) for id_, b in BENCHMARKS.items()}
    assert {i.unit.isdigit() and i.unit == i.id for i in units["pubmed_qa"]} == {True}
    assert len({i.unit for i in units["medcalc_bench"]}) < len(units["medcalc_bench"])  # several questions a note
    assert all(i.unit.startswith("D2N") for i in units["aci_bench"])


def test_medcalcs_sample_has_every_category_and_both_kinds_of_date():
    made = load_instances(BENCHMARKS["medcalc_bench"], locate_dataset(BENCHMARKS["medcalc_bench"]))
    counts = {c: sum(i.extra["category"] == c for i in made) for c in {i.extra["category"] for i in made}}
    assert counts == dict.fromkeys(("lab", "physical", "risk", "severity", "diagnosis", "date", "dosage"), 15)
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
    assert time.process_time() - before < 0.5  # about 0.03 s; the margin is for a busy machine


@pytest.mark.skipif(not os.environ.get("INTRAMURAL_OFFICIAL_DATA"), reason="needs the official files")
@pytest.mark.parametrize(
    ("id_", "known", "count"),
    [
        ("pubmed_qa", "official", 1000),
        ("med_mcqa", "official", 4183),
        ("medcalc_bench", "official", 1047),
        ("medec", "official", 597),
        ("aci_bench", "unknown", 80),  # one of the three files is missing
    ],
)
def test_the_official_files_give_the_official_counts(id_, known, count):
    dataset = locate_dataset(BENCHMARKS[id_], OFFICIAL)
    instances = load_instances(BENCHMARKS[id_], dataset)
    assert (dataset.known, len(instances)) == (known, count)
    for use in BENCHMARKS[id_].metrics:
        if not use.name.startswith("rouge"):
            assert all(score(use, gold_answer(i), i) == 1.0 for i in instances)
