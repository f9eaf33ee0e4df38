"""Scorecards: the registered, ordered list of cells that every submission for it reports."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, cast

from protocol import schema
from protocol.errors import Code, ProtocolError
from protocol.identity import tagged_digest

Access = Literal["public", "gated", "private"]

MAX_CELLS = 600  # so that a statement stays well below the envelope's 64 KiB

MAX_UNITS = 1_000_000  # maximum size of a public or gated dataset, and the end of the bucket scale
MAX_SEATS = 9

_SCORECARD = frozenset({"name", "version", "benchmarks", "cells", "juries"})
_BENCHMARK = frozenset({"id", "display_name", "category", "definition", "subcategory", "units"})
_CELL = frozenset({"benchmark", "metric", "subgroup", "access", "binary", "low", "high", "jury"})
_JURY = frozenset({"id", "seats", "rubric", "quorum"})
_SEATS = re.compile(rf"[^ ]+(?: [^ ]+){{0,{MAX_SEATS - 1}}}")
_SUBGROUP = re.compile(r"[a-z0-9][a-z0-9_-]{0,23}\.[a-z0-9][a-z0-9_-]{0,23}")
_WHOLE = "all"  # stands for "no subgroup" in JSON
_NO_JURY = "none"  # stands for "no jury" in JSON


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure: a metric of a benchmark, for all its units or for one subgroup.

    Attributes:
        benchmark: id of the benchmark, `[a-z0-9][a-z0-9_-]*`, at most 48 characters.
        metric: id of the metric, in the same form.
        subgroup: `variable.value`, for example `sex.female`; None for all units. Subgroups of one variable do not
            overlap.
        access: access level of the benchmark, the same for all its cells. The disclosure rules do not apply to public
            benchmarks.
        binary: whether every instance scores either `low` or `high`, so that mean and n determine the spread.
        low, high: the metric's range; values are reported in thousandths of it.
        jury: id of the registered jury that gives this figure's scores; None for a computed metric.
    """

    benchmark: str
    metric: str
    subgroup: str | None
    access: Access
    binary: bool
    low: int
    high: int
    jury: str | None = None
    key: str = field(init=False, repr=False, compare=False)
    """The name of this cell in a statement: `benchmark/metric` or `benchmark/metric/subgroup`."""
    group: str = field(init=False, repr=False, compare=False)
    """The group of units that this figure is about: `benchmark` or `benchmark/subgroup`."""

    def __post_init__(self) -> None:
        # Every check of a statement uses these names several times per cell, so they are built once.
        tail = "" if self.subgroup is None else f"/{self.subgroup}"
        object.__setattr__(self, "key", f"{self.benchmark}/{self.metric}{tail}")
        object.__setattr__(self, "group", f"{self.benchmark}{tail}")

    @property
    def protected(self) -> bool:
        """Whether disclosure rules apply: the benchmark is gated or private."""
        return self.access != "public"


@dataclass(frozen=True, slots=True)
class BenchmarkEntry:
    """A benchmark of a scorecard.

    Attributes:
        category, subcategory: headings in the board's table of contents; `subcategory` may be empty.
        definition: digest of its definition files, 64 hex digits.
        units: maximum distinct units in its public or gated dataset, at most MAX_UNITS; larger groups are refused
            (rule 8.6). 0 for a private benchmark, or if the size is not known.
    """

    id: str
    display_name: str
    category: str
    definition: str
    subcategory: str = ""
    units: int = 0


@dataclass(frozen=True, slots=True)
class Jury:
    """A registered jury. Its cells accept no scores from other juries, as grades of two juries cannot be merged.

    Attributes:
        id: the id that its cells name; see `Cell.benchmark` for the form.
        seats: names of the judges' models, in the order of the seats. One model may fill several seats.
        rubric: digest of the judges' instructions and of their grading scale, 64 hex digits.
        quorum: number of seats that must give a valid verdict; more than half.
    """

    id: str
    seats: tuple[str, ...]
    rubric: str
    quorum: int


