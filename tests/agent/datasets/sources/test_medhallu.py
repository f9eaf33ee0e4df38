"""MedHallu: two questions a row, and the judgement in an answer."""

import datetime
import json
import random
from pathlib import Path

import pytest

from agent.catalog.parser_choice import choose_parser
from agent.errors import BenchmarkError
from agent.metrics import extract
from agent.vocabulary import Reason, Unscored
from tests.agent.datasets.sources.public import BENCHMARKS, PUBLIC, gold, load, problem


def test_every_row_of_medhallu_is_asked_twice_from_any_of_its_copies(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    sample = BENCHMARKS / "medhallu/sample/pqa_labeled.jsonl"
    made = load("medhallu", sample)
    assert [instance.id for instance in made[:4]] == ["1-0", "1-1", "2-0", "2-1"]
    assert [gold(instance) for instance in made[:4]] == ["0", "1", "0", "1"]
    assert [instance.unit for instance in made[:4]] == ["1", "1", "2", "2"]
    table = pyarrow.Table.from_pylist(
        [json.loads(line) for line in sample.read_text("utf-8").splitlines()]
    )
    parquet.write_table(table, tmp_path / "train-00000-of-00001.parquet")
    with pyarrow.ipc.new_stream(tmp_path / "data-00000-of-00001.arrow", table.schema) as stream:
        stream.write_table(table)
    assert load("medhallu", tmp_path / "train-00000-of-00001.parquet") == made
    assert load("medhallu", tmp_path / "data-00000-of-00001.arrow") == made
    (tmp_path / "bad.arrow").write_bytes(b"no arrow")
    assert "is not an Arrow stream" in problem("medhallu", tmp_path / "bad.arrow")
    (tmp_path / "bad.jsonl").write_text('{"Question": "q"}')
    assert "missing: 'Knowledge', 'Ground Truth', 'Hallucinated Answer'" in problem(
        "medhallu", tmp_path / "bad.jsonl"
    )


ROW = {
    "Question": "Does it help?",
    "Knowledge": "It helps.",
    "Ground Truth": "Yes.",
    "Hallucinated Answer": "No.",
}


def write_arrow(path: Path, **columns) -> Path:
    """Write a stream of one row of MedHallu, in which `columns` replace or follow its own."""
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({name: [value] for name, value in ROW.items()} | columns)
    with pyarrow.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)
    return path


@pytest.mark.parametrize("value", [datetime.timedelta(1), b"\xff\xfe", [datetime.timedelta(1)]])
def test_an_arrow_column_without_a_text_form_is_a_problem_of_its_row_and_column(tmp_path, value):
    path = write_arrow(tmp_path / "data.arrow", took=[value])
    assert "data.arrow: row 1: column 5: a cell contains a duration or another" in problem(
        "medhallu", path
    )


def test_arrow_text_that_is_not_utf_8_is_a_problem_of_its_column(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    buffers = [None, pyarrow.py_buffer(b"\0\0\0\0\2\0\0\0"), pyarrow.py_buffer(b"\xff\xfe")]
    text = pyarrow.Array.from_buffers(pyarrow.string(), 1, buffers)
    path = write_arrow(tmp_path / "data.arrow", Knowledge=text)
    assert "data.arrow: after row 0: column 2: a cell contains bytes that are not UTF-8" in problem(
        "medhallu", path
    )


def test_an_arrow_date_that_python_cannot_hold_is_a_problem_of_its_column(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = write_arrow(tmp_path / "data.arrow", day=pyarrow.array([2**30], pyarrow.date32()))
    assert "data.arrow: after row 0: column 5 (date32[day]): contains a value that" in problem(
        "medhallu", path
    )


def test_an_arrow_stream_with_changed_bytes_is_read_or_refused(tmp_path):
    path = write_arrow(tmp_path / "data.arrow")
    whole = path.read_bytes()
    chance = random.Random(1)
    outcomes = set()
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        path.write_bytes(content)
        try:
            load("medhallu", path)
            outcomes.add("read")
        except BenchmarkError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_a_line_that_lacks_a_key_of_other_lines_is_a_problem(tmp_path):
    lacking = {name: value for name, value in ROW.items() if name != "Knowledge"}
    path = tmp_path / "data.jsonl"
    path.write_text(f"{json.dumps(ROW)}\n{json.dumps(lacking)}\n")
    assert "data.jsonl: line 2: missing: 'Knowledge'" in problem("medhallu", path)


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("1", "1"),
        ("0.", "0"),
        ("**1**", "1"),
        ("Your judgement: 0", "0"),
        ("'1'", "1"),
        ("The trial had 10 patients and a p of 0.05, so 1", "1"),
        ("1 (hallucinated)", "1"),
        ("Yes", None),
        ("10", None),
        ("0.5", None),
        ("100%", None),
    ],
)
def test_a_judgement_is_the_last_zero_or_one(answer, read):
    benchmark = PUBLIC["medhallu"]
    parser = choose_parser(benchmark)
    assert extract(parser, answer) == (read or Unscored(Reason.UNPARSED))
