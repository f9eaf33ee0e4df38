"""The file formats a benchmark may name as its `loader`."""

from collections.abc import Callable
from typing import TextIO

from agent.datasets.csv_table import read_csv
from agent.datasets.head_qa import read_head_qa
from agent.datasets.json_table import read_json, read_json_lines
from agent.datasets.medec import read_medec
from agent.datasets.pubmed_qa import read_pubmed_qa
from agent.datasets.table import Problems, Table

FORMATS: dict[str, Callable[[TextIO, Problems], Table]] = {
    "csv": read_csv,
    "json": read_json,
    "json_lines": read_json_lines,
    "pubmed_qa": read_pubmed_qa,
    "head_qa": read_head_qa,
    "medec": read_medec,
}
