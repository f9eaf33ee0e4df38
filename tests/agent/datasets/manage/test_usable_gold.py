"""Right answers that the main metric cannot use."""

import contextlib

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.errors import BenchmarkError
from tests.agent.datasets.manage.given_data import add, define, sha256, source


def test_right_answers_of_no_use_are_told_and_known_versions_are_taken_as_they_are(site, tmp_path):
    bad = "id,note,answer\n1,CANARY,5\n2,CANARY,five\n"
    text = (
        "name: own\ndescription: x\nprompt_file: prompt.txt\ngold: {column: answer}\nid_column: id\n"
        "extra_columns: {category: answer, lower_limit: answer, upper_limit: answer}\n"
        "metrics: [{name: medcalc_bench_accuracy}]\naccess: public\n"
    )
    own = define(site.directory / "benchmarks")
    (own.folder / "prompt.txt").write_text("{note}\n")
    for files, refused in (
        ("{name: official.csv}", True),
        (f"{{name: official.csv, sha256: {sha256(bad)}}}", False),
    ):
        (own.folder / "benchmark.yaml").write_text(
            f"{text}data: {{loader: csv, files: [{files}]}}\n"
        )
        of_now = load_benchmark(own.folder)
        with pytest.raises(BenchmarkError, match="row 1") if refused else contextlib.nullcontext():
            add(site, of_now, source(tmp_path, bad))
