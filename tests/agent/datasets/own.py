"""Writes benchmarks of a site's own, as a person would, and reads them."""

from pathlib import Path

import pytest

from agent.catalog.benchmark import Benchmark, load_benchmark
from agent.datasets.load import load_instances, locate_dataset
from agent.errors import AgentError
from agent.vocabulary import Instance

CANARY = "XQZ-patient-77"


def own(
    folder: Path,
    yaml: str = "",
    *,
    prompt: str | None = "{note}",
    data: str = "dataset_file: data.csv",
    **files: str | bytes,
) -> Benchmark:
    """Write own.yaml, its prompt and further files (`data_csv="..."` is data.csv), and read the definition."""
    texts = {name.replace("__", "/").replace("_", "."): content for name, content in files.items()}
    if prompt is not None:
        texts["prompt.txt"] = prompt
    for name, content in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    prompt_key = "prompt_file: prompt.txt\n" if prompt is not None else ""
    metrics = "" if "metrics:" in yaml else "metrics: [{name: exact_match}]\n"
    (folder / "own.yaml").write_text(
        f"name: own\ndescription: ours\n{prompt_key}{data}\n{metrics}{yaml}\n", "utf-8"
    )
    return load_benchmark(folder / "own.yaml")


def instances(
    benchmark: Benchmark, site_data: Path | None = None, **arguments: str
) -> list[Instance]:
    """Locate and load."""
    return load_instances(benchmark, locate_dataset(benchmark, site_data, arguments))


def problem(benchmark: Benchmark, site_data: Path | None = None, **arguments: str) -> str:
    """Return what locating or loading says is wrong; it never quotes a cell."""
    with pytest.raises(AgentError) as caught:
        instances(benchmark, site_data, **arguments)
    assert CANARY not in str(caught.value)
    return str(caught.value)
