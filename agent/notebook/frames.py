"""Make tables of pandas from rows. Every column has its documented type, also in a table without rows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pandas as pd

from agent.notebook.columns import FrameColumn

if TYPE_CHECKING:
    from pandas import DataFrame, Series

Row = Mapping[str, Any]


def build_frame(columns: Sequence[FrameColumn], rows: Iterable[Row]) -> "DataFrame":
    """Return a table of these columns, in this order.

    A row may have more keys than the table has columns. A missing key and None are missing values.
    """
    kept_rows = list(rows)
    series: dict[str, Series[Any]] = {}
    for column in columns:
        series[column.name] = _build_series(column, [row.get(column.name) for row in kept_rows])
    return pd.DataFrame(series)


def _build_series(column: FrameColumn, values: list[Any]) -> "Series[Any]":
    match column.kind:
        case "text":
            return _build_texts(values)
        case "label":
            return _build_labels(column, values)
        case "integer":
            return pd.Series(pd.array(values, dtype="Int64"))
        case "number":
            return pd.Series(pd.array(values, dtype="Float64"))
        case "yes_no":
            return pd.Series(pd.array(values, dtype="boolean"))
        case "time":
            return _build_times(values)


def _build_texts(values: list[Any]) -> "Series[Any]":
    # The storage is stated, so that the type does not depend on whether pyarrow is installed.
    texts = [None if value is None else str(value) for value in values]
    return pd.Series(pd.array(texts, dtype=pd.StringDtype("python")))


def _build_labels(column: FrameColumn, values: list[Any]) -> "Series[Any]":
    labels = [None if value is None else str(value) for value in values]
    others = {label for label in labels if label is not None} - set(column.labels)
    categories = [*map(str, column.labels), *sorted(others)]
    return pd.Series(pd.Categorical(labels, categories=categories))


def _build_times(seconds: list[int | None]) -> "Series[Any]":
    """Return times, from seconds since 1970."""
    times = [None if value is None else datetime.fromtimestamp(value, UTC) for value in seconds]
    return pd.Series(times, dtype="datetime64[us, UTC]")
