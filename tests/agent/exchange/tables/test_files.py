"""Every form of table has the same rows, and none can run in a spreadsheet."""

import csv
import json
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner
from openpyxl import load_workbook

from agent.cli.main import intramural
from agent.errors import ConfigError
from agent.exchange.tables.columns import INSTANCES, RUNS
from agent.exchange.tables.files import TABLE_FORMS, TableForm
from tests.agent.exchange.tables.exported_tables import export, read_lines
from tests.agent.service.filled_site import FilledSite, case, failed, unscored


def read(folder: Path, table: str, form: TableForm) -> list[dict[str, object]]:
    path = folder / f"{table}.{form}"
    if form == "jsonl":
        return read_lines(path)
    if form == "csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    if form == "xlsx":
        (sheet,) = load_workbook(path).worksheets
        heads, *rows = sheet.iter_rows(values_only=True)
        return [dict(zip(map(str, heads), row, strict=True)) for row in rows]
    parquet = pytest.importorskip("pyarrow.parquet")
    return parquet.read_table(path).to_pylist()


@pytest.mark.full
@pytest.mark.parametrize("form", TABLE_FORMS)
def test_every_form_has_the_same_rows_under_the_documented_columns(
    filled: FilledSite, tmp_path: Path, form: TableForm
):
    if form == "parquet":
        pytest.importorskip("pyarrow.parquet")
    filled.add([case(0, answer="yes"), failed(1), unscored(2)])
    export(filled, tmp_path / "out", form)
    instances, runs = (
        read(tmp_path / "out", "instances", form),
        read(tmp_path / "out", "runs", form),
    )
    assert list(instances[0]) == [column.name for column in INSTANCES]
    assert list(runs[0]) == [column.name for column in RUNS]
    scores = [
        row["scores"] if form == "jsonl" else json.loads(str(row["scores"])) for row in instances
    ]
    assert [score["exact_match"] for score in scores] == [
        1.0,
        {"unscored": "timeout"},
        {"unscored": "unparsed"},
    ]
    assert float(str(runs[0]["mean"])) == 1.0
    assert int(str(runs[0]["unscored"])) == 2
    assert [row["answer"] or None for row in instances] == ["yes", None, "hm"]


def test_a_text_that_a_spreadsheet_would_run_is_a_text_in_csv(filled: FilledSite, tmp_path: Path):
    filled.add([case(0, answer="=HYPERLINK(1)"), case(1, answer="+1 of 2"), case(2, answer="-1+1")])
    export(filled, tmp_path / "out", "csv")
    assert [row["answer"] for row in read(tmp_path / "out", "instances", "csv")] == [
        "'=HYPERLINK(1)",
        "'+1 of 2",
        "'-1+1",
    ]
    export(filled, tmp_path / "plain")
    assert [row["answer"] for row in read_lines(tmp_path / "plain" / "instances.jsonl")] == [
        "=HYPERLINK(1)",
        "+1 of 2",
        "-1+1",
    ]


def test_a_text_that_a_spreadsheet_would_run_is_a_text_in_a_workbook(
    filled: FilledSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # Only the folder of the export may hold texts, not even for a moment the system's temporary files.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    answers = ["=HYPERLINK(1)", "+1 of 2", "-1+1", "@SUM(1)", "#N/A", "\x1b[31m\x00", "é" * 40_000]
    filled.add([case(number, answer=answer) for number, answer in enumerate(answers)])
    export(filled, tmp_path / "out", "xlsx", reveal=True)
    (sheet,) = load_workbook(tmp_path / "out/instances.xlsx").worksheets
    heads = [cell.value for cell in sheet[1]]
    column = [row[heads.index("answer")] for row in sheet.iter_rows(min_row=2)]
    assert {cell.data_type for cell in column} == {"s"}
    assert [cell.value for cell in column][:5] == answers[:5]
    assert column[5].value == "\ufffd[31m\ufffd"
    assert len(str(column[6].value)) == 32_767
    assert str(column[6].value).endswith("[cut off: longer than a cell of a workbook can be]")
    assert b"<f>" not in ZipFile(tmp_path / "out/instances.xlsx").read("xl/worksheets/sheet1.xml")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "instances.xlsx",
        "runs.xlsx",
    ]


def test_parquet_without_its_library_is_told_before_anything_is_written(
    filled: FilledSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    filled.add([case(0)])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    words = [
        "--site",
        str(filled.site.directory),
        "export",
        "--suite",
        "november",
        "--format",
        "parquet",
        "--out",
    ]
    with pytest.raises(ConfigError, match="the extra `parquet`") as told:
        CliRunner().invoke(
            intramural, [*words, str(tmp_path / "x")], catch_exceptions=False, standalone_mode=False
        )
    assert "pip install '.[parquet]'" in told.value.advice
    assert not (tmp_path / "x").exists()
