"""Every form of table has the same rows, and none can run in a spreadsheet."""

import csv
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

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
    assert "pip install 'intramural[parquet]'" in told.value.advice
    assert not (tmp_path / "x").exists()
