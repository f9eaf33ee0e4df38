"""How many units the published dataset of a benchmark has: the most that any site can have evaluated of it."""

from dataclasses import dataclass
from functools import cache

from agent.catalog.benchmark import Benchmark
from agent.errors import BenchmarkError
from agent.io.packaged import shipped
from agent.io.yaml_map import read_yaml

_MAX_UNITS = 1_000_000  # a scorecard's scale of group sizes ends there


@dataclass(frozen=True, slots=True)
class DatasetSize:
    """The size of one dataset in units, and the publication that states it."""

    units: int
    source: str


def published_units(benchmark: Benchmark) -> int:
    """Return the most distinct units that the public or gated dataset of a benchmark has; 0 if that is not known.

    Where `sizes.yaml` states no number of units, it is the number of instances: several may be of one unit, and none
    is of two.
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
    """Return the sizes that `sizes.yaml` beside the shipped benchmarks states, by benchmark.

    Raises:
        BenchmarkError: with every wrong key of the file.
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
