"""docs/notebook.md is true: its code runs, in order, and its tables are those of the program."""

import re
import threading
from pathlib import Path
from queue import Queue

import pandas as pd
import pytest

from agent.inference.baselines import serve
from agent.notebook import Site
from agent.notebook.columns import TABLES
from agent.site.directory import create_site

PAGE = (Path(__file__).parents[3] / "docs/notebook.md").read_text("utf-8")


@pytest.fixture(scope="module")
def server() -> str:
    addresses: Queue[str] = Queue()
    threading.Thread(target=serve, kwargs={"on_ready": addresses.put}, daemon=True).start()
    return addresses.get(timeout=30)


def test_the_code_of_the_page_runs_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str
):
    create_site(tmp_path / "site", "St. Example")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 8
    names: dict[str, object] = {}
    for block in blocks:
        exec(block.replace("http://127.0.0.1:8001/v1", server), names)
    summary = names["summary"]
    assert isinstance(summary, pd.DataFrame)
    assert set(summary.n) == {20}
    assert (tmp_path / "differences.svg").exists()


@pytest.mark.parametrize("name", TABLES)
def test_the_page_lists_the_columns_of_each_table(name: str):
    _, _, after = PAGE.partition(f"### Columns of `site.{name}(")
    section = after.partition("\n### ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    listed = Site.columns(name)
    assert rows == list(zip(listed.column, listed.dtype, listed.meaning, strict=True))
