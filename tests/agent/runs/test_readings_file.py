"""`intramural score --out`: what was read from each answer of a file, for its owner alone."""

import csv
import json
from pathlib import Path

import pytest

from tests.agent.runs.suites import answers_file
from tests.agent.runs.test_score_file import scored

SAMPLES = Path(__file__).parents[3] / "benchmarks"
DATA = SAMPLES / "med_qa/sample"
ANSWERS = {
    "1": "B",
    "2": "The answer is C.",
    "3": "<think>Perhaps A</think>\n\n**B**",
    "4": "I can't help with that.",
    "5": "A or B?",
    "6": '{"reasoning": "x", "outcome": "B"}',
    "7": "<think>Perhaps",
    "8": " ",
    "9": "=A1 or Answer: F",
    "10": "<think>B</think> B <|im_end|> B",
}


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return answers_file(tmp_path / "answers.jsonl", ANSWERS)


def write(answers: Path, name: str, *words: str) -> Path:
    path = answers.with_name(name)
    done = scored("med_qa", "--data", DATA, "--answers", answers, "--out", path, *words)
    assert done.exit_code == 0, (done.output, done.exception)
    return path


def test_each_answer_has_its_value_place_rule_and_scores(answers):
    path = write(answers, "out.jsonl", "--scoring", "both")
    assert path.stat().st_mode & 0o777 == 0o600
    rows = {row["instance_id"]: row for row in map(json.loads, path.read_text().splitlines())}
    assert len(rows) == 100
    for identity in ("1", "2", "3"):
        row = rows[identity]
        words = ANSWERS[identity][row["start"] : row["end"]]
        assert row["value"] in words
        assert set(row["scores"]) == {"exact_match", "exact_match@helm"}
        assert row["unscored"] == {}
    assert rows["2"]["rule"] == "stated answer"
    assert rows["3"]["start"] > ANSWERS["3"].index("</think>")
    assert rows["4"]["scores"]["exact_match"] is None
    assert rows["4"]["unscored"] == {"exact_match": "unparsed"}
    kinds = [rows[str(number)]["unread"] for number in range(4, 9)]
    assert kinds == [
        "refusal",
        "several options named",
        "JSON without an answer key",
        "cut off",
        "empty",
    ]
    assert rows["11"]["unscored"]["exact_match"] == "not_asked"
    assert rows["11"]["unread"] is None


