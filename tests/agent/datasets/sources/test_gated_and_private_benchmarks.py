"""The gated and private benchmarks: invented samples, the joins of the official layouts, and files gone wrong."""

import csv
import gzip
import importlib.util
import io
import json
import shutil
import sys
from datetime import datetime, timedelta
from pathlib import Path

import openpyxl
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

import agent.datasets.readers.lines as lines_module
from agent.catalog.benchmark import load_benchmark
from agent.datasets import identity
from agent.datasets.load import iter_instances, load_instances, locate_dataset
from agent.datasets.readers import safe_xml
from agent.datasets.sources.dischargeme import remove_section
from agent.errors import BenchmarkError, ConfigError
from agent.io.packaged import shipped
from agent.metrics import METRICS, score
from tests.memory import run_measured

ROOT = Path(__file__).parents[4]
CANARY = "XQZ-patient-77"
SHC = [f"shc_{name}_med" for name in ("ptbm", "sei", "conf", "proxy", "privacy", "bmt", "gip", "sequoia", "cdi", "ent")]
GATED = ["ehrshot", "medalign", "dischargeme", "mimic_bhc", "mimic_rrs", "n2c2_ct_matching", "mimiciv_billing_code"]
PRIVATE = ["clear", "chw_care_plan", "starr_patient_instructions", "mental_health", *SHC]
JUDGED = {"medalign", "dischargeme", "mimic_bhc", "mimic_rrs", *PRIVATE[1:4]}
CLOSED = [name for name in (*GATED, *PRIVATE) if name not in JUDGED]
BENCHMARKS = {name: load_benchmark(shipped("benchmarks") / name) for name in (*GATED, *PRIVATE)}


def arguments(id_: str) -> list[dict[str, str]]:
    """Every condition, criterion or task of a benchmark; one empty set of arguments if it has none."""
    benchmark = BENCHMARKS[id_]
    named = next((name for name in ("condition", "subject") if name in benchmark.arguments), None)
    return [{named: value} for value in benchmark.arguments[named].values] if named else [{}]


CASES = [(id_, given) for id_ in BENCHMARKS for given in arguments(id_)]


def load(id_: str, data: Path | None = None, **given: str):
    benchmark = BENCHMARKS[id_]
    passed = given | ({"data_path": str(data)} if data else {})
    return load_instances(benchmark, locate_dataset(benchmark, None, passed))


def problem(id_: str, data: Path, **given: str) -> str:
    with pytest.raises(BenchmarkError) as caught:
        load(id_, data, **given)
    assert CANARY not in str(caught.value)
    return str(caught.value)


def gold(instance) -> str:
    return next(reference.text for reference in instance.references if reference.correct)


def prompt(instance) -> str:
    return instance.messages[-1].content


def sample_copy(id_: str, tmp_path: Path) -> Path:
    """Return a copy of the sample that a test may spoil: a folder, or a file."""
    benchmark = BENCHMARKS[id_]
    source, target = benchmark.folder / benchmark.sample.name, tmp_path / "site"
    if benchmark.sample_is_folder:
        return Path(shutil.copytree(source, target))
    target.mkdir()
    return Path(shutil.copy(source, target / benchmark.sample.name))


def write_csv(path: Path, header: list[str], *rows: list[str]) -> Path:
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    data = out.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read_gz(path: Path) -> tuple[list[str], list[list[str]]]:
    header, *rows = csv.reader(io.StringIO(gzip.decompress(path.read_bytes()).decode()))
    return header, rows


# -- All of them ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("id_", "given"), CASES)
def test_every_sample_loads_as_invented_with_the_rows_it_promises(id_, given):
    benchmark = BENCHMARKS[id_]
    dataset = locate_dataset(benchmark, None, given)
    made = load_instances(benchmark, dataset)
    assert dataset.known == "invented"
    assert len(made) == benchmark.sample.rows <= 20
    assert len({instance.id for instance in made}) == len(made)
    assert "invented_" in benchmark.sample.name
    for instance in made:
        assert prompt(instance).startswith(benchmark.instructions.split("{")[0])
        if benchmark.gold and not benchmark.choices and gold(instance) != "Stable.":
            assert gold(instance) not in prompt(instance)


@pytest.mark.parametrize(("id_", "given"), [case for case in CASES if case[0] in CLOSED])
def test_the_gold_itself_scores_one_on_every_row(id_, given):
    for instance in load(id_, **given):
        right = [i for i, reference in enumerate(instance.references) if reference.correct]
        answer = "ABC"[right[0]] if instance.multiple_choice else gold(instance)
        for use in BENCHMARKS[id_].metrics:
            if METRICS[use.name].fn:
                assert score(use, answer, instance) == 1.0


@pytest.mark.parametrize(
    ("id_", "given"), [case for case in CASES if case[0] in CLOSED and BENCHMARKS[case[0]].choices]
)
def test_every_class_of_answer_is_gold_somewhere_in_the_sample(id_, given):
    made = load(id_, **given)
    assert {gold(instance) for instance in made} == {reference.text for reference in made[0].references}


