"""MEDEC's official CSV: notes with at most one wrong sentence, and empty rows where the gated part was cut out."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TextIO

from agent.datasets.csv_table import read_csv
from agent.datasets.table import Problems, Row, Table

_NEEDED = ("Sentences", "Error Flag", "Error Sentence ID", "Corrected Sentence")


def read_medec(file: TextIO, problems: Problems) -> Table:
    """Read the CSV, leave out rows that are empty in every column, and add the column `gold`.

    `gold` is "CORRECT", or the wrong sentence's id, a space and the corrected sentence.
    """
    table = read_csv(file, problems)
    missing = [column for column in _NEEDED if column not in table.columns]
    if missing:
        raise problems.stop("the header line", f"lacks {', '.join(missing)}")
    return replace(table, columns=(*table.columns, "gold"), rows=_rows(table.rows, problems))


def _rows(rows: Iterable[Row], problems: Problems) -> Iterator[Row]:
    for row in rows:
        if not any(row.cells.values()):
            continue
        flag, sentence = row.cells["Error Flag"].strip(), row.cells["Error Sentence ID"].strip()
        correction = row.cells["Corrected Sentence"].strip()
        if flag == "1" and correction not in ("", "NA") and sentence.isascii() and sentence.isdigit():
            gold = f"{sentence} {correction}"
        elif flag == "0" and sentence == "-1" and correction == "NA":
            gold = "CORRECT"
        else:
            problems.add(row.where, "Error Flag, Error Sentence ID and Corrected Sentence do not fit together")
            continue
        yield Row(row.where, {**row.cells, "gold": gold})
