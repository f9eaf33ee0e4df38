"""Files that changed, are not there, are in another encoding or compressed."""

import gzip

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.datasets.load import load_instances, locate_dataset
from agent.errors import BenchmarkError
from tests.agent.datasets.own import instances, own, problem
from tests.agent.datasets.plain_files import HEAD, refusal, write_own


def test_another_encoding_names_the_line(tmp_path):
    data = HEAD.encode() + b"n,q,a\nfi\xe8vre,q,a\n"
    assert "data.csv: line 3: is not UTF-8" in refusal(write_own(tmp_path, data))


def test_a_file_that_changes_between_locating_and_loading(tmp_path):
    benchmark = load_benchmark(write_own(tmp_path, HEAD + "n,q,a\n"))
    dataset = locate_dataset(benchmark)
    (tmp_path / "data.csv").write_text(HEAD + "n,q,b\n")
    with pytest.raises(BenchmarkError, match="changed since the run began"):
        load_instances(benchmark, dataset)


def test_a_file_that_is_not_there(tmp_path):
    path = write_own(tmp_path, HEAD)
    (tmp_path / "data.csv").unlink()
    assert "cannot be read" in refusal(path)


def test_a_compressed_file_is_read_and_half_of_one_is_not(tmp_path):
    packed = gzip.compress(b"note,correct_answer\n" + b"n,a\n" * 5000)
    for name, said in (("data.csv.gz", ""), ("half.csv.gz", "is not a complete gzip file")):
        (tmp_path / name).write_bytes(packed if not said else packed[: len(packed) // 2])
        benchmark = own(tmp_path, data=f"dataset_file: {name}")
        assert (said in problem(benchmark)) if said else len(instances(benchmark)) == 5000
