"""Files that are far larger than anybody expected: refused, or read a row at a time; never into the memory."""

import json
import random
import time
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from agent.datasets.readers import files
from tests.agent.datasets.own import CANARY, own, problem
from tests.memory import run_measured

WALK = """
import sys
from pathlib import Path
from agent.catalog.benchmark import load_benchmark
from agent.datasets.load import iter_instances, locate_dataset
from agent.errors import AgentError
benchmark = load_benchmark(Path(sys.argv[1]))
count, before = 0, peak()
try:
    for instance in iter_instances(benchmark, locate_dataset(benchmark)):
        count += 1
except AgentError as why:
    print(why)
print(count, peak() - before)
"""


def walk(tmp_path: Path) -> tuple[str, int, int]:
    """Walk own.yaml's instances in a process of its own: what is wrong, how many, and the MB that took."""
    *said, figures = run_measured(WALK, tmp_path / "own.yaml").split("\n")
    count, memory = figures.split()
    return "\n".join(said), int(count), int(memory)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("ending", "where", "size"),
    [
        ("csv", "row 1 (line 2)", 2**26),
        ("tsv", "row 1 (line 2)", 2**26),
        ("jsonl", "line 2", 2**30),
    ],
)
def test_a_line_without_end_is_refused_and_does_not_fill_the_memory(tmp_path, ending, where, size):
    first = {
        "csv": "note,correct_answer",
        "tsv": "note\tcorrect_answer",
        "jsonl": '{"note": "n", "correct_answer": "a"}',
    }
    own(tmp_path, data=f"dataset_file: data.{ending}")
    with (tmp_path / f"data.{ending}").open("w") as file:
        file.write(first[ending] + "\n")
        file.truncate(size)  # a hole: one line of zero bytes without end
    said, count, memory = walk(tmp_path)
    assert said == f"data.{ending}: {where}: is longer than 16777216 characters"
    assert count == 0
    assert memory < 80


@pytest.mark.full
def test_hundreds_of_megabytes_that_are_one_json_value_is_refused(tmp_path):
    own(tmp_path, data="dataset_file: data.json")
    with (tmp_path / "data.json").open("w") as file:
        file.truncate(2**28)
    said, _, memory = walk(tmp_path)
    assert "write one object per line" in said
    assert memory < 500


def test_hundreds_of_megabytes_that_are_not_utf8_is_refused_by_its_line(tmp_path):
    own(tmp_path)
    with (tmp_path / "data.csv").open("wb") as file:
        file.write(b"note,correct_answer\nn,a\n")
        file.seek(2**20 * 10)
        file.write("fièvre".encode("latin-1"))
        file.truncate(2**28)
    said, _, memory = walk(tmp_path)
    assert "data.csv: line 3: is not UTF-8" in said
    assert memory < 80


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_memory_does_not_grow_with_the_file(tmp_path, kind):
    note = " ".join(f"word{i}" for i in range(300))
    found = []
    for rows in (100, 8_000):
        own(tmp_path, data=f"dataset_file: data.{kind}")
        with (tmp_path / f"data.{kind}").open("w") as file:
            if kind != "jsonl":
                file.write("note,correct_answer\n".replace(",", "\t" if kind == "tsv" else ","))
            for i in range(rows):
                line = json.dumps({"note": f"{i} {note}", "correct_answer": "a"})
                mark = "\t" if kind == "tsv" else ","
                file.write((line if kind == "jsonl" else f"{i} {note}{mark}a") + "\n")
        said, count, memory = walk(tmp_path)
        assert (said, count) == ("", rows)
        found.append(memory)
    assert (tmp_path / f"data.{kind}").stat().st_size > 16 * 2**20
    assert found[1] - found[0] < 8


@pytest.mark.full
def test_memory_does_not_grow_with_a_parquet_file_of_one_row_group(tmp_path):
    chance = random.Random(0)
    found = []
    for rows in (100, 20_000):
        notes = [chance.randbytes(1000).hex() for _ in range(rows)]
        table = pyarrow.table({"note": notes, "correct_answer": ["a"] * rows})
        pyarrow.parquet.write_table(table, tmp_path / "data.parquet", row_group_size=rows)
        own(tmp_path, data="dataset_file: data.parquet")
        said, count, memory = walk(tmp_path)
        assert (said, count) == ("", rows)
        found.append(memory)
    assert found[1] - found[0] < 25  # the column is 40 MB


