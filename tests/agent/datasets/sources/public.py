"""The public benchmarks, loaded from their samples or from files that a test wrote."""

import os
from pathlib import Path

import pytest

from agent.datasets.load import load_instances, locate_dataset
from agent.errors import BenchmarkError, ConfigError
from tests.agent.catalog.shipped import BENCHMARKS

PUBLIC = {id_: benchmark for id_, benchmark in BENCHMARKS.items() if benchmark.access == "public"}
OFFICIAL = Path(
    os.environ.get("INTRAMURAL_OFFICIAL_DATA") or Path(__file__).parents[5] / "shared/data"
)
BENCHMARKS = Path(__file__).parents[4] / "benchmarks"


def load(id_: str, path: Path | None = None, **arguments: str):
    benchmark = PUBLIC[id_]
    given = {**arguments, **({"data_path": str(path)} if path else {})}
    return load_instances(benchmark, locate_dataset(benchmark, None, given))


def problem(id_: str, path: Path, **arguments: str) -> str:
    with pytest.raises((BenchmarkError, ConfigError)) as caught:
        load(id_, path, **arguments)
    return str(caught.value)


def gold(instance) -> str:
    index = next(i for i, r in enumerate(instance.references) if r.correct)
    return "ABCDE"[index] if instance.multiple_choice else instance.references[index].text


def prompt(instance) -> str:
    return instance.messages[-1].content