@dataclass(frozen=True, slots=True)
class Scorecard:
    """A named, versioned list of cells, and the juries they name. A benchmark's first cell has its main metric."""

    name: str
    version: int
    benchmarks: tuple[BenchmarkEntry, ...]
    cells: tuple[Cell, ...]
    juries: tuple[Jury, ...] = ()
    group_keys: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The keys of the groups, in the order of the cells: `benchmark` or `benchmark/subgroup`."""
    protected_benchmarks: frozenset[str] = field(init=False, repr=False, compare=False)
    """The ids of the gated and private benchmarks."""
    _by_group: Mapping[str, tuple[Cell, ...]] = field(init=False, repr=False, compare=False)
    _by_benchmark: Mapping[str, tuple[Cell, ...]] = field(init=False, repr=False, compare=False)
    _margins: Mapping[str, tuple[tuple[str, ...], ...]] = field(
        init=False, repr=False, compare=False
    )
    _digests: list[str] = field(init=False, repr=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        # The check of one statement needs the cells of every group many times. Without these indexes, searching all
        # cells each time took half of the time of a verification.
        by_group: dict[str, list[Cell]] = {}
        by_benchmark: dict[str, list[Cell]] = {}
        margins: dict[str, dict[str, dict[str, None]]] = {}
        for cell in self.cells:
            by_group.setdefault(cell.group, []).append(cell)
            by_benchmark.setdefault(cell.benchmark, []).append(cell)
            if cell.subgroup is not None:
                variable = cell.subgroup.partition(".")[0]
                margins.setdefault(cell.benchmark, {}).setdefault(variable, {})[cell.group] = None
        protected = frozenset(cell.benchmark for cell in self.cells if cell.protected)
        object.__setattr__(self, "group_keys", tuple(by_group))
        object.__setattr__(self, "protected_benchmarks", protected)
        object.__setattr__(
            self, "_by_group", {group: tuple(cells) for group, cells in by_group.items()}
        )
        object.__setattr__(
            self, "_by_benchmark", {name: tuple(cells) for name, cells in by_benchmark.items()}
        )
        tuples = {
            name: tuple(map(tuple, variables.values())) for name, variables in margins.items()
        }
        object.__setattr__(self, "_margins", tuples)

    @property
    def digest(self) -> str:
        """Hex digest of the whole content."""
        if not self._digests:
            self._digests.append(tagged_digest("scorecard", self.to_json()))
        return self._digests[0]

    def jury_of(self, cell: Cell) -> Jury | None:
        """Return the registered jury of a cell; None if its metric is computed."""
        return next((jury for jury in self.juries if jury.id == cell.jury), None)

    def units_of(self, benchmark: str) -> int:
        """Return the size of a benchmark's dataset in units; 0 if the benchmark is private or the size is not known."""
        return next(entry.units for entry in self.benchmarks if entry.id == benchmark)

    def cells_of(self, group: str) -> tuple[Cell, ...]:
        """Return the cells about one group."""
        return self._by_group.get(group, ())

    def cells_of_benchmark(self, benchmark: str) -> tuple[Cell, ...]:
        """Return the cells of one benchmark, both about all its units and about subgroups."""
        return self._by_benchmark.get(benchmark, ())

    def margins(self, benchmark: str) -> tuple[tuple[str, ...], ...]:
        """Return, for each variable that divides the units of a benchmark, the keys of its groups."""
        return self._margins.get(benchmark, ())

    def to_json(self) -> dict[str, object]:
        """Return the content as JSON values; the inverse of `parse_scorecard`."""
        return {
            "name": self.name,
            "version": self.version,
            "benchmarks": [asdict(benchmark) for benchmark in self.benchmarks],
            "cells": [_cell_to_json(cell) for cell in self.cells],
            "juries": [_jury_to_json(jury) for jury in self.juries],
        }


def _cell_to_json(cell: Cell) -> dict[str, object]:
    return {
        "benchmark": cell.benchmark,
        "metric": cell.metric,
        "subgroup": cell.subgroup or _WHOLE,
        "access": cell.access,
        "binary": cell.binary,
        "low": cell.low,
        "high": cell.high,
        "jury": cell.jury or _NO_JURY,
    }


def _jury_to_json(jury: Jury) -> dict[str, object]:
    # One string instead of a list, which would be the seventh level of a registry. Model names contain no spaces.
    return {**asdict(jury), "seats": " ".join(jury.seats)}