PORTION = 2**10  # bytes looked at at once for the first that is not UTF-8


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("note,correct_answer\nn,a\n".encode("utf-16"), "line 1: is UTF-16"),
        (b"note,correct_answer\nn,a\nfi\xe8vre,a\n", "line 3: is not UTF-8"),
        (b"note,correct_answer\n" + b"n,a\n" * 4_000 + b"fi\xe8vre,a\n", "line 4002: is not UTF-8"),
        # Half a character at the end of one portion, and none of its rest in the next.
        (
            b"note,correct_answer\n" + b"n" * (PORTION - 19) + b"\xc3" + b"\n,a\n",
            "line 2: is not UTF-8",
        ),
        (b"note,correct_answer\nn,a\nn,fi\xc3", "line 3: is not UTF-8"),
    ],
)
def test_another_encoding_names_its_first_line(tmp_path, monkeypatch, content, said):
    monkeypatch.setattr(files, "_CHUNK", PORTION)
    assert f"data.csv: {said}" in problem(own(tmp_path, data_csv=content))


def test_half_a_character_in_json_has_a_line(tmp_path):
    text = (
        '{"note": "\\ud83d\\ude00", "correct_answer": "a"}\n{"note": "'
        + CANARY
        + '\\ud83d", "correct_answer": "a"}\n'
    )
    said = problem(own(tmp_path, data="dataset_file: data.jsonl", data_jsonl=text))
    assert said == "data.jsonl: line 2: a string contains a lone surrogate (half a character)"


def test_every_problem_of_a_streamed_file_comes_at_once_and_once(tmp_path):
    lines = [
        '{"note": "n", "correct_answer": "a"}',
        "?",
        "[1]",
        '{"note": "n"}',
        '{"note": "", "correct_answer": "a"}',
    ]
    said = problem(own(tmp_path, data="dataset_file: data.jsonl", data_jsonl="\n".join(lines)))
    assert sorted(said.split("\n")) == [
        "data.jsonl: line 2: is not JSON from column 1 on",
        "data.jsonl: line 3: expected a JSON object",
        "data.jsonl: line 4: the column 'correct_answer' is empty",
        "data.jsonl: line 5: the column 'note' is empty",
    ]


@pytest.mark.full
@pytest.mark.sample(4)
@pytest.mark.parametrize("columns", [200_000, 10_001])
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_more_columns_than_any_dataset_has_are_refused_at_once(tmp_path, ending, columns):
    names = [f"c{i}" for i in range(columns - 2)] + ["note", "correct_answer"]
    match ending:
        case "parquet":
            names = names[-10_001:]  # writing more takes longer than reading
            pyarrow.parquet.write_table(
                pyarrow.table({name: ["x"] for name in names}), tmp_path / "data.parquet"
            )
        case "jsonl":
            (tmp_path / "data.jsonl").write_text(json.dumps(dict.fromkeys(names, "x")) + "\n")
        case _:
            mark = "," if ending == "csv" else "\t"
            (tmp_path / f"data.{ending}").write_text(
                f"{mark.join(names)}\n{mark.join('x' * columns)}\n"
            )
    benchmark = own(tmp_path, data=f"dataset_file: data.{ending}")
    before = time.monotonic()
    assert "has more than 10000 " in problem(benchmark)
    assert time.monotonic() - before < 10


def test_ten_thousand_columns_of_one_name_are_said_at_once_and_shortly(tmp_path):
    columns = ",".join(["more"] * 9_998)
    benchmark = own(tmp_path, data_csv=f"note,correct_answer,{columns}\nn,a,{columns}\n")
    before = time.monotonic()
    said = problem(benchmark)
    assert time.monotonic() - before < 5
    assert "a column name occurs more than once: columns 3, 4, 5" in said
    assert "and 9948 more" in said
    assert len(said) < 1000
