"""EHRSHOT's MEDS layout: each label meets its own patient's record, up to its own time."""

from datetime import datetime, timedelta
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from tests.agent.datasets.own import CANARY
from tests.agent.datasets.sources.gated import BENCHMARKS, gold, load, problem, prompt, sample_copy
from tests.memory import run_measured

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
        r["subject_id"]: r["split"]
        for r in parquet.read_table(folder / "metadata/subject_splits.parquet").to_pylist()
    }
    order = [label["subject_id"] for label in labels]
    assert order != sorted(order)  # what upstream's faulty join needs to go wrong
    made = {instance.id: instance for instance in load("ehrshot", subject=task)}
    held_out = {
        f"{task}/{n}": label
        for n, label in enumerate(labels, 1)
        if splits[label["subject_id"]] == "held_out"
    }
    assert made.keys() == held_out.keys()
    for id_, label in held_out.items():
        subject, text = label["subject_id"], prompt(made[id_])
        assert made[id_].unit == str(subject)
        assert gold(made[id_]) == ("yes" if label["boolean_value"] else "no")
        assert "LATER" not in text
        assert "//SEX//" not in text  # what has no time is no event
        known = [line for line in text.splitlines() if "KNOWN" in line]
        early = label["prediction_time"] != max(
            x["prediction_time"] for x in labels if x["subject_id"] == subject
        )
        assert known == ([] if early else [f"- INVENTED//KNOWN//{subject}"])


def test_events_are_shown_by_time_one_code_a_line_and_an_event_at_the_very_time_counts(tmp_path):
    events = [
        (1, day(3), "C"),
        (1, day(1), "A"),
        (1, None, "S"),
        (1, day(5), "E"),
        (1, day(4), "D"),
        (1, day(6), "F"),
    ]
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
        split: [i.unit for i in load("ehrshot", folder, subject="new_lupus", split=split)]
        for split in ("train", "all")
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
    assert "max_labels: expected a whole number" in problem(
        "ehrshot", folder, subject="new_lupus", max_labels="many"
    )


def test_a_record_that_does_not_stand_together_is_refused(tmp_path):
    events = [(1, day(1), "A"), (2, day(1), "B"), (1, day(2), "C")]
    folder = meds(
        tmp_path, events, [(1, day(3), True), (2, day(3), False)], {1: "held_out", 2: "held_out"}
    )
    said = problem("ehrshot", folder, subject="new_lupus")
    assert "data.parquet: row 3: the events of a subject are not contiguous" in said


def test_labels_of_patients_without_a_record_and_with_gaps_are_named_by_row(tmp_path):
    folder = meds(
        tmp_path,
        [(1, day(1), "A")],
        [(1, day(3), True), (2, day(3), False)],
        {1: "held_out", 2: "held_out"},
    )
    assert (
        "labels.parquet: row 2: the label's subject_id has no events in data/data.parquet"
        in problem("ehrshot", folder, subject="new_lupus")
    )
    folder = meds(
        tmp_path, [(1, day(1), "A")], [(1, None, True), (1, day(2), None)], {1: "held_out"}
    )
    said = problem("ehrshot", folder, subject="new_lupus")
    assert "row 1: expected a subject_id, a prediction_time and a boolean_value" in said
    assert "row 2: expected" in said


def test_a_prediction_before_any_event_says_so_and_is_still_asked(tmp_path):
    folder = meds(tmp_path, [(1, day(5), "A")], [(1, day(3), False)], {1: "held_out"})
    (instance,) = load("ehrshot", folder, subject="new_lupus")
    assert "(no events before the prediction time)" in prompt(instance)


def test_nanosecond_times_and_times_with_a_zone_are_moments_too(tmp_path):
    folder = meds(
        tmp_path, [(1, day(1), "A"), (1, day(2), "B")], [(1, day(1), True)], {1: "held_out"}
    )
    table = parquet.read_table(folder / "data/data.parquet")
    for kind in (pyarrow.timestamp("ns"), pyarrow.timestamp("us", tz="UTC")):
        cast = table.set_column(1, "time", table["time"].cast(kind))
        parquet.write_table(cast, folder / "data/data.parquet")
        (instance,) = load("ehrshot", folder, subject="new_lupus")
        assert "- A\n\n" in prompt(instance)
    parquet.write_table(
        table.set_column(1, "time", table["time"].cast("string")), folder / "data/data.parquet"
    )
    assert "'time' is not a column of timestamps" in problem("ehrshot", folder, subject="new_lupus")