def test_access_agreements_and_juries_are_as_medhelm_has_them():
    for id_, benchmark in BENCHMARKS.items():
        assert benchmark.access == ("gated" if id_ in GATED else "private")
        assert bool(benchmark.agreement) == bool(benchmark.agreement_url) == (id_ in GATED)
        assert benchmark.category
        assert benchmark.subcategory
        assert benchmark.licence
        assert benchmark.helm_scenario.startswith("helm.benchmark.scenarios.")
        main = benchmark.main_metric
        if id_ in JUDGED:
            assert (main.name, main.helm_name) == ("jury_score", f"{id_}_accuracy")
            second = "structure" if id_ == "chw_care_plan" else "completeness"
            assert list(main.criteria) == ["accuracy", second, "clarity"]
        else:
            assert main.name == ("mimiciv_billing_code_f1" if id_ == "mimiciv_billing_code" else "exact_match")
        rouge = [use.name for use in benchmark.metrics if use.name.startswith("rouge")]
        assert bool(rouge) == (id_ in JUDGED - {"chw_care_plan"})


def test_sets_cut_from_one_dataset_share_its_patients():
    lineages = {id_: benchmark.lineage for id_, benchmark in BENCHMARKS.items()}
    assert {lineages[id_] for id_ in ("dischargeme", "mimic_bhc", "mimiciv_billing_code")} == {"mimic_iv"}
    assert lineages["ehrshot"] == lineages["medalign"] != ""
    # A site's own patients: whatever a private benchmark is called, they may be in the next one too.
    assert {lineages[id_] for id_ in PRIVATE} == {""}


def test_what_may_be_cut_of_a_long_prompt_is_the_record_and_never_the_question():
    for id_, passed in CASES:
        instance = load(id_, **passed)[0]
        part = instance.shortenable
        assert part is not None
        content = instance.messages[part.message].content
        rest = content[: part.start] + content[part.end :]
        assert content.rstrip().splitlines()[-1] in rest
        assert all(
            f"{letter}. " in rest for letter, _ in zip("AB", instance.references, strict=False) if _.text == "yes"
        )
    assert {BENCHMARKS[id_].shorten.keep for id_ in ("ehrshot", "medalign", "n2c2_ct_matching")} == {"end"}


