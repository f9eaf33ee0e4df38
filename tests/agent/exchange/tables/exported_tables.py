"""Exported tables, read back."""

import json
from pathlib import Path

from agent.exchange.tables.export import export_tables
from agent.exchange.tables.files import TableForm
from tests.agent.service.filled_site import FilledSite


def read_lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def export(
    filled: FilledSite, folder: Path, form: TableForm = "jsonl", *, reveal: bool = False
) -> int:
    folder.mkdir()
    return export_tables(filled.site, "november", folder, form, reveal=reveal)
