"""Parquet and Feather files: every cell becomes the text it is written as, faults have a place."""

import datetime
import decimal
import struct
import subprocess
import sys
import time

import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

from agent.datasets.readers.parquet import format_typed_value
from agent.errors import BenchmarkError
from tests.agent.datasets.own import instances, own, problem
from tests.agent.datasets.readers.table_files import CHAT, PARQUET, extras
from tests.agent.datasets.sources.gated import load


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for id_, passed in (("ehrshot", {"subject": "guo_icu"}), ("mimiciv_billing_code", {})):
        with pytest.raises(BenchmarkError) as caught:
            load(id_, **passed)
        assert "intramural[parquet]" in caught.value.advice


def arrow(**columns):
    return pyarrow.table(columns)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_typed_columns_become_the_text_they_are_written_as(tmp_path, kind):
    values = [1, None]
    table = arrow(note=["n1", "n2"], correct_answer=["a", "NA"], more=values)
    write = pyarrow.parquet.write_table if kind == "parquet" else pyarrow.feather.write_feather
    write(table, str(tmp_path / f"data.{kind}"))
    benchmark = own(tmp_path, CHAT, data=f"dataset_file: data.{kind}")
    assert extras(benchmark) == ["1", ""]
    assert [i.references[0].text for i in instances(benchmark)] == ["a", "NA"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("007", "007"),
        (True, "True"),
        (7, "7"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (float("nan"), ""),
        (decimal.Decimal("1.50"), "1.50"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (datetime.datetime(2024, 2, 29, 13, 5), "2024-02-29 13:05:00"),
        (b"text", "text"),
        (["a", None, 1], '["a", null, 1]'),
        ({"k": datetime.date(2024, 2, 29)}, '{"k": "2024-02-29"}'),
    ],
)
def test_a_typed_value_as_text(value, text):
    assert format_typed_value(value) == text


def test_more_rows_than_are_read_at_once_stay_in_order(tmp_path):
    numbers = [str(i) for i in range(1000)]
    pyarrow.parquet.write_table(
        arrow(note=numbers, correct_answer=numbers), tmp_path / "data.parquet", row_group_size=300
    )
    made = instances(own(tmp_path, data=PARQUET))
    assert [i.references[0].text for i in made] == numbers


def test_bytes_that_are_no_text_have_a_row(tmp_path):
    pyarrow.parquet.write_table(
        arrow(note=["n", "n"], correct_answer=["a", "a"], more=[b"x", b"\xff\xfe"]),
        tmp_path / "data.parquet",
    )
    assert "data.parquet: row 2: column 3: a cell contains a duration or another" in problem(
        own(tmp_path, CHAT, data=PARQUET)
    )


def test_a_damaged_parquet_file_stops_at_a_row(tmp_path):
    pyarrow.parquet.write_table(
        arrow(note=[f"n{i}" for i in range(5000)], correct_answer=["a"] * 5000),
        tmp_path / "data.parquet",
    )
    content = bytearray((tmp_path / "data.parquet").read_bytes())
    content[40:400] = b"\xff" * 360
    (tmp_path / "data.parquet").write_bytes(content)
    assert "data.parquet: after row 0: the Parquet file is damaged" in problem(
        own(tmp_path, data=PARQUET)
    )


def test_parquet_without_pyarrow_says_what_to_install(tmp_path):
    own(tmp_path, data=PARQUET, data_parquet="PAR1")
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from pathlib import Path\n"
        "from agent.catalog.benchmark import load_benchmark\n"
        "from agent.datasets.load import load_instances, locate_dataset\n"
        f"b = load_benchmark(Path({str(tmp_path / 'own.yaml')!r}))\n"
        "try:\n    load_instances(b, locate_dataset(b))\nexcept Exception as why:\n    print(why, why.advice)\n"
    )
    said = subprocess.check_output([sys.executable, "-c", script], text=True)
    assert "pip install '.[parquet]'" in said