def test_the_script_writes_the_samples_again_byte_for_byte(tmp_path):
    spec = importlib.util.spec_from_file_location("make_invented", ROOT / "benchmarks/make_invented.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert sorted(module.SAMPLES) == sorted(BENCHMARKS)
    for id_, make in module.SAMPLES.items():
        folder = shipped("benchmarks") / id_
        made = make()
        kept = {
            p.relative_to(folder).as_posix() for p in folder.rglob("*") if "invented" in p.as_posix() and p.is_file()
        }
        assert set(made) == kept
        for name, data in made.items():
            if name.endswith(".parquet"):
                (tmp_path / "made.parquet").write_bytes(data)
                old, new = parquet.ParquetFile(folder / name), parquet.ParquetFile(tmp_path / "made.parquet")
                if old.metadata.created_by != new.metadata.created_by:  # another version of pyarrow
                    assert old.read().equals(new.read())
                    continue
            assert (folder / name).read_bytes() == data, name
        if not any(name.endswith(".parquet") for name in made):
            assert module.joint_digest(made) == BENCHMARKS[id_].sample.sha256


# -- The ten sets of one shape ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("id_", SHC)
def test_rows_with_the_same_text_are_two_questions_and_no_row_is_numbered(id_):
    made = load(id_)
    assert len(made) == 7
    assert prompt(made[-1]) == prompt(made[-2])  # upstream would merge them, or tell them apart by a number
    assert made[-1].id != made[-2].id


def test_letters_say_what_they_mean():
    assert {BENCHMARKS[id_].choices.texts for id_ in SHC if id_ not in ("shc_ent_med", "shc_proxy_med")} == {
        ("yes", "no")
    }
    assert BENCHMARKS["shc_ent_med"].choices.texts == ("yes", "no", "no mention")
    assert "C. no mention" in prompt(load("shc_ent_med")[0])
    assert len(BENCHMARKS["shc_proxy_med"].choices.texts) == 3


def test_a_letter_that_stands_for_no_option_and_a_missing_label_are_named_by_row(tmp_path):
    rows = [["Is it?", CANARY, "A"], ["Is it?", CANARY, "C"], ["Is it?", CANARY, ""]]
    data = write_csv(tmp_path / "own.csv", ["prompt", "context", "label"], *rows)
    said = problem("shc_bmt_med", data)
    assert "own.csv: row 2 (line 3): the column 'label' names none of the options" in said
    assert "row 3 (line 4): the column 'label' is empty" in said
    # The original set of this one has rows without a label; they are left out.
    assert len(load("shc_ent_med", data)) == 2


def test_a_file_that_names_patients_groups_their_rows_and_one_that_does_not_keeps_them_apart(tmp_path):
    rows = [["Q", "c1", "A", "p1"], ["Q", "c2", "B", "p2"], ["Q", "c3", "B", "p1"]]
    named = write_csv(tmp_path / "a.csv", ["prompt", "context", "label", "person_id"], *rows)
    assert [instance.unit for instance in load("shc_cdi_med", named)] == ["p1", "p2", "p1"]
    unnamed = write_csv(tmp_path / "b.csv", ["prompt", "context", "label"], *(row[:3] for row in rows))
    assert [instance.unit for instance in load("shc_cdi_med", unnamed)] == ["1", "2", "3"]
    gap = write_csv(tmp_path / "c.csv", ["prompt", "context", "label", "mrn"], *rows, ["Q", "c4", "A", " "])
    assert "row 4 (line 5): the column 'mrn' does not name a patient" in problem("shc_cdi_med", gap)


def test_ids_of_the_file_are_kept_and_may_not_repeat(tmp_path):
    header = ["id", "prompt", "context", "label"]
    data = write_csv(tmp_path / "a.csv", header, ["n7", "Q", "c", "A"], ["n8", "Q", "c", "B"])
    assert [instance.id for instance in load("shc_gip_med", data)] == ["n7", "n8"]
    data = write_csv(tmp_path / "b.csv", header, ["n7", "Q", "c", "A"], ["n7", "Q", "c", "B"])
    assert "row 2 (line 3): has the same 'row_id' as row 1" in problem("shc_gip_med", data)


def test_a_set_with_another_sets_column_is_told_which_is_missing(tmp_path):
    data = write_csv(tmp_path / "a.csv", ["prompt", "context", "label"], ["Q", "c", "A"])
    assert "question" in problem("shc_sequoia_med", data)


# -- CLEAR ------------------------------------------------------------------------------------------------------------


def clear_file(tmp_path: Path, *rows: list[object], header: tuple[str, ...] = ("text", "result_human")) -> Path:
    book = openpyxl.Workbook()
    for row in (header, *rows):
        book.active.append(list(row))
    book.save(tmp_path / "homelessness.xlsx")
    return tmp_path


def test_options_are_named_after_the_condition_in_the_order_history_none_uncertain():
    texts = [reference.text for reference in load("clear", condition="post_traumatic_stress_disorder")[0].references]
    name = "post-traumatic stress disorder (PTSD)"
    assert texts == [f"Has a history of {name}", f"Does not have a history of {name}", "Uncertain"]
    made = [load("clear", condition=value) for value in BENCHMARKS["clear"].arguments["condition"].values]
    assert len(made) == 13
    assert len({prompt(instances[0]) for instances in made}) == 13
    ids = [instance.id for instances in made for instance in instances]
    assert len(set(ids)) == len(ids)  # row 1 of one condition is not row 1 of another


def test_labels_one_zero_and_two_are_a_b_and_c_also_as_excels_numbers(tmp_path):
    made = load("clear", clear_file(tmp_path, ["n1", 1], ["n2", 0.0], ["n3", "2"]), condition="homelessness")
    assert [[r.correct for r in i.references].index(True) for i in made] == [0, 1, 2]


def test_rows_without_note_or_label_are_left_out_and_a_label_outside_the_three_is_named(tmp_path):
    folder = clear_file(tmp_path, ["n1", 1], [None, None], ["n2", None], [None, 1], ["n3", 0])
    assert [i.id for i in load("clear", folder, condition="homelessness")] == ["homelessness/1", "homelessness/4"]
    said = problem("clear", clear_file(tmp_path, [CANARY, 1], [CANARY, 3], [CANARY, CANARY]), condition="homelessness")
    assert "homelessness.xlsx: row 3: the column 'result_human' is none of 1 (history), 0 (none), 2 (uncertain)" in said
    assert "row 4" in said


def test_a_condition_that_there_is_not_and_a_file_without_its_columns(tmp_path):
    with pytest.raises(ConfigError, match=r"condition is 'homelesness'.*homelessness"):
        load("clear", condition="homelesness")
    folder = clear_file(tmp_path, ["n", 1], header=("note", "result_human"))
    assert "columns: 'text' is missing" in problem("clear", folder, condition="homelessness")


def test_patients_of_clear_are_the_files_where_it_names_them(tmp_path):
    header = ("text", "result_human", "patient_id")
    folder = clear_file(tmp_path, ["n1", 1, 501], ["n2", 0, 501], ["n3", 2, 502], header=header)
    assert [i.unit for i in load("clear", folder, condition="homelessness")] == ["501", "501", "502"]


# -- EHRSHOT ----------------------------------------------------------------------------------------------------------

START = datetime(2000, 1, 1)


def meds(folder: Path, events, labels, splits, group: int = 5) -> Path:
    """Write the MEDS layout: events (subject, time, code), labels (subject, time, value), splits {subject: split}."""

    def write(name: str, **columns) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pyarrow.table(columns), path, row_group_size=group)

    time = pyarrow.timestamp("us")
    write(
        "data/data.parquet",
        subject_id=pyarrow.array([e[0] for e in events], pyarrow.int64()),
        time=pyarrow.array([e[1] for e in events], time),
        code=pyarrow.array([e[2] for e in events], pyarrow.string()),
    )
    write(
        "labels/new_lupus/labels.parquet",
        subject_id=pyarrow.array([e[0] for e in labels], pyarrow.int64()),
        prediction_time=pyarrow.array([e[1] for e in labels], time),
        boolean_value=[e[2] for e in labels],
    )
    write("metadata/subject_splits.parquet", subject_id=list(splits), split=list(splits.values()))
    return folder


def day(number: int) -> datetime:
    return START + timedelta(days=number)


@pytest.mark.parametrize("task", BENCHMARKS["ehrshot"].arguments["subject"].values)
def test_each_label_meets_the_record_of_its_own_patient_up_to_its_own_time(task):
    folder = BENCHMARKS["ehrshot"].folder / "invented_sample"
    labels = parquet.read_table(folder / f"labels/{task}/labels.parquet").to_pylist()
    splits = {
        r["subject_id"]: r["split"] for r in parquet.read_table(folder / "metadata/subject_splits.parquet").to_pylist()
    }
    order = [label["subject_id"] for label in labels]
    assert order != sorted(order)  # what upstream's faulty join needs to go wrong
    made = {instance.id: instance for instance in load("ehrshot", subject=task)}
    held_out = {f"{task}/{n}": label for n, label in enumerate(labels, 1) if splits[label["subject_id"]] == "held_out"}
    assert made.keys() == held_out.keys()
    for id_, label in held_out.items():
        subject, text = label["subject_id"], prompt(made[id_])
        assert made[id_].unit == str(subject)
        assert gold(made[id_]) == ("yes" if label["boolean_value"] else "no")
        assert "LATER" not in text
        assert "//SEX//" not in text  # what has no time is no event
        known = [line for line in text.splitlines() if "KNOWN" in line]
        early = label["prediction_time"] != max(x["prediction_time"] for x in labels if x["subject_id"] == subject)
        assert known == ([] if early else [f"- INVENTED//KNOWN//{subject}"])


