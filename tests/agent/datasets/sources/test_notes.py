"""Notes with a question or a label, one a row: the hospitals' own sets and MIMIC-IV-BHC."""

import json

import pytest

from agent.datasets.load import iter_instances, locate_dataset
from tests.agent.datasets.own import CANARY
from tests.agent.datasets.sources.gated import BENCHMARKS, SHC, load, problem, prompt, write_csv


@pytest.mark.parametrize("id_", SHC)
def test_rows_with_the_same_text_are_two_questions_and_no_row_is_numbered(id_):
    made = load(id_)
    assert len(made) == 7
    assert prompt(made[-1]) == prompt(
        made[-2]
    )  # upstream would merge them, or tell them apart by a number
    assert made[-1].id != made[-2].id


def test_letters_say_what_they_mean():
    assert {
        BENCHMARKS[id_].choices.texts for id_ in SHC if id_ not in ("shc_ent_med", "shc_proxy_med")
    } == {("yes", "no")}
    assert BENCHMARKS["shc_ent_med"].choices.texts == ("yes", "no", "no mention")
    assert "C. no mention" in prompt(load("shc_ent_med")[0])
    assert len(BENCHMARKS["shc_proxy_med"].choices.texts) == 3


def test_a_letter_that_stands_for_no_option_and_a_missing_label_are_named_by_row(tmp_path):
    rows = [["Is it?", CANARY, "A"], ["Is it?", CANARY, "C"], ["Is it?", CANARY, ""]]
    data = write_csv(tmp_path / "own.csv", ["prompt", "context", "label"], *rows)
    said = problem("shc_bmt_med", data)
    assert "own.csv: row 2 (line 3): the column 'label' does not name one of the options" in said
    assert "row 3 (line 4): the column 'label' is empty" in said
    # The original set of this one has rows without a label; they are left out.
    assert len(load("shc_ent_med", data)) == 2


def test_a_set_with_another_sets_column_is_told_which_is_missing(tmp_path):
    data = write_csv(tmp_path / "a.csv", ["prompt", "context", "label"], ["Q", "c", "A"])
    assert "question" in problem("shc_sequoia_med", data)


def test_a_note_belongs_to_the_patient_its_id_begins_with(tmp_path):
    units = [instance.unit for instance in load("mimic_bhc")]
    assert units == ["8100001", "8100002", "8100003", "8100004", "8100005", "8100002"]
    lines = [{"input": "a", "target": "b"}, {"input": "c", "target": "d"}]
    (tmp_path / "helm.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert [instance.unit for instance in load("mimic_bhc", tmp_path / "helm.jsonl")] == ["1", "2"]
    (tmp_path / "odd.jsonl").write_text(
        json.dumps({"note_id": CANARY, "input": "a", "target": "b"})
    )
    assert "line 1: the column 'note_id' does not contain a patient identifier" in problem(
        "mimic_bhc", tmp_path / "odd.jsonl"
    )


def test_the_releases_own_csv_is_read_and_empty_sides_are_left_out(tmp_path):
    header = ["note_id", "input", "target"]
    rows = [
        ["10-DS-1", "a\nb", "c"],
        ["10-DS-2", "", "d"],
        ["11-DS-3", "e", ""],
        ["11-DS-4", "f", "g"],
    ]
    made = load("mimic_bhc", write_csv(tmp_path / "mimic-iv-bhc.csv", header, *rows))
    assert [(instance.id, instance.unit) for instance in made] == [
        ("10-DS-1", "10"),
        ("11-DS-4", "11"),
    ]


def test_the_care_plan_has_no_right_answer_to_be_compared_with_and_the_jury_sees_none():
    benchmark = BENCHMARKS["chw_care_plan"]
    made = load("chw_care_plan")
    assert {instance.references for instance in made} == {()}
    assert benchmark.main_metric.gold_shown is False
    assert [use.name for use in benchmark.metrics] == ["jury_score"]
    assert [instance.id for instance in made] == [
        "1",
        "2",
        "4",
        "5",
        "6",
    ]  # the third note is empty


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