@pytest.mark.parametrize("write", [pyarrow.parquet.write_table, pyarrow.feather.write_feather])
@pytest.mark.parametrize(
    ("column", "said"),
    [
        (
            pyarrow.array([datetime.timedelta(1)]),
            "row 1: column 3: a cell contains a duration or another value",
        ),
        (
            pyarrow.array([{"a": [{"b": datetime.timedelta(1)}]}]),
            "row 1: column 3: a cell contains a duration or another value",
        ),
        (
            pyarrow.array([2**30], pyarrow.date32()),
            "after row 0: column 3 (date32[day]): contains a value that cannot be converted",
        ),
        (
            pyarrow.array([-(2**30)], pyarrow.date32()),
            "after row 0: column 3 (date32[day]): contains a value that cannot be",
        ),
        (
            pyarrow.array([2**62], pyarrow.timestamp("us")),
            "after row 0: column 3 (timestamp[us]): contains a value that cannot",
        ),
        (pyarrow.array([1_000_000_001], pyarrow.timestamp("ns")), "a time finer than microseconds"),
        (pyarrow.array([0], pyarrow.timestamp("us", tz="Mars/Phobos")), "an unknown time zone"),
        (
            pyarrow.Array.from_buffers(
                pyarrow.string(),
                1,
                [None, pyarrow.py_buffer(b"\0\0\0\0\2\0\0\0"), pyarrow.py_buffer(b"\xff\xfe")],
            ),
            "after row 0: column 3: a cell contains bytes that are not UTF-8",
        ),
        (
            pyarrow.array(["x" * (2**24 + 1)]),
            "after row 0: column 3: a cell is longer than 16777216 bytes",
        ),
        (
            pyarrow.array([["x", "x" * (2**24 + 1)]]),
            "after row 0: column 3: a cell is longer than 16777216 bytes",
        ),
        (
            pyarrow.array([{"k": b"x" * (2**24 + 1)}]),
            "after row 0: column 3: a cell is longer than 16777216 bytes",
        ),
        (
            pyarrow.array(["x" * (2**24 + 1)]).dictionary_encode(),
            "after row 0: column 3: a cell is longer than 16777216 bytes",
        ),
    ],
)
def test_what_cannot_be_a_cell_is_said_by_its_column(tmp_path, write, column, said):
    kind = "parquet" if write is pyarrow.parquet.write_table else "feather"
    write(arrow(note=["n"], correct_answer=["a"], more=column), str(tmp_path / f"data.{kind}"))
    assert said in problem(own(tmp_path, CHAT, data=f"dataset_file: data.{kind}"))


def test_text_outside_its_column_is_damage_and_never_read(tmp_path):
    texts = ["x" * 1000, "y" * 1000, "z" * 1000]
    table = arrow(note=texts, correct_answer=["a"] * 3)
    pyarrow.feather.write_feather(table, str(tmp_path / "data.feather"), "uncompressed")
    content = (tmp_path / "data.feather").read_bytes()
    offsets = struct.pack("<4i", 0, 1000, 2000, 3000)
    assert content.count(offsets) == 1
    outside = struct.pack("<4i", 0, -8_000_000, 2000, 3000)
    (tmp_path / "data.feather").write_bytes(content.replace(offsets, outside))
    assert "data.feather: after row 0: column 1 (string): is damaged" in problem(
        own(tmp_path, data="dataset_file: data.feather")
    )


def test_a_column_name_that_is_not_utf_8_is_a_problem(tmp_path):
    pyarrow.feather.write_feather(
        arrow(note=["n"], correct_answer=["a"]), str(tmp_path / "data.feather")
    )
    content = (tmp_path / "data.feather").read_bytes()
    (tmp_path / "data.feather").write_bytes(content.replace(b"note", b"n\xffte"))
    assert "data.feather: the schema: contains a column name that is not UTF-8" in problem(
        own(tmp_path, data="dataset_file: data.feather")
    )


@pytest.mark.full
def test_a_small_parquet_file_of_a_gigabyte_is_refused_at_its_first_cell(tmp_path):
    note = "x" * 20_000_000
    table = arrow(note=[note] * 50, correct_answer=["a"] * 50)
    with pyarrow.parquet.ParquetWriter(
        tmp_path / "data.parquet", table.schema, compression="zstd"
    ) as writer:
        writer.write_table(table)
    assert (tmp_path / "data.parquet").stat().st_size < 20_000
    benchmark = own(tmp_path, data=PARQUET)
    before = time.monotonic()
    assert "after row 0: column 1: a cell is longer than 16777216 bytes" in problem(benchmark)
    assert time.monotonic() - before < 10