def test_events_are_shown_by_time_one_code_a_line_and_an_event_at_the_very_time_counts(tmp_path):
    events = [(1, day(3), "C"), (1, day(1), "A"), (1, None, "S"), (1, day(5), "E"), (1, day(4), "D"), (1, day(6), "F")]
    folder = meds(tmp_path, events, [(1, day(5), True)], {1: "held_out"}, group=2)
    (instance,) = load("ehrshot", folder, subject="new_lupus")
    part = instance.shortenable
    assert instance.messages[part.message].content[part.start : part.end] == "- A\n- C\n- D\n- E"
    assert part.keep == "end"  # the newest events stay
    assert "systemic lupus" in prompt(instance)


def test_only_the_wanted_split_is_asked_and_all_of_them_as_medhelm_does(tmp_path):
    events = [(n, day(n), f"code {n}") for n in range(1, 5)]
    labels = [(n, day(9), n % 2 == 0) for n in range(1, 5)]
    splits = {1: "held_out", 2: "train", 3: "tuning", 4: "held_out"}
    folder = meds(tmp_path, events, labels, splits)
    units = {
        split: [i.unit for i in load("ehrshot", folder, subject="new_lupus", split=split)] for split in ("train", "all")
    }
    assert units == {"train": ["2"], "all": ["1", "2", "3", "4"]}
    assert [i.unit for i in load("ehrshot", folder, subject="new_lupus")] == ["1", "4"]


def test_a_sample_of_labels_is_the_one_that_pandas_takes_for_medhelm(tmp_path):
    events = [(n, day(1), "code") for n in range(13)]
    labels = [(n, day(2), True) for n in range(13)]
    folder = meds(tmp_path, events, labels, dict.fromkeys(range(13), "held_out"))
    made = load("ehrshot", folder, subject="new_lupus", max_labels="5")
    # pandas.DataFrame({"a": range(13)}).sample(n=5, random_state=1).index is [2, 3, 4, 10, 1]
    assert sorted(int(instance.unit) for instance in made) == [1, 2, 3, 4, 10]
    assert len(load("ehrshot", folder, subject="new_lupus", max_labels="0")) == 13
    assert "max_labels: expected a whole number" in problem("ehrshot", folder, subject="new_lupus", max_labels="many")


def test_a_record_that_does_not_stand_together_is_refused(tmp_path):
    events = [(1, day(1), "A"), (2, day(1), "B"), (1, day(2), "C")]
    folder = meds(tmp_path, events, [(1, day(3), True), (2, day(3), False)], {1: "held_out", 2: "held_out"})
    said = problem("ehrshot", folder, subject="new_lupus")
    assert "data.parquet: row 3: a subject's events do not stand together" in said


def test_labels_of_patients_without_a_record_and_with_gaps_are_named_by_row(tmp_path):
    folder = meds(tmp_path, [(1, day(1), "A")], [(1, day(3), True), (2, day(3), False)], {1: "held_out", 2: "held_out"})
    assert "labels.parquet: row 2: its subject_id has no events in data/data.parquet" in problem(
        "ehrshot", folder, subject="new_lupus"
    )
    folder = meds(tmp_path, [(1, day(1), "A")], [(1, None, True), (1, day(2), None)], {1: "held_out"})
    said = problem("ehrshot", folder, subject="new_lupus")
    assert "row 1: expected a subject_id, a prediction_time and a boolean_value" in said
    assert "row 2: expected" in said


def test_a_prediction_before_any_event_says_so_and_is_still_asked(tmp_path):
    folder = meds(tmp_path, [(1, day(5), "A")], [(1, day(3), False)], {1: "held_out"})
    (instance,) = load("ehrshot", folder, subject="new_lupus")
    assert "(no events before the prediction time)" in prompt(instance)


def test_nanosecond_times_and_times_with_a_zone_are_moments_too(tmp_path):
    folder = meds(tmp_path, [(1, day(1), "A"), (1, day(2), "B")], [(1, day(1), True)], {1: "held_out"})
    table = parquet.read_table(folder / "data/data.parquet")
    for kind in (pyarrow.timestamp("ns"), pyarrow.timestamp("us", tz="UTC")):
        cast = table.set_column(1, "time", table["time"].cast(kind))
        parquet.write_table(cast, folder / "data/data.parquet")
        (instance,) = load("ehrshot", folder, subject="new_lupus")
        assert "- A\n\n" in prompt(instance)
    parquet.write_table(table.set_column(1, "time", table["time"].cast("string")), folder / "data/data.parquet")
    assert "'time' does not hold moments" in problem("ehrshot", folder, subject="new_lupus")


def test_columns_may_stand_in_any_order_and_ids_must_be_numbers(tmp_path):
    labels = [(1, day(3), True), (2, day(3), False)]
    folder = meds(tmp_path, [(1, day(1), "A"), (2, day(2), "B")], labels, {1: "held_out", 2: "held_out"})
    table = parquet.read_table(folder / "data/data.parquet")
    parquet.write_table(table.select(["code", "time", "subject_id"]), folder / "data/data.parquet")
    first, second = (prompt(instance) for instance in load("ehrshot", folder, subject="new_lupus"))
    assert "- A\n\n" in first
    assert "- B\n\n" in second
    texts = table.set_column(0, "subject_id", table["subject_id"].cast("string"))
    parquet.write_table(texts, folder / "data/data.parquet")
    assert "'subject_id' does not hold whole numbers" in problem("ehrshot", folder, subject="new_lupus")


