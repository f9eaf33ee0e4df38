"""Scorecards: the registered, ordered list of cells that every submission for it reports."""

from dataclasses import dataclass
from typing import Literal

Access = Literal["public", "gated", "private"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure: a metric of a benchmark, of all its units or of one subgroup.

    Attributes:
        benchmark: id of the benchmark, `[a-z0-9][a-z0-9_-]*`, at most 48 characters; so is `metric`.
        subgroup: `variable.value`, for example `sex.female`; None for all units. Subgroups of one variable do
            not overlap.
        access: of the benchmark; the same for all its cells. Cells of public benchmarks skip disclosure rules.
        binary: every instance scores either `low` or `high`, so mean and n tell the spread.
        low, high: the metric's range; values are reported in thousandths of it.
    """

    benchmark: str
    metric: str
    subgroup: str | None
    access: Access
    binary: bool
    low: int
    high: int

    @property
    def key(self) -> str:
        """`benchmark/metric` or `benchmark/metric/subgroup`: the name of this cell in a statement."""
        tail = "" if self.subgroup is None else f"/{self.subgroup}"
        return f"{self.benchmark}/{self.metric}{tail}"

    @property
    def group(self) -> str:
        """`benchmark` or `benchmark/subgroup`: the group of units this figure is about."""
        return self.benchmark if self.subgroup is None else f"{self.benchmark}/{self.subgroup}"

    @property
    def protected(self) -> bool:
        """Whether disclosure rules apply: the benchmark is gated or private."""
        return self.access != "public"


@dataclass(frozen=True, slots=True)
class BenchmarkEntry:
    """A benchmark of a scorecard. `definition` is the digest of its definition files, 64 hex digits."""

    id: str
    display_name: str
    category: str
    definition: str


@dataclass(frozen=True, slots=True)
class Scorecard:
    """A named, versioned list of cells. The first cell of a benchmark is its main metric."""

    name: str
    version: int
    benchmarks: tuple[BenchmarkEntry, ...]
    cells: tuple[Cell, ...]

    @property
    def digest(self) -> str:
        """Hex digest of the whole content."""
        raise NotImplementedError

    @property
    def group_keys(self) -> tuple[str, ...]:
        """The groups, in the order of the cells: benchmarks and `benchmark/subgroup`."""
        raise NotImplementedError

    def cells_of(self, group: str) -> tuple[Cell, ...]:
        """Return the cells about one group."""
        raise NotImplementedError

    def to_json(self) -> dict[str, object]:
        """Return the content as JSON values; the inverse of `parse_scorecard`."""
        raise NotImplementedError


def parse_scorecard(value: object) -> Scorecard:
    """Read a scorecard from JSON values.

    Raises:
        ProtocolError: SCHEMA; also for repeated cells, mixed access within a benchmark, a subgroup without the
            whole, or a benchmark without a cell.
    """
    raise NotImplementedError
