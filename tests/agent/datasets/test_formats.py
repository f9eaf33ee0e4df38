"""The file formats by name: the loader that a definition names, and content of another kind than its ending says."""

import pytest

from tests.agent.datasets.own import instances, own, problem
from tests.agent.datasets.readers.table_files import FEATHER, PARQUET, XLSX


def test_a_loader_that_the_definition_names_comes_before_the_ending(tmp_path):
    benchmark = own(tmp_path, "loader: tsv\n", data_csv="note\tcorrect_answer\nn\ta\n")
    assert instances(benchmark)[0].messages[0].content == "n"


@pytest.mark.parametrize("data", [PARQUET, FEATHER, XLSX])
@pytest.mark.parametrize(
    "content", [b"", b"note,correct_answer\nn,a\n", b"PAR1 no", b"PK\x03\x04 no"]
)
def test_a_file_of_another_kind_is_named(tmp_path, data, content):
    name = data.split()[1]
    (tmp_path / name).write_bytes(content)
    assert f"{name}: the whole file: is not a" in problem(own(tmp_path, data=data))
