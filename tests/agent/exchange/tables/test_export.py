"""`export`'s tables from a real store: redacted, or revealed and written down; whole, or not there."""

import csv
import json
import re
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.cli.main import intramural
from agent.errors import ConfigError, StoreError
from agent.exchange.tables.columns import INSTANCES, RUNS, TableColumn
from agent.exchange.tables.export import PAGE, export_tables
from agent.exchange.tables.files import TABLE_FORMS, TableForm
from agent.io.new_folder import new_folder
from agent.redaction.engine import Engine
from agent.redaction.spans.span import Span
from agent.vocabulary import Reference
from tests.agent.service.filled_site import FilledSite, case, failed, unscored
from tests.agent.service.test_pages import CANARIES, LEAKY, leak

ROOT = Path(__file__).parents[4]


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def export(filled: FilledSite, folder: Path, form: TableForm = "jsonl", *, reveal: bool = False) -> int:
    folder.mkdir()
    return export_tables(filled.site, "november", folder, form, reveal=reveal)


def read(folder: Path, table: str, form: TableForm) -> list[dict[str, object]]:
    path = folder / f"{table}.{form}"
    if form == "jsonl":
        return lines(path)
    if form == "csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    parquet = pytest.importorskip("pyarrow.parquet")
    return parquet.read_table(path).to_pylist()