def parse_scorecard(value: object) -> Scorecard:
    """Parse a scorecard from JSON values; `subgroup` is `all` for a cell about all units.

    Raises:
        ProtocolError: SCHEMA, also for repeated cells, mixed access within a benchmark, a subgroup without the whole,
            a benchmark without a cell, a private benchmark with a size, or a jury that is missing or unused.
    """
    found = schema.record(value, _SCORECARD, "scorecard")
    scorecard = Scorecard(
        name=schema.text(found["name"], "scorecard.name", schema.IDENTIFIER),
        version=schema.integer(found["version"], "scorecard.version", 1),
        benchmarks=tuple(
            map(_benchmark, schema.array(found["benchmarks"], "scorecard.benchmarks", 1, MAX_CELLS))
        ),
        cells=tuple(map(_cell, schema.array(found["cells"], "scorecard.cells", 1, MAX_CELLS))),
        juries=tuple(map(_jury, schema.array(found["juries"], "scorecard.juries", 0, MAX_CELLS))),
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
        subcategory=schema.title(found["subcategory"], "benchmark.subcategory", empty=True),
        units=schema.integer(found["units"], "benchmark.units", 0, MAX_UNITS),
    )


def _jury(value: object) -> Jury:
    found = schema.record(value, _JURY, "jury")
    seats = schema.text(found["seats"], "jury.seats", _SEATS).split(" ")
    return Jury(
        id=_jury_id(found["id"], "jury.id"),
        seats=tuple(schema.text(seat, "jury.seats", schema.MODEL_NAME) for seat in seats),
        rubric=schema.text(found["rubric"], "jury.rubric", schema.HEX64),
        quorum=schema.integer(found["quorum"], "jury.quorum", len(seats) // 2 + 1, len(seats)),
    )


def _jury_id(value: object, where: str) -> str:
    name = schema.text(value, where, schema.IDENTIFIER)
    if name == _NO_JURY:
        raise ProtocolError(Code.SCHEMA, f"{where}: {_NO_JURY} is not a valid jury id")
    return name


def _cell(value: object) -> Cell:
    found = schema.record(value, _CELL, "cell")
    low = schema.integer(found["low"], "cell.low", -1_000_000, 1_000_000)
    return Cell(
        benchmark=schema.text(found["benchmark"], "cell.benchmark", schema.IDENTIFIER),
        metric=schema.text(found["metric"], "cell.metric", schema.IDENTIFIER),
        subgroup=None
        if found["subgroup"] == _WHOLE
        else schema.text(found["subgroup"], "cell.subgroup", _SUBGROUP),
        access=cast(
            Access, schema.choice(found["access"], "cell.access", ("public", "gated", "private"))
        ),
        binary=schema.flag(found["binary"], "cell.binary"),
        low=low,
        high=schema.integer(found["high"], "cell.high", low + 1, 1_000_000),
        jury=None if found["jury"] == _NO_JURY else _jury_id(found["jury"], "cell.jury"),
    )


def _check_whole(scorecard: Scorecard) -> None:
    keys = [cell.key for cell in scorecard.cells]
    ids = [benchmark.id for benchmark in scorecard.benchmarks]
    kinds = {(cell.benchmark, cell.access) for cell in scorecard.cells}
    forms = {
        (cell.benchmark, cell.metric, cell.binary, cell.low, cell.high, cell.jury)
        for cell in scorecard.cells
    }
    whole = {(cell.benchmark, cell.metric) for cell in scorecard.cells if cell.subgroup is None}
    private = {cell.benchmark for cell in scorecard.cells if cell.access == "private"}
    juries = [jury.id for jury in scorecard.juries]
    named_juries = {cell.jury for cell in scorecard.cells if cell.jury is not None}
    for fault, found in {
        "two cells have the same key": len(set(keys)) != len(keys),
        "two benchmarks have the same id": len(set(ids)) != len(ids),
        "a benchmark has no cell, or a cell names a missing benchmark": {
            benchmark for benchmark, _ in kinds
        }
        != set(ids),
        "the cells of one benchmark have different access levels": len(kinds) != len(ids),
        "a subgroup has a metric that the whole lacks or defines differently": len(forms)
        != len(whole),
        "a private benchmark states a number of units": any(
            entry.units and entry.id in private for entry in scorecard.benchmarks
        ),
        "two juries have the same id": len(set(juries)) != len(juries),
        "a jury has no cell, or a cell names a missing jury": named_juries != set(juries),
    }.items():
        if found:
            raise ProtocolError(Code.SCHEMA, f"scorecard {scorecard.name}: {fault}")