def test_a_place_that_cannot_be_told_is_left_empty(answers):
    path = write(answers, "out.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert (rows[9]["value"], rows[9]["start"], rows[9]["end"]) == ("B", None, None)


def test_a_table_holds_no_answer_and_no_formula(answers):
    text = write(answers, "out.csv").read_text()
    rows = list(csv.DictReader(text.splitlines()))
    assert rows[0] == {
        "instance_id": "1",
        "rule": "whole answer",
        "value": "B",
        "start": "0",
        "end": "1",
        "unread": "",
        "exact_match": rows[0]["exact_match"],
        "exact_match_unscored": "",
    }
    assert rows[3]["exact_match_unscored"] == "unparsed"
    assert "help" not in text
    assert "=A1" not in text


def test_a_text_that_is_compared_whole_is_not_written_again(tmp_path):
    notes = SAMPLES / "aci_bench/sample"
    answers = answers_file(tmp_path / "notes.jsonl", {})
    out = tmp_path / "out.jsonl"
    template = tmp_path / "template.jsonl"
    assert scored("aci_bench", "--data", notes, "--write-template", template).exit_code == 0
    first = json.loads(template.read_text().splitlines()[0])["instance_id"]
    answers_file(answers, {first: " Mr Smith rests at home."})
    done = scored("aci_bench", "--data", notes, "--answers", answers, "--out", out)
    assert done.exit_code == 0, (done.output, done.exception)
    row = json.loads(out.read_text().splitlines()[0])
    assert (row["rule"], row["value"], row["start"]) == ("whole text", None, 1)
    assert "Smith" not in out.read_text()
    assert row["scores"]["rouge_l"] is not None


@pytest.mark.parametrize(
    ("benchmark", "sample"), [("medcalc_bench", "sample"), ("ehr_sql", "invented_sample")]
)
def test_an_unread_answer_has_no_rule_value_or_place(tmp_path, benchmark, sample):
    data = SAMPLES / benchmark / sample
    template = tmp_path / "template.jsonl"
    assert scored(benchmark, "--data", data, "--write-template", template).exit_code == 0
    first = json.loads(template.read_text().splitlines()[0])["instance_id"]
    answers = answers_file(tmp_path / "answers.jsonl", {first: "I would like to think about it."})
    out = tmp_path / "out.jsonl"
    done = scored(benchmark, "--data", data, "--answers", answers, "--out", out)
    assert done.exit_code == 0, (done.output, done.exception)
    row = json.loads(out.read_text().splitlines()[0])
    assert row["unread"]
    assert [row[column] for column in ("rule", "value", "start", "end")] == [None] * 4


def test_only_the_table_has_apostrophes_against_formulas(tmp_path):
    data = SAMPLES / "ehr_sql/invented_sample"
    template = tmp_path / "template.jsonl"
    assert scored("ehr_sql", "--data", data, "--write-template", template).exit_code == 0
    first = json.loads(template.read_text().splitlines()[0])["instance_id"]
    query = "SELECT a FROM b\nWHERE c\n= 1;"
    answers = answers_file(tmp_path / "answers.jsonl", {first: query})
    for name in ("out.csv", "out.jsonl"):
        words = ("--answers", answers, "--out", tmp_path / name)
        assert scored("ehr_sql", "--data", data, *words).exit_code == 0
    line = (tmp_path / "out.jsonl").read_text().splitlines()[0]
    assert json.loads(line)["value"] == query
    with (tmp_path / "out.csv").open(newline="") as file:
        assert next(csv.DictReader(file))["value"] == query.replace("\n=", "\n'=")


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl"])
def test_half_a_character_in_a_field_takes_no_scores_away(tmp_path, name):
    notes = SAMPLES / "aci_bench/sample"
    template = tmp_path / "template.jsonl"
    assert scored("aci_bench", "--data", notes, "--write-template", template).exit_code == 0
    first = json.loads(template.read_text().splitlines()[0])["instance_id"]
    answers = answers_file(tmp_path / "notes.jsonl", {first: '{"note": "Rest \\ud83d."}'})
    out = tmp_path / name
    words = ("--answers", answers, "--out", out, "--answer-field", "note")
    done = scored("aci_bench", "--data", notes, *words)
    assert done.exit_code == 0, (done.output, done.exception)
    assert "Rest \ufffd." in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "message"), [("o.txt", "neither"), ("answers.jsonl", "exists")])
def test_a_wrong_or_taken_name_is_refused_before_anything_is_scored(answers, name, message):
    before = answers.read_bytes()
    out = answers.with_name(name)
    done = scored("med_qa", "--data", DATA, "--answers", answers, "--out", out)
    assert done.exit_code != 0
    assert message in done.output + str(done.exception)
    assert answers.read_bytes() == before


def test_a_template_shows_no_readings(answers, tmp_path):
    words = ("--write-template", tmp_path / "t.jsonl", "--out", tmp_path / "o.csv")
    done = scored("med_qa", "--data", DATA, *words)
    assert done.exit_code == 2
    assert not (tmp_path / "o.csv").exists()


def test_an_answer_whose_line_says_that_it_was_cut_off_is_not_read_by_its_last_number(tmp_path):
    data = SAMPLES / "medcalc_bench/sample"
    with (data / "test_data.csv").open(newline="", encoding="utf-8") as file:
        identity = next(csv.DictReader(file))["Row Number"]
    answer = "BMI = 80 / 1.6^2 = 31.25. The score is 4."
    rows_by_finish = {}
    for finish in ("stop", "length"):
        line = {"instance_id": identity, "answer": answer, "finish_reason": finish}
        answers = tmp_path / f"{finish}.jsonl"
        answers.write_text(json.dumps(line) + "\n", "utf-8")
        path = tmp_path / f"{finish}.out.jsonl"
        done = scored("medcalc_bench", "--data", data, "--answers", answers, "--out", path)
        assert done.exit_code == 0, (done.output, done.exception)
        rows = {row["instance_id"]: row for row in map(json.loads, path.read_text().splitlines())}
        rows_by_finish[finish] = rows[identity]
    assert rows_by_finish["stop"]["value"] is not None
    assert rows_by_finish["length"]["value"] is None
    assert rows_by_finish["length"]["unscored"] == {"medcalc_bench_accuracy": "length"}
    assert rows_by_finish["length"]["unread"] == "cut off"
