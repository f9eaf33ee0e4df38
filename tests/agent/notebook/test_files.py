"""A table written to a workbook holds texts, never formulas."""

from pathlib import Path

import pandas as pd
import pytest
from openpyxl import load_workbook

from agent.errors import ConfigError
from agent.io import workbook
from agent.notebook.columns import FrameColumn
from agent.notebook.files import write_frame
from agent.notebook.frames import build_frame

TEXTS = ["=1+1", "+1", "-1", "@SUM(A1)", "#REF!", "plain", None]
COLUMNS = (
    FrameColumn("words", "text", ""),
    FrameColumn("share", "number", ""),
    FrameColumn("began", "time", ""),
)


def test_texts_that_look_like_formulas_stay_texts(tmp_path: Path):
    rows = [{"words": text, "share": 0.1 + 0.2, "began": 1_700_000_000} for text in TEXTS]
    write_frame(build_frame(COLUMNS, rows), tmp_path / "table.xlsx", "xlsx")
    (sheet,) = load_workbook(tmp_path / "table.xlsx").worksheets
    cells = [row[0] for row in sheet.iter_rows(min_row=2)]
    assert [cell.value for cell in cells] == TEXTS
    assert {cell.data_type for cell in cells[:-1]} == {"s"}
    assert all(cell.quotePrefix for cell in cells[:-1])
    assert sheet["B2"].value == pytest.approx(0.3, rel=1e-15)
    assert sheet["C2"].value == "2023-11-14T22:13:20+00:00"


def test_more_rows_than_a_sheet_holds_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workbook, "MAX_ROWS", 2)
    with pytest.raises(ConfigError, match="holds at most 2 rows, and there are 3"):
        write_frame(pd.DataFrame({"a": [1, 2, 3]}), tmp_path / "table.xlsx", "xlsx")
    assert not (tmp_path / "table.xlsx").exists()