def test_missing_files_wrong_columns_and_what_is_no_parquet(tmp_path):
    folder = sample_copy("ehrshot", tmp_path)
    (folder / "data/data.parquet").write_bytes(CANARY.encode())
    assert "data.parquet: the whole file: is not a Parquet file" in problem("ehrshot", folder, subject="guo_icu")
    parquet.write_table(pyarrow.table({"subject_id": [1]}), folder / "data/data.parquet")
    assert "data.parquet: columns: 'time' is missing" in problem("ehrshot", folder, subject="guo_icu")
    (folder / "data/data.parquet").unlink()
    assert "data/data.parquet: is missing" in problem("ehrshot", folder, subject="guo_icu")


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for id_, passed in (("ehrshot", {"subject": "guo_icu"}), ("mimiciv_billing_code", {})):
        with pytest.raises(BenchmarkError) as caught:
            load(id_, **passed)
        assert "intramural[parquet]" in caught.value.advice


@pytest.mark.full
def test_two_million_events_are_read_in_the_memory_of_one_patient(tmp_path):
    subjects, each = 2000, 1000
    ids = pyarrow.array([s for s in range(subjects) for _ in range(each)], pyarrow.int64())
    moments = pyarrow.array([i % each for i in range(subjects * each)], pyarrow.int64()).cast(pyarrow.timestamp("us"))
    codes = pyarrow.array(["INVENTED/CODE"] * (subjects * each)).dictionary_encode()
    labels = [(s, START, True) for s in range(0, subjects, 20)]
    folder = meds(tmp_path, [(0, START, "x")], labels, dict.fromkeys(range(subjects), "held_out"))
    table = pyarrow.table({"subject_id": ids, "time": moments, "code": codes.cast("string")})
    parquet.write_table(table, folder / "data/data.parquet", row_group_size=500_000)
    script = (
        "import sys, pyarrow.parquet\n"
        "from pathlib import Path\n"
        "from agent.catalog.benchmark import load_benchmark\n"
        "from agent.datasets.load import iter_instances, locate_dataset\n"
        "benchmark = load_benchmark(Path(sys.argv[1]))\n"
        "dataset = locate_dataset(benchmark, None, {'subject': 'new_lupus', 'data_path': sys.argv[2]})\n"
        "before = peak()\n"
        "count = sum(1 for _ in iter_instances(benchmark, dataset))\n"
        "print(count, peak() - before)\n"
    )
    count, megabytes = run_measured(script, BENCHMARKS["ehrshot"].folder, folder).split()
    assert int(count) == 100
    assert int(megabytes) < 120  # as Python objects the events would be some 400 MiB


# -- MedAlign ---------------------------------------------------------------------------------------------------------

REVIEWED, ANSWERS = "clinician-reviewed-model-responses.tsv", "clinician-instruction-responses.tsv"


def test_an_instruction_stands_for_many_models_and_its_gold_is_the_first_annotators():
    made = load("medalign")
    assert [instance.id for instance in made] == ["101", "102", "103", "104", "105", "106"]
    assert [instance.unit for instance in made] == ["7001", "7001", "7002", "7002", "7003", "7003"]
    assert not any("otherwise" in gold(instance) for instance in made)
    first = prompt(made[0])
    assert "Metformin 500 mg started" in first
    assert "Appendectomy" not in first
    assert "said something" not in first
    part = made[0].shortenable
    assert part.keep == "end"
    assert first[part.start : part.end].endswith("</record>")


def test_an_instruction_with_two_texts_or_two_patients_is_refused(tmp_path):
    folder = sample_copy("medalign", tmp_path)
    text = (folder / REVIEWED).read_text()
    (folder / REVIEWED).write_text(text + f"101\t{CANARY}\t7001\tyes\tmodel_three\tx\n")
    assert f"{REVIEWED}: row 13 (line 14): has the instruction_id of an earlier row" in problem("medalign", folder)
    (folder / REVIEWED).write_text(text + "101\tWhich medicine was started at the first visit?\t7002\tyes\tm\tx\n")
    assert "row 13 (line 14): has the instruction_id" in problem("medalign", folder)


def test_a_patient_without_a_record_a_second_record_and_the_releases_other_name(tmp_path):
    folder = sample_copy("medalign", tmp_path)
    records = folder / "medalign_ehr_xml"
    shutil.copy(records / "7001.xml", records / "EHR_7001.xml")
    assert "EHR_7001.xml is a second record of one patient" in problem("medalign", folder)
    (records / "7001.xml").unlink()
    assert len(load("medalign", folder)) == 6
    (records / "EHR_7001.xml").unlink()
    said = problem("medalign", folder)
    assert f"{ANSWERS}: row 2 (line 3): its patient has no record in medalign_ehr_xml" in said
    assert "row 4 (line 5)" in said


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "XQZ-patient-77">'
    + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
    + "]><r>&j;</r>"
)
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><r>&x;</r>'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "has a document type"),
        (OUTSIDE, "has a document type"),
        (f"<record><event>{CANARY}</event>", "not well-formed"),
        (f"<record>{CANARY} & more</record>", "not well-formed"),
        ("", "not well-formed"),
        ("<a>" * 5000 + "</a>" * 5000, "nested too deeply"),
        ('<?xml version="1.0" encoding="utf-16"?><record/>' + CANARY, "not well-formed"),
    ],
)
def test_hostile_and_broken_records_are_refused_by_their_file(tmp_path, text, said):
    folder = sample_copy("medalign", tmp_path)
    (folder / "medalign_ehr_xml/7002.xml").write_text(text)
    found = problem("medalign", folder)
    assert "the record 7002.xml, line 1," in found
    assert said in found
    folder = sample_copy("n2c2_ct_matching", tmp_path / "n2c2")
    (folder / "test/902.xml").write_text(text)
    found = problem("n2c2_ct_matching", folder, subject="ENGLISH")
    assert "902.xml line 1" in found
    assert said in found


