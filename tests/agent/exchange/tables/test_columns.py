"""The documented columns are those that are written."""

import re
from pathlib import Path

import pytest

from agent.exchange.tables.columns import INSTANCES, RUNS, TableColumn

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize(("heading", "columns"), [("runs", RUNS), ("instances", INSTANCES)])
def test_the_page_explains_every_column_of_a_table_in_order(
    heading: str, columns: tuple[TableColumn, ...]
):
    page = (ROOT / "docs" / "exchange.md").read_text("utf-8")
    table = page.partition(f"### `{heading}`")[2].partition("\n### ")[0].partition("\n## ")[0]
    explained = re.findall(r"^\| `(\w+)` \| ([\w/]+) \|", table, re.MULTILINE)
    assert explained == [(column.name, column.kind.replace("_", "/")) for column in columns]
