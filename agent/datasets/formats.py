"""The file formats a benchmark may name as its `loader`."""

from agent.datasets.csv_table import read_csv, read_tsv
from agent.datasets.files import Loader, text_files
from agent.datasets.head_qa import read_head_qa
from agent.datasets.json_table import read_json, read_json_lines
from agent.datasets.medec import read_medec
from agent.datasets.parquet import load_feather, load_parquet
from agent.datasets.pubmed_qa import read_pubmed_qa
from agent.datasets.xlsx import load_xlsx

FORMATS: dict[str, Loader] = {
    "csv": text_files(read_csv),
    "tsv": text_files(read_tsv),
    "json": text_files(read_json),
    "json_lines": text_files(read_json_lines),
    "parquet": load_parquet,
    "feather": load_feather,
    "xlsx": load_xlsx,
    "pubmed_qa": text_files(read_pubmed_qa),
    "head_qa": text_files(read_head_qa),
    "medec": text_files(read_medec),
}