def test_a_missing_table_of_medalign_is_named(tmp_path):
    folder = sample_copy("medalign", tmp_path)
    (folder / ANSWERS).unlink()
    assert f"{ANSWERS}: is missing" in problem("medalign", folder)


# -- Discharge Me! ----------------------------------------------------------------------------------------------------

TEST_PHASE = "files/discharge-me/1.3/test_phase_1"


def test_two_documents_an_admission_and_the_patient_is_the_unit():
    made = load("dischargeme")
    assert [instance.id.split("/")[1] for instance in made] == ["brief_hospital_course", "discharge_instructions"] * 4
    assert len({instance.unit for instance in made}) == 3
    for instance in made:
        other = made[made.index(instance) ^ 1]
        assert " ".join(gold(other).split()) in " ".join(prompt(instance).split())  # only its own section is out


def test_the_target_is_cut_out_by_its_section_and_its_words_elsewhere_stay():
    course = {instance.unit: instance for instance in load("dischargeme") if "course" in instance.id}
    third = course["8000002"]
    assert gold(third) == "Stable."
    assert "Vital signs: Stable." in prompt(third)
    assert "Brief Hospital Course:\n___\n\nMedications on Admission:" in prompt(third)


def test_all_radiology_reports_stand_there_in_the_order_of_their_time():
    first = prompt(load("dischargeme")[0])
    days = [first.index(f"finding of day {day} for admission 1") for day in (1, 2, 3)]
    assert days == sorted(days)
    assert "admission 2" not in first


def test_a_target_whose_lines_are_broken_otherwise_or_that_was_cut_short_leaves_nothing_behind():
    text = (
        "History:\nWell.\n\nBRIEF HOSPITAL COURSE:\nOne two\n three four.\nFive six.\n\nDischarge Disposition:\nHome\n"
    )
    for target in ("One two three four. Five six.", "One two three", "something else altogether"):
        left = remove_section(text, "Brief Hospital Course", target)
        assert "two" not in left
        assert "Five" not in left
        assert left.startswith("History:\nWell.\n\nBRIEF HOSPITAL COURSE:")
        assert left.endswith("Discharge Disposition:\nHome\n")
    assert remove_section("No heading, no section.", "Brief Hospital Course", "Stable.") == "No heading, no section."
    # The last section of a note ends where its target does: a signature is no part of it.
    assert remove_section(
        "Brief Hospital Course:\nWent home.\n\nDr. Nobody", "Brief Hospital Course", "Went home."
    ) == ("Brief Hospital Course:\n___\n\n\n\nDr. Nobody")
    quoted = remove_section('He wrote: "a b c\nd e f g h i."', "Brief Hospital Course", "a b c d e f g h i")
    assert quoted == 'He wrote: "\n___\n\n."'


@given(
    st.text(st.characters(codec="ascii"), max_size=60),
    st.lists(st.sampled_from(["alpha", "beta", "g(m)a", "d."]), min_size=9),
)
def test_a_long_target_is_nowhere_in_what_is_left(rest, words):
    target = " ".join(words)
    for text in (f"{rest}\nBrief Hospital Course:\n{target}\n{rest}", f"{rest} {'  '.join(words)} {rest}"):
        left = remove_section(text, "Brief Hospital Course", target)
        assert target not in " ".join(left.split())


def test_a_join_that_does_not_fit_is_named(tmp_path):
    folder = sample_copy("dischargeme", tmp_path)
    place = folder / TEST_PHASE / "discharge.csv.gz"
    header, rows = read_gz(place)
    write_csv(place, header, *rows[:-1])
    assert "has no text for 1 admissions of discharge_target.csv.gz" in problem("dischargeme", folder)
    write_csv(place, header, *rows, rows[1])
    assert "discharge.csv.gz: row 5" in problem("dischargeme", folder)
    write_csv(place, [name if name != "text" else "note" for name in header], *rows)
    assert "discharge.csv.gz: columns: 'text' is missing" in problem("dischargeme", folder)
    write_csv(place, header, *rows)
    place.write_bytes(place.read_bytes()[:-9])
    assert "is not a whole gzip file" in problem("dischargeme", folder)
    place.unlink()
    assert "discharge.csv.gz: is missing" in problem("dischargeme", folder)


def test_an_empty_target_and_a_second_one_are_named_by_row(tmp_path):
    folder = sample_copy("dischargeme", tmp_path)
    place = folder / TEST_PHASE / "discharge_target.csv.gz"
    header, rows = read_gz(place)
    rows[2][header.index("discharge_instructions")] = " "
    write_csv(place, header, *rows, rows[0])
    said = problem("dischargeme", folder)
    assert "discharge_target.csv.gz: row 3" in said
    assert "the column 'discharge_instructions' is empty" in said
    assert "is a second row of one hadm_id" in said


