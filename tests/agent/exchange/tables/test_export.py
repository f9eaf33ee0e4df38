"""`export`'s tables from a real store: redacted, or revealed and written down; whole, or not there."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.exchange.tables.export import PAGE, export_tables
from agent.io.new_folder import new_folder
from agent.redaction.engine import Engine
from agent.redaction.spans.span import Span
from agent.vocabulary import Reference
from tests.agent.exchange.tables.exported_tables import export, read_lines
from tests.agent.service.filled_site import FilledSite, case, failed
from tests.agent.service.leaky_texts import CANARIES, LEAKY, leak


def test_planted_identifiers_are_in_no_exported_line_and_in_nothing_that_is_printed(
    filled: FilledSite, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    leak(filled, LEAKY)
    assert export(filled, tmp_path / "out") == 1
    printed = "".join(capfd.readouterr())
    assert "instances  1/1" in printed
    written = "".join(
        (tmp_path / "out" / name).read_text("utf-8") for name in ("instances.jsonl", "runs.jsonl")
    )
    assert "[MRN-1]" in written
    assert [canary for canary in CANARIES if canary in written + printed] == []
    assert read_lines(tmp_path / "out" / "instances.jsonl")[0]["id"] is None
    assert filled.audited() == []


def test_revealed_lines_are_as_they_were_and_each_page_is_in_the_audit_log_once(
    filled: FilledSite, tmp_path: Path
):
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
    leaked = next(
        line
        for line in read_lines(tmp_path / "out" / "instances.jsonl")
        if line["id"] == f"{LEAKY}-0"
    )
    assert leaked["messages"] == [{"role": "user", "content": LEAKY}]
    assert leaked["answer"] == f"I agree: {LEAKY}"
    assert leaked["reasoning"] == f"Think. {LEAKY}"
    assert leaked["references"] == [{"text": LEAKY, "correct": True}]


def test_what_is_missing_is_null_and_a_failure_has_its_reason(filled: FilledSite, tmp_path: Path):
    filled.add([case(0, references=(Reference("yes", True),)), failed(1)])
    export(filled, tmp_path / "x")
    answered, unanswered = read_lines(tmp_path / "x" / "instances.jsonl")
    assert answered["answer"] == "yes"
    assert answered["reasoning"] == ""
    assert answered["scores"]["exact_match"] == 1.0
    assert (unanswered["answer"], unanswered["reasoning"], unanswered["finish_reason"]) == (
        None,
        None,
        None,
    )
    assert unanswered["scores"]["exact_match"] == {"unscored": "timeout"}
    with filled.site.store() as store:
        store.purge(0)
    export(filled, tmp_path / "y", reveal=True)
    purged = read_lines(tmp_path / "y" / "instances.jsonl")[0]
    assert {purged[key] for key in ("id", "messages", "references", "answer")} == {None}  # type: ignore[arg-type]
    assert purged["scores"]["exact_match"] == 1.0


def test_an_export_that_meets_a_damaged_record_leaves_nothing_in_the_way(
    filled: FilledSite, tmp_path: Path
):
    filled.add([case(number) for number in range(3)])
    database = sqlite3.connect(
        filled.site.directory / "store" / "site.sqlite3", isolation_level=None
    )
    (right,) = database.execute(
        "SELECT sealed FROM answers ORDER BY request_key LIMIT 1"
    ).fetchone()
    damage = (
        "UPDATE answers SET sealed = ? WHERE request_key = (SELECT MIN(request_key) FROM answers)"
    )
    database.execute(damage, (bytes(len(right)),))
    with (
        pytest.raises(StoreError, match="cannot be decrypted"),
        new_folder(tmp_path / "out") as folder,
    ):
        export_tables(filled.site, "november", folder, "jsonl", reveal=False)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    database.execute(damage, (right,))
    with new_folder(tmp_path / "out") as folder:
        assert export_tables(filled.site, "november", folder, "jsonl", reveal=False) == 3
    assert len(read_lines(tmp_path / "out" / "instances.jsonl")) == 3
    database.close()


def test_a_second_export_searches_no_text_again_and_a_purge_leaves_nothing_of_it(
    filled: FilledSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent.redaction.detection_cache._WRITTEN_AT_ONCE", 1)
    searched: list[str] = []
    detect = Engine._detect_in_view

    def counting(engine: Engine, plain: str, *languages: object) -> Iterator[Span]:
        searched.append(plain)
        return detect(engine, plain, *languages)  # type: ignore[arg-type]

    monkeypatch.setattr(Engine, "_detect_in_view", counting)
    filled.add([case(n, prompt=f"Mr. Ignatius Quellmalz, question {n}") for n in range(3)])
    export(filled, tmp_path / "first")
    before = [text for text in searched if "Quellmalz" in text]
    export(filled, tmp_path / "second")
    assert (len(before), [text for text in searched if "Quellmalz" in text]) == (3, before)
    assert (tmp_path / "first/instances.jsonl").read_bytes() == (
        tmp_path / "second/instances.jsonl"
    ).read_bytes()
    with filled.site.store() as store:
        store.purge(0)
        assert store.database.connection.execute("SELECT COUNT(*) FROM findings").fetchone() == (0,)