def test_planted_identifiers_are_in_no_exported_line_and_in_nothing_that_is_printed(
    filled: FilledSite, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    leak(filled, LEAKY)
    assert export(filled, tmp_path / "out") == 1
    printed = "".join(capfd.readouterr())
    assert "instances  1/1" in printed
    written = "".join((tmp_path / "out" / name).read_text("utf-8") for name in ("instances.jsonl", "runs.jsonl"))
    assert "[MRN-1]" in written
    assert [canary for canary in CANARIES if canary in written + printed] == []
    assert lines(tmp_path / "out" / "instances.jsonl")[0]["id"] is None
    assert filled.audited() == []


def test_revealed_lines_are_as_they_were_and_each_page_is_in_the_audit_log_once(filled: FilledSite, tmp_path: Path):
    run_id = filled.add([case(number) for number in range(PAGE + 1)])
    other = leak(filled, LEAKY, entry="pubmed_qa:model=a/b")
    filled.add([case(0)], suite="other")
    assert export(filled, tmp_path / "out", reveal=True) == PAGE + 2
    assert sorted(filled.audited()) == sorted(
        [
            f"export run={run_id} instances=0-{PAGE - 1}",
            f"export run={run_id} instances={PAGE}-{PAGE}",
            f"export run={other} instances=0-0",
        ]
    )
    leaked = next(line for line in lines(tmp_path / "out" / "instances.jsonl") if line["id"] == f"{LEAKY}-0")
    assert leaked["messages"] == [{"role": "user", "content": LEAKY}]
    assert leaked["answer"] == f"I agree: {LEAKY}"
    assert leaked["reasoning"] == f"Think. {LEAKY}"
    assert leaked["references"] == [{"text": LEAKY, "correct": True}]


def test_what_is_missing_is_null_and_a_failure_has_its_reason(filled: FilledSite, tmp_path: Path):
    filled.add([case(0, references=(Reference("yes", True),)), failed(1)])
    export(filled, tmp_path / "x")
    answered, unanswered = lines(tmp_path / "x" / "instances.jsonl")
    assert answered["answer"] == "yes"
    assert answered["reasoning"] == ""
    assert answered["scores"]["exact_match"] == 1.0
    assert (unanswered["answer"], unanswered["reasoning"], unanswered["finish_reason"]) == (None, None, None)
    assert unanswered["scores"]["exact_match"] == {"unscored": "timeout"}
    with filled.site.store() as store:
        store.purge(0)
    export(filled, tmp_path / "y", reveal=True)
    purged = lines(tmp_path / "y" / "instances.jsonl")[0]
    assert {purged[key] for key in ("id", "messages", "references", "answer")} == {None}  # type: ignore[arg-type]
    assert purged["scores"]["exact_match"] == 1.0


def test_an_export_that_meets_a_damaged_record_leaves_nothing_in_the_way(filled: FilledSite, tmp_path: Path):
    filled.add([case(number) for number in range(3)])
    database = sqlite3.connect(filled.site.directory / "store" / "site.sqlite3", isolation_level=None)
    (right,) = database.execute("SELECT sealed FROM answers ORDER BY request_key LIMIT 1").fetchone()
    damage = "UPDATE answers SET sealed = ? WHERE request_key = (SELECT MIN(request_key) FROM answers)"
    database.execute(damage, (bytes(len(right)),))
    with pytest.raises(StoreError, match="does not open"), new_folder(tmp_path / "out") as folder:
        export_tables(filled.site, "november", folder, "jsonl", reveal=False)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    database.execute(damage, (right,))
    with new_folder(tmp_path / "out") as folder:
        assert export_tables(filled.site, "november", folder, "jsonl", reveal=False) == 3
    assert len(lines(tmp_path / "out" / "instances.jsonl")) == 3
    database.close()


@pytest.mark.parametrize("form", TABLE_FORMS)
def test_every_form_has_the_same_rows_under_the_documented_columns(filled: FilledSite, tmp_path: Path, form: TableForm):
    if form == "parquet":
        pytest.importorskip("pyarrow.parquet")
    filled.add([case(0, answer="yes"), failed(1), unscored(2)])
    export(filled, tmp_path / "out", form)
    instances, runs = read(tmp_path / "out", "instances", form), read(tmp_path / "out", "runs", form)
    assert list(instances[0]) == [column.name for column in INSTANCES]
    assert list(runs[0]) == [column.name for column in RUNS]
    scores = [row["scores"] if form == "jsonl" else json.loads(str(row["scores"])) for row in instances]
    assert [score["exact_match"] for score in scores] == [1.0, {"unscored": "timeout"}, {"unscored": "unparsed"}]
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
    assert [row["answer"] for row in lines(tmp_path / "plain" / "instances.jsonl")] == [
        "=HYPERLINK(1)",
        "+1 of 2",
        "-1+1",
    ]


def test_text_that_skipped_redaction_stops_a_table(filled: FilledSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from agent.redaction.gateway.cases import Redacting

    filled.add([case(0)])
    monkeypatch.setattr(
        Redacting, "clear_records", lambda self, records, which, subjects=(): [list(record) for record in records]
    )
    with pytest.raises(TypeError, match="without redaction"):
        export(filled, tmp_path / "out")


@pytest.mark.parametrize(("heading", "columns"), [("runs", RUNS), ("instances", INSTANCES)])
def test_the_page_explains_every_column_of_a_table_in_order(heading: str, columns: tuple[TableColumn, ...]):
    page = (ROOT / "docs" / "exchange.md").read_text("utf-8")
    table = page.partition(f"### `{heading}`")[2].partition("\n### ")[0].partition("\n## ")[0]
    explained = re.findall(r"^\| `(\w+)` \| ([\w/]+) \|", table, re.MULTILINE)
    assert explained == [(column.name, column.kind.replace("_", "/")) for column in columns]


def test_parquet_without_its_library_is_told_before_anything_is_written(
    filled: FilledSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    filled.add([case(0)])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    words = ["--site", str(filled.site.directory), "export", "--suite", "november", "--format", "parquet", "--out"]
    with pytest.raises(ConfigError, match="the extra `parquet`") as told:
        CliRunner().invoke(intramural, [*words, str(tmp_path / "x")], catch_exceptions=False, standalone_mode=False)
    assert "pip install 'intramural[parquet]'" in told.value.advice
    assert not (tmp_path / "x").exists()


def test_a_second_export_searches_no_text_again_and_a_purge_leaves_nothing_of_it(
    filled: FilledSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent.redaction.detection_cache._WRITTEN_AT_ONCE", 1)
    searched: list[str] = []
    analyze = Engine._analyze

    def counting(engine: Engine, plain: str) -> Iterator[Span]:
        searched.append(plain)
        return analyze(engine, plain)

    monkeypatch.setattr(Engine, "_analyze", counting)
    filled.add([case(n, prompt=f"Mr. Ignatius Quellmalz, question {n}") for n in range(3)])
    export(filled, tmp_path / "first")
    before = [text for text in searched if "Quellmalz" in text]
    export(filled, tmp_path / "second")
    assert (len(before), [text for text in searched if "Quellmalz" in text]) == (3, before)
    assert (tmp_path / "first/instances.jsonl").read_bytes() == (tmp_path / "second/instances.jsonl").read_bytes()
    with filled.site.store() as store:
        store.purge(0)
        assert store.database.connection.execute("SELECT COUNT(*) FROM findings").fetchone() == (0,)