def test_the_files_that_nobody_uses_may_be_absent(tmp_path):
    folder = sample_copy("dischargeme", tmp_path)
    for name in ("diagnosis", "edstays", "triage"):
        (folder / TEST_PHASE / f"{name}.csv.gz").unlink()
    assert len(load("dischargeme", folder)) == 8


# -- MIMIC: hospital courses, radiology summaries, billing codes ------------------------------------------------------


def test_a_note_belongs_to_the_patient_its_id_begins_with(tmp_path):
    units = [instance.unit for instance in load("mimic_bhc")]
    assert units == ["8100001", "8100002", "8100003", "8100004", "8100005", "8100002"]
    lines = [{"input": "a", "target": "b"}, {"input": "c", "target": "d"}]
    (tmp_path / "helm.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert [instance.unit for instance in load("mimic_bhc", tmp_path / "helm.jsonl")] == ["1", "2"]
    (tmp_path / "odd.jsonl").write_text(json.dumps({"note_id": CANARY, "input": "a", "target": "b"}))
    assert "line 1: the column 'note_id' does not name a patient" in problem("mimic_bhc", tmp_path / "odd.jsonl")


def test_the_releases_own_csv_is_read_and_empty_sides_are_left_out(tmp_path):
    header = ["note_id", "input", "target"]
    rows = [["10-DS-1", "a\nb", "c"], ["10-DS-2", "", "d"], ["11-DS-3", "e", ""], ["11-DS-4", "f", "g"]]
    made = load("mimic_bhc", write_csv(tmp_path / "mimic-iv-bhc.csv", header, *rows))
    assert [(instance.id, instance.unit) for instance in made] == [("10-DS-1", "10"), ("11-DS-4", "11")]


def test_findings_and_impressions_of_different_length_are_refused_with_both_counts(tmp_path):
    folder = sample_copy("mimic_rrs", tmp_path)
    with (folder / "test.findings.tok").open("a") as file:
        file.write(f"{CANARY}\n")
    said = problem("mimic_rrs", folder)
    assert "test.findings.tok has 8 lines, and test.impression.tok has 7" in said
    (folder / "test.impression.tok").unlink()
    assert "test.impression.tok: is missing" in problem("mimic_rrs", folder)


def test_a_finding_without_end_is_refused_by_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(lines_module, "LONGEST", 1000)
    folder = sample_copy("mimic_rrs", tmp_path)
    with (folder / "test.findings.tok").open("a") as file:
        file.write(CANARY * 200)
    said = problem("mimic_rrs", folder)
    assert "test.findings.tok: line 8: has more than " in said
    assert CANARY not in said


def test_a_record_without_end_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(safe_xml, "_LARGEST", 2**21)
    with pytest.raises(safe_xml.XmlError, match="the whole document: has more than 2 MiB"):
        safe_xml.read_elements(io.BytesIO(b"<a>" + b"x" * 2**22))


def test_a_report_without_impression_is_left_out_and_the_others_stay_aligned():
    made = load("mimic_rrs")
    assert [instance.id for instance in made] == ["1", "2", "3", "5", "6", "7"]
    fifth = next(instance for instance in made if instance.id == "5")
    assert "ureter" in prompt(fifth)
    assert "ureteral" in gold(fifth)


def test_codes_come_as_a_list_and_are_gold_with_commas(tmp_path):
    made = load("mimiciv_billing_code")
    assert gold(made[0]) == "S72.001A,W19.XXXA,0SR90JZ"
    assert len({instance.unit for instance in made}) == 6
    only = pyarrow.table({"text": ["a", "b"], "target": ["I10", "E11.9"]})  # what MedHELM needs, and single codes
    feather.write_feather(only, str(tmp_path / "mine.feather"))
    made = load("mimiciv_billing_code", tmp_path / "mine.feather")
    assert [(gold(instance), instance.unit) for instance in made] == [("I10", "1"), ("E11.9", "2")]


def test_what_is_no_list_of_codes_is_named_by_row(tmp_path):
    kind = pyarrow.list_(pyarrow.int64())
    feather.write_feather(
        pyarrow.table({"text": ["a"], "target": pyarrow.array([[1]], kind)}), str(tmp_path / "a.feather")
    )
    assert "a.feather: row 1: the column 'target' is not a list of texts" in problem(
        "mimiciv_billing_code", tmp_path / "a.feather"
    )
    (tmp_path / "b.feather").write_text(CANARY)
    assert "is not a Feather file" in problem("mimiciv_billing_code", tmp_path / "b.feather")
    feather.write_feather(pyarrow.table({"text": ["a"]}), str(tmp_path / "c.feather"))
    assert "'target' is missing" in problem("mimiciv_billing_code", tmp_path / "c.feather")


# -- n2c2 -------------------------------------------------------------------------------------------------------------


def n2c2_patient(folder: Path, text: str, tags: str = '<ENGLISH met="met" />') -> Path:
    (folder / "test").mkdir(parents=True, exist_ok=True)
    body = f"<PatientMatching><TEXT><![CDATA[{text}]]></TEXT><TAGS>{tags}</TAGS></PatientMatching>"
    (folder / "test/100.xml").write_text(f'<?xml version="1.0" encoding="UTF-8" ?>\n{body}')
    return folder


def test_each_of_the_thirteen_criteria_comes_with_its_meaning():
    benchmark = BENCHMARKS["n2c2_ct_matching"]
    assert set(benchmark.data_options) == set(benchmark.arguments["subject"].values)
    assert len(benchmark.data_options) == 13
    for criterion, meaning in benchmark.data_options.items():
        assert f"Criterion {criterion}: {meaning}" in prompt(load(benchmark.id, subject=criterion)[0])


def test_a_patient_is_one_unit_whatever_the_criterion_and_its_instances_differ():
    one, other = (load("n2c2_ct_matching", subject=name) for name in ("ABDOMINAL", "ENGLISH"))
    assert [instance.unit for instance in one] == [instance.unit for instance in other]
    assert not {instance.id for instance in one} & {instance.id for instance in other}


def test_today_is_the_latest_date_also_where_notes_are_out_of_order(tmp_path):
    line = "*" * 100
    notes = (
        "Record date: 2065-01-02\n\nold",
        "Record date: 2069-05-03\n\nnew",
        "no date",
        "Record date: 2067-08-09\n\nmid",
    )
    text = "".join(f"{note}\n\n{line}\n\n" for note in notes)
    (instance,) = load("n2c2_ct_matching", n2c2_patient(tmp_path, text), subject="ENGLISH")
    assert "Today is 2069-05-03." in prompt(instance)
    assert "The patient's notes (4):" in prompt(instance)
    assert "## Note 3 of 4\nno date" in prompt(instance)
    assert instance.shortenable.keep == "end"


@pytest.mark.parametrize(
    ("text", "tags", "said"),
    [
        ("Record date: 2069-05-03", '<ABDOMINAL met="met" />', "expected one <ENGLISH> below <TAGS>"),
        ("Record date: 2069-05-03", f'<ENGLISH met="{CANARY}" />', "expected one <ENGLISH> below <TAGS>"),
        ("Record date: 2069-05-03", '<ENGLISH met="met" /><ENGLISH met="not met" />', "expected one <ENGLISH>"),
        (CANARY, '<ENGLISH met="met" />', "no note has a `Record date: YYYY-MM-DD`"),
        ("Record date: 2069-05-03]]></TEXT><TEXT><![CDATA[x", '<ENGLISH met="met" />', "expected one <TEXT>, found 2"),
    ],
)
def test_a_patient_that_cannot_be_used_is_named_by_file(tmp_path, text, tags, said):
    found = problem("n2c2_ct_matching", n2c2_patient(tmp_path, text, tags), subject="ENGLISH")
    assert "test: 100.xml: " in found
    assert said in found


def test_every_wrong_patient_is_told_at_once(tmp_path):
    folder = sample_copy("n2c2_ct_matching", tmp_path)
    for number in (901, 905):
        (folder / f"test/{number}.xml").write_text("<PatientMatching/>")
    found = problem("n2c2_ct_matching", folder, subject="ENGLISH")
    assert "901.xml" in found
    assert "905.xml" in found


# -- The other private sets -------------------------------------------------------------------------------------------


def test_the_care_plan_has_no_right_answer_to_be_compared_with_and_the_jury_sees_none():
    benchmark = BENCHMARKS["chw_care_plan"]
    made = load("chw_care_plan")
    assert {instance.references for instance in made} == {()}
    assert benchmark.main_metric.gold_shown is False
    assert [use.name for use in benchmark.metrics] == ["jury_score"]
    assert [instance.id for instance in made] == ["1", "2", "4", "5", "6"]  # the third note is empty


def test_only_cases_that_passed_quality_control_with_every_field_are_asked(tmp_path):
    made = load("starr_patient_instructions")
    assert [instance.id for instance in made] == ["1", "2", "4", "6", "7"]
    header = ["Diagnosis", "ActualProcedure", "HistoryPhysicalNoteText", "OperativeNoteText"]
    data = write_csv(tmp_path / "a.csv", header, [CANARY] * 4)
    said = problem("starr_patient_instructions", data)
    assert "'DischargeInstructionNoteText', 'QC' are missing" in said


def test_turns_of_one_conversation_are_one_unit():
    made = load("mental_health")
    assert {instance.unit for instance in made} == {"Workplace", "Grief"}
    assert prompt(made[2]).count("client: ") == 3


def test_rows_stream_so_that_a_long_file_is_not_held(tmp_path):
    rows = ([f"Q{n}", "c" * 100, "A"] for n in range(1000))
    benchmark = BENCHMARKS["shc_conf_med"]
    data = write_csv(tmp_path / "a.csv", ["prompt", "context", "label"], *rows)
    stream = iter_instances(benchmark, locate_dataset(benchmark, None, {"data_path": str(data)}))
    assert next(stream).id == "1"
    assert sum(1 for _ in stream) == 999


def test_the_page_of_layouts_names_every_benchmark_with_its_files_and_columns():
    page = (ROOT / "docs/layouts.md").read_text("utf-8")
    for id_, benchmark in BENCHMARKS.items():
        assert f"`{id_}" in page
        names = [file.name.rsplit("/", 1)[-1] for file in benchmark.files if not file.optional]
        assert [
            name for name in names if not set(name) & set("*{") and not name.endswith(".csv") and name not in page
        ] == []
        for path in sorted((benchmark.folder).glob("invented_*.csv")):
            with path.open(encoding="utf-8") as file:
                used = set(next(csv.reader(file))) - {"Visit"}
            assert [column for column in used if f"`{column}`" not in page] == []
    for name in ("patient_columns", "patient_pattern", "id_columns", "skip_without", "only"):
        assert f"`{name}`" in page
    for column in (*identity.split_names(identity._PATIENT_COLUMNS), *identity.split_names(identity._ID_COLUMNS)):
        assert f"`{column}`" in page
