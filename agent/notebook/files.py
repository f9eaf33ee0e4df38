"""Write tables to Parquet files and workbooks."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pandas as pd

from agent.exchange.tables.files import check_writable
from agent.io.new_file import open_new_binary
from agent.io.workbook import check_rows, open_workbook

if TYPE_CHECKING:
    from pandas import DataFrame

FrameForm = Literal["parquet", "xlsx"]


def write_frame(frame: "DataFrame", path: Path, form: FrameForm) -> None:
    """Write a table to a new file that only its owner can read.

    Raises:
        ConfigError: the file exists or cannot be written, Parquet's library is not installed, or the table has more
            rows than a workbook can hold.
    """
    if form == "parquet":
        check_writable(form)
        with open_new_binary(path) as file:
            frame.to_parquet(file, engine="pyarrow", index=False)
        return
    check_rows(len(frame))
    headings = [str(name) for name in frame.columns]
    draft = path.with_name(f"{path.name}.sheet")
    with open_new_binary(path) as file, open_workbook(file, draft, "table", headings) as add:
        for row in frame.astype(object).itertuples(index=False):
            add([None if pd.isna(value) else value for value in row])
