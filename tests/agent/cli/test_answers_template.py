"""`intramural benchmarks template`: the questions in a file, for a model that is asked elsewhere."""

import json
from pathlib import Path

import pytest

from agent.catalog.new_benchmark import write_new_benchmark
from tests.agent.terminal import intramural


@pytest.fixture
def here(tmp_path: Path) -> Path:
    write_new_benchmark("mine", "multiple-choice", tmp_path / "mine")
    write_new_benchmark("notes", "free-text", tmp_path / "notes")
    return tmp_path


def read_lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_each_line_has_the_prompt_and_the_options_and_the_filled_in_file_is_scored(here: Path):
    done = intramural("benchmarks", "template", "mine/benchmark.yaml", "--out", "q.jsonl", cwd=here)
    assert done.returncode == 0, done.stderr
    assert "`intramural score mine/benchmark.yaml --answers q.jsonl`" in done.stdout
    path = here / "q.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600
    lines = read_lines(path)
    for line in lines:
        assert list(line) == ["instance_id", "question", "options", "answer"]
        assert line["answer"] == ""
        options = line["options"]
        assert isinstance(options, dict)
        assert list(options) == ["A", "B", "C", "D"][: len(options)]
        for letter, text in options.items():
            assert f"{letter}. {text}" in str(line["question"])
    filled = [{**line, "answer": "A"} for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in filled))
    done = intramural(
        *("score", "mine/benchmark.yaml", "--answers", "q.jsonl", "--format", "json"), cwd=here
    )
    assert done.returncode == 0, done.stderr
    row, *_ = json.loads(done.stdout)
    assert (row["n"], row["unscored"], row["missing"]) == (len(lines), 0, [])


def test_questions_without_options_go_to_a_file_named_after_the_benchmark(here: Path):
    done = intramural("benchmarks", "template", "notes/benchmark.yaml", cwd=here)
    assert done.returncode == 0, done.stderr
    lines = read_lines(here / "benchmark-answers.jsonl")
    assert [list(line) for line in lines] == [["instance_id", "question", "answer"]] * len(lines)
    sample = Path(__file__).parents[3] / "benchmarks/pubmed_qa/sample/ori_pqal.json"
    done = intramural("benchmarks", "template", "pubmed_qa:split=test", "--data", sample, cwd=here)
    assert done.returncode == 0, done.stderr
    lines = read_lines(here / "pubmed_qa-answers.jsonl")
    assert len(lines) == 100
    assert lines[0]["options"] == {"A": "yes", "B": "no", "C": "maybe"}


def test_an_existing_file_is_kept_and_a_fault_in_the_data_creates_none(here: Path):
    (here / "q.jsonl").write_text("mine")
    words = ("benchmarks", "template", "notes/benchmark.yaml", "--out")
    done = intramural(*words, "q.jsonl", cwd=here)
    assert (done.returncode, "q.jsonl cannot be written" in done.stderr) == (2, True)
    assert (here / "q.jsonl").read_text() == "mine"
    data = here / "notes/data.csv"
    data.write_text(data.read_text() + "one cell\n")
    done = intramural(*words, "other.jsonl", cwd=here)
    assert done.returncode != 0
    assert "data.csv: row" in done.stderr
    assert not (here / "other.jsonl").exists()


def test_a_shipped_benchmark_needs_the_data_that_is_to_be_asked(here: Path):
    done = intramural("benchmarks", "template", "med_qa", cwd=here)
    assert (done.returncode, "--data" in done.stderr) == (2, True)
