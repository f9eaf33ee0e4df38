"""`export`'s instances from a real store: redacted, or revealed and written down; whole, or not there."""

import json
import sqlite3
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.evaluation.export import PAGE, export_suite
from agent.new_folder import new_folder
from agent.vocabulary import Reference
from tests.agent.service.filled_site import FilledSite, case, failed
from tests.agent.service.test_pages import CANARIES, LEAKY, leak


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_planted_identifiers_are_in_no_exported_line_and_in_nothing_that_is_printed(
    filled: FilledSite, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    leak(filled, LEAKY)
    assert export_suite(filled.site, "november", tmp_path / "x.jsonl", reveal=False) == 1
    printed = "".join(capfd.readouterr())
    assert "instances  1/1" in printed
    written = (tmp_path / "x.jsonl").read_text("utf-8")
    assert "[MRN-1]" in written
    assert [canary for canary in CANARIES if canary in written + printed] == []
    assert lines(tmp_path / "x.jsonl")[0]["id"] is None
    assert filled.audited() == []


def test_revealed_lines_are_as_they_were_and_each_page_is_in_the_audit_log_once(filled: FilledSite, tmp_path: Path):
    run_id = filled.add([case(number) for number in range(PAGE + 1)])
    other = leak(filled, LEAKY, entry="pubmed_qa:model=a/b")
    filled.add([case(0)], suite="other")
    assert export_suite(filled.site, "november", tmp_path / "x.jsonl", reveal=True) == PAGE + 2
    assert sorted(filled.audited()) == sorted(
        [
            f"export run={run_id} instances=0-{PAGE - 1}",
            f"export run={run_id} instances={PAGE}-{PAGE}",
            f"export run={other} instances=0-0",
        ]
    )
    leaked = next(line for line in lines(tmp_path / "x.jsonl") if line["id"] == f"{LEAKY}-0")
    assert leaked["messages"] == [{"role": "user", "content": LEAKY}]
    assert leaked["answer"] == f"I agree: {LEAKY}"
    assert leaked["reasoning"] == f"Think. {LEAKY}"
    assert leaked["references"] == [{"text": LEAKY, "correct": True}]


def test_what_is_missing_is_null_and_a_failure_has_its_reason(filled: FilledSite, tmp_path: Path):
    filled.add([case(0, references=(Reference("yes", True),)), failed(1)])
    export_suite(filled.site, "november", tmp_path / "x.jsonl", reveal=False)
    answered, unanswered = lines(tmp_path / "x.jsonl")
    assert answered["answer"] == "yes"
    assert answered["reasoning"] == ""
    assert answered["scores"] == {"exact_match": 1.0}
    assert (unanswered["answer"], unanswered["reasoning"], unanswered["finish_reason"]) == (None, None, None)
    assert unanswered["scores"] == {"exact_match": {"unscored": "timeout"}}
    with filled.site.store() as store:
        store.purge(0)
    export_suite(filled.site, "november", tmp_path / "y.jsonl", reveal=True)
    purged = lines(tmp_path / "y.jsonl")[0]
    assert {purged[key] for key in ("id", "messages", "references", "answer")} == {None}  # type: ignore[arg-type]
    assert purged["scores"] == {"exact_match": 1.0}


def test_an_export_that_meets_a_damaged_record_leaves_nothing_in_the_way(filled: FilledSite, tmp_path: Path):
    filled.add([case(number) for number in range(3)])
    database = sqlite3.connect(filled.site.directory / "store" / "site.sqlite3", isolation_level=None)
    (right,) = database.execute("SELECT sealed FROM answers ORDER BY request_key LIMIT 1").fetchone()
    damage = "UPDATE answers SET sealed = ? WHERE request_key = (SELECT MIN(request_key) FROM answers)"
    database.execute(damage, (bytes(len(right)),))
    with pytest.raises(StoreError, match="does not open"), new_folder(tmp_path / "out") as folder:
        export_suite(filled.site, "november", folder / "instances.jsonl", reveal=False)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    database.execute(damage, (right,))
    with new_folder(tmp_path / "out") as folder:
        assert export_suite(filled.site, "november", folder / "instances.jsonl", reveal=False) == 3
    assert len(lines(tmp_path / "out" / "instances.jsonl")) == 3
    database.close()
