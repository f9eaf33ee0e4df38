"""Data is checked although its definition is wrong: every problem at once."""

import gzip
from pathlib import Path

import pytest

from agent.datasets.manage.check import check_benchmark
from agent.errors import BenchmarkError

GOOD = '{"id": "1", "note": "Chest pain.", "answer": "yes"}\n'
BROKEN = '{"id": "1", "note": "Chest pain.", "answer": "yes"\n'


def find_problems(folder: Path) -> str:
    with pytest.raises(BenchmarkError) as refused:
        check_benchmark(folder, Path("no such site"), None, keep=0)
    return str(refused.value)


@pytest.mark.parametrize("name", ["data.jsonl.gz", "data.JSONL.GZ"])
def test_packed_data_of_a_wrong_definition_is_read_in_the_format_that_its_name_tells(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "prompt.txt").write_text("{note}\n")
    (tmp_path / "benchmark.yaml").write_text(
        f"id: mine\ndataset_file: {name}\nprompt_file: prompt.txt\nmax_token: 5\nmetrics: [{{name: exact_mach}}]\n"
    )
    (tmp_path / name).write_bytes(gzip.compress(GOOD.encode()))
    of_the_definition = find_problems(tmp_path)
    assert "exact_mach" in of_the_definition
    assert name not in of_the_definition
    (tmp_path / name).write_bytes(gzip.compress(BROKEN.encode()))
    assert name in find_problems(tmp_path)
