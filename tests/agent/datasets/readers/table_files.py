"""Definitions of benchmarks in TSV, Parquet, Feather and Excel files, and a sheet to write."""

import openpyxl

from tests.agent.datasets.own import instances

TSV, PARQUET, FEATHER, XLSX = (
    f"dataset_file: data.{end}" for end in ("tsv", "parquet", "feather", "xlsx")
)
CHAT = "extra_columns: {more: more}\noptional_columns: [more]\n"


def extras(benchmark) -> list[str]:
    return [i.extra["more"] for i in instances(benchmark)]


def sheet(tmp_path, *rows, title="Cases", change=lambda book: None):
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    change(book)
    book.save(tmp_path / "data.xlsx")


HEAD = ("note", "correct_answer", "more")