def test_columns_may_stand_in_any_order_and_ids_must_be_numbers(tmp_path):
    labels = [(1, day(3), True), (2, day(3), False)]
    folder = meds(
        tmp_path, [(1, day(1), "A"), (2, day(2), "B")], labels, {1: "held_out", 2: "held_out"}
    )
    table = parquet.read_table(folder / "data/data.parquet")
    parquet.write_table(table.select(["code", "time", "subject_id"]), folder / "data/data.parquet")
    first, second = (prompt(instance) for instance in load("ehrshot", folder, subject="new_lupus"))
    assert "- A\n\n" in first
    assert "- B\n\n" in second
    texts = table.set_column(0, "subject_id", table["subject_id"].cast("string"))
    parquet.write_table(texts, folder / "data/data.parquet")
    assert "'subject_id' is not a column of integers" in problem(
        "ehrshot", folder, subject="new_lupus"
    )


def test_missing_files_wrong_columns_and_what_is_no_parquet(tmp_path):
    folder = sample_copy("ehrshot", tmp_path)
    (folder / "data/data.parquet").write_bytes(CANARY.encode())
    assert "data.parquet: the whole file: is not a Parquet file" in problem(
        "ehrshot", folder, subject="guo_icu"
    )
    parquet.write_table(pyarrow.table({"subject_id": [1]}), folder / "data/data.parquet")
    assert "data.parquet: columns: 'time' is missing" in problem(
        "ehrshot", folder, subject="guo_icu"
    )
    (folder / "data/data.parquet").unlink()
    assert "data/data.parquet: is missing" in problem("ehrshot", folder, subject="guo_icu")


def test_a_damaged_row_group_is_named(tmp_path):
    events = [(1, day(n), f"code {n}") for n in range(10)]
    folder = meds(tmp_path, events, [(1, day(9), True)], {1: "held_out"})
    path = folder / "data/data.parquet"
    second = parquet.ParquetFile(path).metadata.row_group(1).column(2)
    start = second.dictionary_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + second.total_compressed_size] = b"\xff" * second.total_compressed_size
    path.write_bytes(content)
    said = problem("ehrshot", folder, subject="new_lupus")
    assert "data/data.parquet: row group 2: the Parquet file is damaged" in said


def test_a_labelled_subject_that_the_events_column_cannot_hold_is_a_problem(tmp_path):
    folder = meds(
        tmp_path,
        [(1, day(1), "A")],
        [(1, day(3), True), (2**40, day(3), True)],
        {1: "held_out", 2**40: "held_out"},
    )
    path = folder / "data/data.parquet"
    table = parquet.read_table(path)
    narrow = table.set_column(0, "subject_id", table["subject_id"].cast("int32"))
    parquet.write_table(narrow, path)
    said = problem("ehrshot", folder, subject="new_lupus")
    assert "data/data.parquet: row group 1: 'subject_id' is a column of int32" in said
    assert "expected int64" in said


def test_a_code_that_is_not_utf_8_is_a_problem_of_its_row_group(tmp_path):
    folder = meds(tmp_path, [(1, day(1), "A")], [(1, day(3), True)], {1: "held_out"})
    path = folder / "data/data.parquet"
    table = parquet.read_table(path)
    buffers = [None, pyarrow.py_buffer(b"\0\0\0\0\2\0\0\0"), pyarrow.py_buffer(b"\xff\xfe")]
    code = pyarrow.Array.from_buffers(pyarrow.string(), 1, buffers)
    parquet.write_table(table.set_column(2, "code", code), path)
    said = problem("ehrshot", folder, subject="new_lupus")
    assert "data/data.parquet: row group 1: 'code' contains a value that cannot be read" in said


def test_an_event_time_beyond_microseconds_does_not_wrap_around(tmp_path):
    folder = meds(tmp_path, [(1, day(1), "A")], [(1, day(3), True)], {1: "held_out"})
    path = folder / "data/data.parquet"
    table = parquet.read_table(path)
    time = pyarrow.array([2**60], pyarrow.timestamp("ms"))
    parquet.write_table(table.set_column(1, "time", time), path)
    said = problem("ehrshot", folder, subject="new_lupus")
    assert "data/data.parquet: row group 1: 'time' contains a value that cannot be read" in said


def test_a_prediction_time_after_the_year_9999_is_a_problem_of_its_row(tmp_path):
    folder = meds(tmp_path, [(1, day(1), "A")], [(1, 2**62, True)], {1: "held_out"})
    said = problem("ehrshot", folder, subject="new_lupus")
    assert "labels.parquet: row 1: expected a prediction_time in the years 1 to 9999" in said


@pytest.mark.full
def test_two_million_events_are_read_in_the_memory_of_one_patient(tmp_path):
    subjects, each = 2000, 1000
    ids = pyarrow.array([s for s in range(subjects) for _ in range(each)], pyarrow.int64())
    moments = pyarrow.array([i % each for i in range(subjects * each)], pyarrow.int64()).cast(
        pyarrow.timestamp("us")
    )
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
