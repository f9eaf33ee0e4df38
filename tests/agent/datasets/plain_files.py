"""Benchmarks of one plain file: a site's own CSV, and official JSON."""

from pathlib import Path

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.datasets.load import load_instances, locate_dataset
from agent.errors import BenchmarkError
from tests.agent.datasets.own import CANARY


def write_own(
    tmp_path: Path, data: str | bytes, yaml: str = "", prompt: str = "{note}\n{question}\nAnswer:"
) -> Path:
    (tmp_path / "prompt.txt").write_text(prompt, encoding="utf-8")
    (tmp_path / "data.csv").write_bytes(data.encode() if isinstance(data, str) else data)
    path = tmp_path / "own.yaml"
    path.write_text(
        "name: own\ndescription: ours\nprompt_file: prompt.txt\ndataset_file: data.csv\n"
        f"metrics:\n  - name: exact_match\n{yaml}",
        encoding="utf-8",
    )
    return path


def load_own(path: Path):
    benchmark = load_benchmark(path)
    return load_instances(benchmark, locate_dataset(benchmark))


def refusal(path: Path) -> str:
    with pytest.raises(BenchmarkError) as caught:
        load_own(path)
    assert CANARY not in str(caught.value)
    return str(caught.value)


HEAD = "note,question,correct_answer\n"


def json_benchmark(tmp_path: Path, loader: str, text: str) -> Path:
    folder = tmp_path / "b"
    folder.mkdir(exist_ok=True)
    (folder / "prompt.txt").write_text("{q}")
    (folder / "benchmark.yaml").write_text(
        "name: b\ndescription: d\nprompt_file: prompt.txt\ngold: {column: a}\nmetrics: [{name: exact_match}]\n"
        f"data: {{loader: {loader}, files: [{{name: data.json}}]}}\n"
    )
    (tmp_path / "data" / "b").mkdir(parents=True, exist_ok=True)
    (tmp_path / "data" / "b" / "data.json").write_text(text)
    return folder


def load_json_file(tmp_path: Path, loader: str, text: str):
    benchmark = load_benchmark(json_benchmark(tmp_path, loader, text))
    return load_instances(benchmark, locate_dataset(benchmark, tmp_path / "data"))
