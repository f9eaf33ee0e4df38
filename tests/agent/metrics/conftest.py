"""An encoder's folder and the packages that would read it, and a ward's database."""

import json
import sqlite3
from pathlib import Path

import pytest

from agent.metrics import bert_score
from tests.agent.metrics.encoder_files import CONFIG, weights


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(weights())
    return tmp_path


@pytest.fixture
def extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bert_score, "missing_packages", lambda: ())


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "a ward's #1?.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("create table drug (name text, dose real, started timestamp)")
        connection.executemany(
            "insert into drug values (?, ?, ?)",
            [
                ("aspirin", 100, "2105-12-30 10:00:00"),
                ("aspirin", 100, "2105-12-31 10:00:00"),
                ("heparin", 2.5, "2104-02-01 08:30:00"),
                ("morphine", 1, "2103-02-01 08:30:00"),
            ],
        )
    connection.close()
    return path
