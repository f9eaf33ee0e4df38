"""The number of units in each benchmark's published dataset, the maximum that any site can have evaluated."""

from dataclasses import dataclass
from functools import cache

from agent.catalog.benchmark import Benchmark
from agent.errors import BenchmarkError
from agent.io.packaged import shipped
from agent.io.yaml_map import read_yaml

_MAX_UNITS = 1_000_000  # the largest group size on a scorecard's scale


@dataclass(frozen=True, slots=True)
class DatasetSize:
    """The number of units in a dataset, and the publication that reports it."""

    units: int
    source: str


def published_units(benchmark: Benchmark) -> int:
    """Return the maximum number of distinct units in the public or gated dataset of a benchmark, or 0 if unknown.

    If `sizes.yaml` has no entry for the dataset, the number of its instances is returned, because each instance belongs
    to exactly one unit.
    """
    if benchmark.access == "private":
        return 0
    stated = read_sizes().get(benchmark.id)
    if stated is not None:
        return stated.units
    counts = [file.rows for file in benchmark.files]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else 0


@cache
def read_sizes() -> dict[str, DatasetSize]:
    """Return the sizes in `sizes.yaml`, which is shipped with the benchmarks, by benchmark.

    Raises:
        BenchmarkError: the file has problems, all of which are listed by key.
    """
    path = shipped("benchmarks") / "sizes.yaml"
    tree = read_yaml(path, BenchmarkError)
    sizes: dict[str, DatasetSize] = {}
    for benchmark, entry in tree.named_maps("datasets").items():
        units = entry.integer("units", None, high=_MAX_UNITS)
        if units is None:
            entry.note("units", "is required: the size of the published dataset")
        else:
            sizes[benchmark] = DatasetSize(units, entry.text("source"))
        entry.finish()
    tree.finish()
    if tree.problems:
        raise BenchmarkError(f"{path}: {'; '.join(tree.problems)}")
    return sizes
