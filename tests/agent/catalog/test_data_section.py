"""How a dataset is read, by its ending or its loader."""

import pytest

from agent.catalog.benchmark import load_benchmark
from tests.agent.catalog.definitions import GOOD, definition


@pytest.mark.parametrize(
    ("name", "loader"),
    [
        *(
            ("x.csv", "csv"),
            ("x.TSV", "tsv"),
            ("x.jsonl", "json_lines"),
            ("x.json", "json"),
            ("x.txt", "csv"),
        ),
        *(
            ("x.parquet", "parquet"),
            ("x.feather", "feather"),
            ("x.xlsx", "xlsx"),
            ("x.csv.gz", "csv"),
            ("x.TSV.GZ", "tsv"),
        ),
        *(("{path: x.xlsx, sheet: S}", "xlsx"), ("{path: x.jsonl.gz}", "json_lines")),
    ],
)
def test_the_ending_of_a_dataset_says_how_it_is_read(tmp_path, name, loader):
    benchmark = load_benchmark(definition(tmp_path, GOOD.replace("data.csv", name)))
    assert benchmark.loader == loader
    assert benchmark.data_options == ({"sheet": "S"} if "sheet" in name else {})
    assert (
        load_benchmark(
            definition(tmp_path, GOOD.replace("data.csv", name) + "loader: tsv\n")
        ).loader
        == "tsv"
    )
