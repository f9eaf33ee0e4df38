"""Scorecards: the registered, ordered list of cells that every submission for it reports."""

import re
from dataclasses import asdict, dataclass
from typing import Literal, cast

from protocol import schema
from protocol.errors import Code, ProtocolError
from protocol.identity import tagged_digest

Access = Literal["public", "gated", "private"]

MAX_CELLS = 600  # so that a statement stays well below the envelope's 64 KiB

_SCORECARD = frozenset({"name", "version", "benchmarks", "cells"})
_BENCHMARK = frozenset({"id", "display_name", "category", "definition"})
_CELL = frozenset({"benchmark", "metric", "subgroup", "access", "binary", "low", "high"})
_SUBGROUP = re.compile(r"[a-z0-9][a-z0-9_-]{0,23}\.[a-z0-9][a-z0-9_-]{0,23}")
_WHOLE = "all"  # stands for "no subgroup" in JSON


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
        return tagged_digest("scorecard", self.to_json())

    @property
    def group_keys(self) -> tuple[str, ...]:
        """The groups, in the order of the cells: benchmarks and `benchmark/subgroup`."""
        return tuple(dict.fromkeys(cell.group for cell in self.cells))

    def cells_of(self, group: str) -> tuple[Cell, ...]:
        """Return the cells about one group."""
        return tuple(cell for cell in self.cells if cell.group == group)

    def margins(self, benchmark: str) -> tuple[tuple[str, ...], ...]:
        """Return, for each variable that divides the units of a benchmark, the keys of its groups."""
        by_variable: dict[str, dict[str, None]] = {}
        for cell in self.cells:
            if cell.benchmark == benchmark and cell.subgroup is not None:
                by_variable.setdefault(cell.subgroup.partition(".")[0], {})[cell.group] = None
        return tuple(tuple(groups) for groups in by_variable.values())

    def to_json(self) -> dict[str, object]:
        """Return the content as JSON values; the inverse of `parse_scorecard`."""
        return {
            "name": self.name,
            "version": self.version,
            "benchmarks": [asdict(benchmark) for benchmark in self.benchmarks],
            "cells": [{**asdict(cell), "subgroup": cell.subgroup or _WHOLE} for cell in self.cells],
        }


def parse_scorecard(value: object) -> Scorecard:
    """Read a scorecard from JSON values; `subgroup` is `all` for a cell about all units.

    Raises:
        ProtocolError: SCHEMA; also for repeated cells, mixed access within a benchmark, a subgroup without the
            whole, or a benchmark without a cell.
    """
    found = schema.record(value, _SCORECARD, "scorecard")
    scorecard = Scorecard(
        name=schema.text(found["name"], "scorecard.name", schema.IDENTIFIER),
        version=schema.integer(found["version"], "scorecard.version", 1),
        benchmarks=tuple(map(_benchmark, schema.array(found["benchmarks"], "scorecard.benchmarks", 1, MAX_CELLS))),
        cells=tuple(map(_cell, schema.array(found["cells"], "scorecard.cells", 1, MAX_CELLS))),
    )
    _check_whole(scorecard)
    return scorecard


def _benchmark(value: object) -> BenchmarkEntry:
    found = schema.record(value, _BENCHMARK, "benchmark")
    return BenchmarkEntry(
        id=schema.text(found["id"], "benchmark.id", schema.IDENTIFIER),
        display_name=schema.title(found["display_name"], "benchmark.display_name"),
        category=schema.title(found["category"], "benchmark.category"),
        definition=schema.text(found["definition"], "benchmark.definition", schema.HEX64),
    )


def _cell(value: object) -> Cell:
    found = schema.record(value, _CELL, "cell")
    low = schema.integer(found["low"], "cell.low", -1_000_000, 1_000_000)
    return Cell(
        benchmark=schema.text(found["benchmark"], "cell.benchmark", schema.IDENTIFIER),
        metric=schema.text(found["metric"], "cell.metric", schema.IDENTIFIER),
        subgroup=None if found["subgroup"] == _WHOLE else schema.text(found["subgroup"], "cell.subgroup", _SUBGROUP),
        access=cast(Access, schema.choice(found["access"], "cell.access", ("public", "gated", "private"))),
        binary=schema.flag(found["binary"], "cell.binary"),
        low=low,
        high=schema.integer(found["high"], "cell.high", low + 1, 1_000_000),
    )


def _check_whole(scorecard: Scorecard) -> None:
    keys = [cell.key for cell in scorecard.cells]
    ids = [benchmark.id for benchmark in scorecard.benchmarks]
    kinds = {(cell.benchmark, cell.access) for cell in scorecard.cells}
    forms = {(cell.benchmark, cell.metric, cell.binary, cell.low, cell.high) for cell in scorecard.cells}
    whole = {(cell.benchmark, cell.metric) for cell in scorecard.cells if cell.subgroup is None}
    for fault, found in {
        "a cell twice": len(set(keys)) != len(keys),
        "a benchmark twice": len(set(ids)) != len(ids),
        "a benchmark without a cell, or a cell without its benchmark": {benchmark for benchmark, _ in kinds}
        != set(ids),
        "cells of one benchmark with several access levels": len(kinds) != len(ids),
        "a subgroup's metric without the same metric of the whole": len(forms) != len(whole),
    }.items():
        if found:
            raise ProtocolError(Code.SCHEMA, f"scorecard {scorecard.name}: {fault}")
