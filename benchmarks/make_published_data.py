"""List the data of the shipped public benchmarks: `python -m benchmarks.make_published_data`.

Redaction shows the prompts and references of these data as they are (see agent.redaction.published_data). Run this
after changing a public benchmark's definition. Lines of earlier definitions stay, so that stored runs remain readable.
"""

import hashlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from agent.catalog.benchmark import Benchmark, load_benchmark
from agent.catalog.data_section import DataFile
from agent.datasets.folder import join_digests
from agent.datasets.load import locate_dataset

HERE = Path(__file__).parent
TARGET = HERE.parent / "agent/redaction/published_data.txt"
HEAD = """\
# SHA-256 of the digests of a shipped public benchmark's definition and of its official data or its sample, as
# agent.datasets.locate.digest_source computes it. Written by `python -m benchmarks.make_published_data`.
"""
_File = tuple[str, str]  # name and SHA-256


def list_sources() -> set[str]:
    """Return the sources of today's definitions."""
    sources: set[str] = set()
    for definition in sorted(HERE.glob("*/benchmark.yaml")):
        benchmark = load_benchmark(definition.parent)
        if benchmark.access != "public":
            continue
        for data in (locate_dataset(benchmark, None, {}).digest, *_list_official(benchmark)):
            sources.add(hashlib.sha256(f"{benchmark.digest} {data}".encode()).hexdigest())
    return sources


def read_listed() -> set[str]:
    """Return the sources in the file, which include those of earlier definitions."""
    lines = TARGET.read_text("ascii").splitlines() if TARGET.exists() else []
    return {line for line in lines if not line.startswith("#")}


def _list_official(benchmark: Benchmark) -> Iterator[str]:
    """Yield the digest of the data for every set of the official files' known versions.

    A set of several versions is never "official", so its digest does no harm.
    """
    alternatives = [list(_list_versions(file)) for file in benchmark.files]
    for chosen in product(*alternatives):
        files = dict(file for file in chosen if file is not None)
        if len(files) == 1:
            yield next(iter(files.values()))
        elif files:
            yield join_digests(files)


def _list_versions(file: DataFile) -> Iterator[_File | None]:
    """Yield the name and digest of each known version of a file, and None if the file may be missing."""
    for version in file.known:
        if version.sha256:
            yield version.name or file.name, version.sha256
    if file.optional:
        yield None


def main() -> None:
    """Write the list."""
    sources = sorted(list_sources() | read_listed())
    TARGET.write_text(HEAD + "\n".join(sources) + "\n", "ascii")


if __name__ == "__main__":
    main()
