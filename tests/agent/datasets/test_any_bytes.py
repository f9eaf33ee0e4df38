"""Whatever bytes a dataset file holds: instances, or one of our own errors that quotes none of them."""

import io
from functools import cache

import openpyxl
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.catalog.benchmark import load_benchmark
from agent.datasets.load import load_instances, locate_dataset
from agent.errors import BenchmarkError
from tests.agent.datasets.own import own

MARK = "qqmarkqq"
ENDINGS = ("csv", "tsv", "json", "jsonl", "parquet", "feather", "xlsx", "csv.gz")
ANY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@cache  # a workbook holds the time at which it was made, and the same bytes are to be changed every time
def whole(ending: str) -> bytes:
    """Return a good file of three rows."""
    rows = [{"note": f"{MARK} {i}", "correct_answer": "a"} for i in range(3)]
    file = io.BytesIO()
    match ending:
        case "parquet":
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
        case "feather":
            pyarrow.feather.write_feather(pyarrow.Table.from_pylist(rows), file)
        case "xlsx":
            book = openpyxl.Workbook()
            for row in (
                ["note", "correct_answer"],
                *([r["note"], r["correct_answer"]] for r in rows),
            ):
                book.active.append(row)
            book.save(file)
        case _:
            raise ValueError(ending)
    return file.getvalue()


def read(tmp_path, ending: str, content: bytes) -> int:
    own(tmp_path, data=f"dataset_file: data.{ending}", **{f"data.{ending}": content})
    benchmark = load_benchmark(tmp_path / "own.yaml")
    said, found = "", []
    try:
        found = load_instances(benchmark, locate_dataset(benchmark))
    except BenchmarkError as why:
        said = str(why)
    assert MARK not in said
    return len(found)


@pytest.mark.parametrize("ending", ENDINGS)
@ANY
@given(content=st.binary(max_size=200))
def test_bytes_that_are_no_dataset(tmp_path, ending, content):
    read(tmp_path, ending, content)


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl"])
@ANY
@given(content=st.text(st.sampled_from('{}[]":,\t\n\r\\ud8notecra_sw1"' + MARK), max_size=80))
def test_text_that_is_almost_a_dataset(tmp_path, ending, content):
    head = {
        "csv": "note,correct_answer\n",
        "tsv": "note\tcorrect_answer\n",
        "json": "[",
        "jsonl": "",
    }[ending]
    read(tmp_path, ending, (head + content).encode())


@pytest.mark.full
@pytest.mark.parametrize("ending", ["parquet", "feather", "xlsx"])
@ANY
@given(data=st.data())
def test_a_good_file_with_some_bytes_changed(tmp_path, ending, data):
    content = bytearray(whole(ending))
    assert read(tmp_path, ending, bytes(content)) == 3
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.none(), st.integers(0, len(content))))
    read(tmp_path, ending, bytes(content[:cut]))
