"""A store in a folder of its own."""

from pathlib import Path

import pytest

from agent.store import Store, Vault
from tests.agent.store.begun_runs import AUDIT_KEY, KEY


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "site.sqlite3"


@pytest.fixture
def store(path: Path):
    store = Store(path, Vault(KEY), AUDIT_KEY)
    yield store
    store.close()
