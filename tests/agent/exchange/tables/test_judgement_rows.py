"""Tables hold every seat of a jury."""

import json
from pathlib import Path

from agent.exchange.tables.export import export_tables
from tests.agent.exchange.judged_suite import add_judged_suite
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.judged import CRITERIA


def test_tables_hold_every_seat(filled: FilledSite, tmp_path: Path):
    add_judged_suite(filled)
    export_tables(filled.site, "november", tmp_path, "jsonl", reveal=False)
    rows = [
        json.loads(line) for line in (tmp_path / "instances.jsonl").read_text("utf-8").splitlines()
    ]
    first, second, third = (row["judgements"] for row in rows)
    assert [(one["seat"], one["judge"], one["reason"], one["repaired"]) for one in first] == [
        (0, "llama", None, False), (1, "qwen/qwen3-32b", None, True), (2, "y", "no_verdict", True),
    ]  # fmt: skip
    assert first[0]["grades"] == dict.fromkeys(CRITERIA, 4.5)
    assert first[1]["words"]["clarity"] == {"explanation": "Nearly."}
    assert [reply["text"] for reply in first[2]["replies"]] == ["no", "no"]
    assert [one["reason"] for one in second] == ["out_of_range", "timeout", None]
    assert third == []
    assert (rows[0]["scores"], rows[1]["scores"]) == (
        {"jury_score": 3.75},
        {"jury_score": {"unscored": "not_judged"}},
    )
