"""From a benchmark's dataset files to instances; every problem of a file is named with its row."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.catalog.benchmark import Benchmark
from agent.vocabulary import Instance

Known = Literal["official", "sample", "unknown", "invented"]


@dataclass(frozen=True, slots=True)
class Dataset:
    """The files a run reads.

    Attributes:
        paths: in instance order.
        digest: SHA-256 of the file; of several, SHA-256 of the "digest  name" lines.
        known: "official": the version the benchmark was written for; "sample" and "invented": what travels with
            the agent; "unknown": anything else, shown beside every result.
        problems: what a person should know (files missing, another version), in plain words.
    """

    paths: tuple[Path, ...]
    digest: str
    known: Known
    problems: tuple[str, ...] = ()
    file_digests: tuple[str, ...] = ()


def locate_dataset(
    benchmark: Benchmark, site_data: Path | None = None, arguments: Mapping[str, str] | None = None
) -> Dataset:
    """Find the benchmark's data: `data_path` of the run entry, else `site_data`/<id>/, else the sample.

    Raises:
        BenchmarkError: no data at all, or a file cannot be read.
    """
    raise NotImplementedError


def load_instances(
    benchmark: Benchmark,
    dataset: Dataset,
    arguments: Mapping[str, str] | None = None,
    *,
    instructions: Literal["none", "expert"] | None = None,
) -> list[Instance]:
    """Read the files and render every instance, in dataset order.

    Raises:
        BenchmarkError: lists every problem of the file (row and column; never a cell's text), or says that the
            file changed since it was located.
    """
    raise NotImplementedError
