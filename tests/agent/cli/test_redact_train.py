"""`intramural redact train` says what came of it, and writes over nothing."""

import json
from pathlib import Path

from click.testing import CliRunner

from agent.cli.redact_train import train
from agent.redaction.measuring.bench import read_gold
from tests.agent.redaction.measuring.house_texts import house_texts


def test_the_command_says_what_came_of_it(tmp_path: Path):
    rows = [
        {"text": text.text, "spans": [list(place) for place in text.spans]}
        for text in house_texts(120)
    ]
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert len(read_gold(gold)) == 120
    said = CliRunner().invoke(train, ["--gold", str(gold), "--out", str(tmp_path / "ours")])
    assert said.exit_code == 0, said.exception
    assert "held back" in said.output
    assert f"path: {tmp_path / 'ours'}" in said.output
    again = CliRunner().invoke(train, ["--gold", str(gold), "--out", str(tmp_path / "ours")])
    assert "is not empty" in str(again.exception)
