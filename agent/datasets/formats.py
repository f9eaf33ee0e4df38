"""The file formats a benchmark may name as its `loader`."""

from agent.datasets.csv_table import read_csv
from agent.datasets.files import Loader, text_files
from agent.datasets.head_qa import read_head_qa
from agent.datasets.json_table import read_json, read_json_lines
from agent.datasets.medec import read_medec
from agent.datasets.pubmed_qa import read_pubmed_qa

FORMATS: dict[str, Loader] = {
    "csv": text_files(read_csv),
    "json": text_files(read_json),
    "json_lines": text_files(read_json_lines),
    "pubmed_qa": text_files(read_pubmed_qa),
    "head_qa": text_files(read_head_qa),
    "medec": text_files(read_medec),
}
