"""The board as values: tables of merged cells, named sites' contributions, and the figures that rest on auditors. Pure.

Every published number is a whole number: figures, intervals, win rates and averages are thousandths of their range,
I2 is in percent. `build_board` makes these values; pages, CSV and JSON are written from nothing else.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from protocol import schema
from protocol.canonical import canonical, parse_canonical
from protocol.errors import Code, ProtocolError
from protocol.registry import Model
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard

MAX_SITES = 10_000
MAX_LOG_ENTRIES = 2**53 - 1
_DEPTH = 7  # of nested objects in `audited.json`


class State(StrEnum):
    """What a board's cell shows."""

    VALUE = "value"
    NOT_RUN = "not run"
    SUPPRESSED = "suppressed"  # see Why
    LOW_CODED = "low-coded"  # surely too few successes to name the figure
    HIGH_CODED = "high-coded"  # surely too few failures to name the figure
    WITHHELD = "withheld"  # too few sites to hide each among the others, or too few changed since the last step


class Why(StrEnum):
    """Why a figure is suppressed, as far as the published statements tell."""

    SMALL_GROUP = "small group"  # too few units, or so that a group with too few cannot be computed
    ANOTHER_METRIC = (
        "another metric"  # of this group another metric's figure leaves, and no more do
    )
    FEW_EVENTS = "few events"  # perhaps too few successes or failures, or so that another figure cannot be computed
    SEVERAL = "several"  # the sites had different reasons


@dataclass(frozen=True, slots=True)
class MergedCell:
    """One model's figure for one cell, merged over sites. docs/merging.md has the formulas.

    All attributes but `state`, counts and flags are None unless `state` is VALUE. Where sites that publish pooled are
    in, whatever depends on the spread over sites is rounded, or left out (see `aggregator.merge.coarse`).

    Attributes:
        state, why: `why` only of a suppressed cell.
        value: the mean over sites by the size of each, thousandths of the metric's range.
        low, high: 95 % interval of `value`.
        units: approximate number of units; of a public or gated benchmark those of the largest site.
        sites: distinct sites behind the value, coded ones too.
        named_sites: of `sites`, those shown by name.
        coded_sites: of `sites`, those whose figure is only known to lie near an end of the range.
        left_out: sites that ran this, but whose figure is suppressed.
        average, average_low, average_high: the random-effects mean over sites and its Hartung-Knapp interval; from
            three sites.
        tau: standard deviation between sites (Paule-Mandel), thousandths; from three sites.
        i2_percent: share of the variation that is between sites, 0..100; from three sites.
        prediction_low, prediction_high: where the figure of a further site is expected, 95 %; from three sites.
        leave_one_out_low, leave_one_out_high: range of `value` when any one site is left out; from three sites.
        since: log size at which the part of the pooled sites came to stand; 0 without such a part.
        waiting: pooled sites with a change that no published figure contains yet.
        rests_on_audit: pooled sites' statements are needed to recompute the cell.
    """

    state: State
    why: Why | None = None
    value: int | None = None
    low: int | None = None
    high: int | None = None
    units: int = 0
    sites: int = 0
    named_sites: int = 0
    coded_sites: int = 0
    left_out: int = 0
    average: int | None = None
    average_low: int | None = None
    average_high: int | None = None
    tau: int | None = None
    i2_percent: int | None = None
    prediction_low: int | None = None
    prediction_high: int | None = None
    leave_one_out_low: int | None = None
    leave_one_out_high: int | None = None
    since: int = 0
    waiting: int = 0
    rests_on_audit: bool = False


NOT_RUN_CELL = MergedCell(State.NOT_RUN)


@dataclass(frozen=True, slots=True)
class RowCounts:
    """How many sites' results stand behind a row, and of which kinds. Of pooled sites, those published at a step.

    Attributes:
        sites: sites with a counted result.
        partial: of them, those whose result leaves questions out.
        unplanned: of them, those whose result had no plan.
        weights_hashed: of them, those whose plan says that the model's weights were hashed, not only served.
        stale: of them, those made by an agent version or under a policy that the registry lists no more.
        withdrawn: results of this model that sites took back.
    """

    sites: int = 0
    partial: int = 0
    unplanned: int = 0
    weights_hashed: int = 0
    stale: int = 0
    withdrawn: int = 0

    def plus(self, other: "RowCounts") -> "RowCounts":
        """Return the sums of both."""
        return RowCounts(
            sites=self.sites + other.sites,
            partial=self.partial + other.partial,
            unplanned=self.unplanned + other.unplanned,
            weights_hashed=self.weights_hashed + other.weights_hashed,
            stale=self.stale + other.stale,
            withdrawn=self.withdrawn + other.withdrawn,
        )


@dataclass(frozen=True, slots=True)
class Ranges:
    """Where a row's aggregates come to lie when sites are drawn anew, 95 %. None below three sites.

    Ranks count language models only, from 1; a baseline has none.
    """

    win_rate_low: int | None = None
    win_rate_high: int | None = None
    macro_average_low: int | None = None
    macro_average_high: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One model's line.

    Attributes:
        digest: of the model.
        cells: by cell key, all cells of the scorecard.
        win_rate: mean win rate over the benchmarks' main cells, thousandths; None without anything to compare.
        macro_average: mean of the main cells, thousandths of each metric's range, so that a rating from 1 to 5
            enters as (x - 1)/4; None without a value.
        rank: among language models by win rate, from 1, equal rates share one; None for baselines.
        ranges: of win rate, macro-average and rank.
        counts: of the sites behind the row.
        coded: cells in which at least one site's figure is coded.
        waiting: pooled sites with a result that `counts` does not contain yet.
    """

    digest: str
    model: Model
    cells: Mapping[str, MergedCell]
    win_rate: int | None
    macro_average: int | None
    rank: int | None
    ranges: Ranges
    counts: RowCounts
    coded: int = 0
    waiting: int = 0

    @property
    def sites(self) -> int:
        """Sites with a counted result."""
        return self.counts.sites

    @property
    def partial(self) -> int:
        """Of the sites, those whose result leaves questions out."""
        return self.counts.partial

    @property
    def unplanned(self) -> int:
        """Of the sites, those whose result had no plan."""
        return self.counts.unplanned

    @property
    def rests_on_audit(self) -> bool:
        """Whether pooled sites' statements are needed to recompute any cell of the row."""
        return any(cell.rests_on_audit for cell in self.cells.values())


@dataclass(frozen=True, slots=True)
class Table:
    """All models' results for one scorecard, best mean win rate first.

    Attributes:
        retired: whether the registry takes no more results for the scorecard.
        sites: distinct sites behind the table's ranges.
    """

    scorecard: Scorecard
    rows: tuple[Row, ...]
    retired: bool = False
    sites: int = 0

    def main_cell(self, benchmark: BenchmarkEntry) -> Cell:
        """Return the cell that stands for a benchmark: its first."""
        return main_cell(self.scorecard, benchmark)

    @property
    def categories(self) -> dict[str, list[BenchmarkEntry]]:
        """The benchmarks by category, both in the scorecard's order."""
        by_category: dict[str, list[BenchmarkEntry]] = {}
        for benchmark in self.scorecard.benchmarks:
            by_category.setdefault(benchmark.category, []).append(benchmark)
        return by_category


def main_cell(scorecard: Scorecard, benchmark: BenchmarkEntry) -> Cell:
    """Return the cell that stands for a benchmark: its first."""
    return next(cell for cell in scorecard.cells if cell.benchmark == benchmark.id)


@dataclass(frozen=True, slots=True)
class SiteFigure:
    """One named site's figure for one cell, as a forest plot draws it.

    Attributes:
        state, why: as of a merged cell; never WITHHELD.
        value, low, high: thousandths of the range; the interval is the site's own, noise and rounding included. Of
            a coded figure only low and high are known.
        units: middle of the bucket.
        weight_percent: the site's share of the merged cell's weight, rounded; 0 without a value.
    """

    state: State
    why: Why | None = None
    value: int | None = None
    low: int | None = None
    high: int | None = None
    units: int = 0
    weight_percent: int = 0


@dataclass(frozen=True, slots=True)
class SiteResult:
    """A counted result of a site that is shown by name.

    Attributes:
        digest, log_position: of the statement; the position is the index of its log entry, from 0.
        day: days since 1970-01-01 UTC, as the site states it.
        outcome, approval: as in the statement.
        plan: digest of its plan, `none` without.
        assurance: `weights_hashed`, `served_claimed`, or "" without a plan.
        is_stale: the agent version or policy that it names is registered no more.
        agent_version, policy_name: "no longer registered" where that is so.
        figures: by cell key, all cells of the scorecard.
    """

    site: str
    site_name: str
    model: Model
    model_digest: str
    scorecard: Scorecard
    digest: str
    log_position: int
    day: int
    outcome: str
    approval: str
    plan: str
    assurance: str
    is_stale: bool
    agent_version: str
    policy_name: str
    figures: Mapping[str, SiteFigure]

    @property
    def is_planned(self) -> bool:
        """Whether the site had announced the run in the log before it began."""
        return bool(self.assurance)


@dataclass(frozen=True, slots=True)
class WithdrawnResult:
    """A result that a named site took back: log positions of both statements, and the reason."""

    position: int
    withdrawn_at: int
    reason: str


@dataclass(frozen=True, slots=True)
class Board:
    """Everything the board shows.

    Attributes:
        tables: by name, newest version first.
        site_results: of named sites, by site name, scorecard and model.
        pooled_sites: distinct sites behind published figures that are not shown by name.
        revoked: log positions of named sites' results that count no more.
        withdrawn: named sites' results that were taken back, by log position.
    """

    tables: tuple[Table, ...]
    site_results: tuple[SiteResult, ...]
    pooled_sites: int
    revoked: tuple[int, ...]
    withdrawn: tuple[WithdrawnResult, ...]

    @property
    def audited_cells(self) -> int:
        """Number of cells that rest on auditors' signatures."""
        return sum(
            cell.rests_on_audit
            for table in self.tables
            for row in table.rows
            for cell in row.cells.values()
        )


@dataclass(frozen=True, slots=True)
class AuditedRow:
    """The part of one row that needs pooled sites' statements.

    Attributes:
        cells: by cell key, those in which a pooled site has a part, published or waiting.
        counts: of the pooled sites alone.
        waiting: as of the row.
        replaced: log positions of named results that count no more, because their sites are pooled by now and have
            sent another or withdrawn them.
    """

    cells: Mapping[str, MergedCell] = field(default_factory=dict)
    counts: RowCounts = RowCounts()
    waiting: int = 0
    replaced: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditedTable:
    """The part of one table that needs pooled sites' statements.

    Attributes:
        rows: by model digest, those in which a pooled site has a part.
        ranges: by model digest, of all rows: they depend on all sites at once.
        sites: distinct sites behind the ranges.
    """

    rows: Mapping[str, AuditedRow]
    ranges: Mapping[str, Ranges]
    sites: int


@dataclass(frozen=True, slots=True)
class AuditedFigures:
    """All figures of a board that pooled sites' statements are needed for (`audited.json`).

    Attributes:
        log_size: number of log entries that they were computed from.
        pooled_sites: as of the board.
        tables: by scorecard digest; only tables in which a pooled site has a part.
    """

    log_size: int
    pooled_sites: int = 0
    tables: Mapping[str, AuditedTable] = field(default_factory=dict)

    @property
    def cells(self) -> int:
        """Number of cells contained: those that rest on auditors' signatures."""
        return sum(len(row.cells) for table in self.tables.values() for row in table.rows.values())

    def to_bytes(self) -> bytes:
        """Return the content of `audited.json`: canonical JSON and a line feed."""
        return canonical(self.to_json()) + b"\n"

    def to_json(self) -> dict[str, object]:
        """Return the content as JSON values; the inverse of `parse_audited`."""
        return {
            "schema": 1,
            "log_size": self.log_size,
            "pooled_sites": self.pooled_sites,
            "tables": {digest: _write_table(table) for digest, table in self.tables.items()},
        }


_UNSET = -1
_INTEGERS = ("units", "sites", "named_sites", "coded_sites", "left_out", "since", "waiting")
_OPTIONAL = (
    *("value", "low", "high", "average", "average_low", "average_high", "tau", "i2_percent"),
    *("prediction_low", "prediction_high", "leave_one_out_low", "leave_one_out_high"),
)
_CELL = frozenset({"state", "why", *_INTEGERS, *_OPTIONAL})
_COUNTS = frozenset(item.name for item in fields(RowCounts))
_RANGES = frozenset(item.name for item in fields(Ranges))


def _write_table(table: AuditedTable) -> dict[str, object]:
    return {
        "rows": {digest: _write_row(row) for digest, row in table.rows.items()},
        "ranges": {
            digest: _write_optional(asdict(ranges)) for digest, ranges in table.ranges.items()
        },
        "sites": table.sites,
    }


def _write_row(row: AuditedRow) -> dict[str, object]:
    return {
        "cells": {key: _write_cell(cell) for key, cell in row.cells.items()},
        "counts": asdict(row.counts),
        "waiting": row.waiting,
        "replaced": list(row.replaced),
    }


def _write_cell(cell: MergedCell) -> dict[str, object]:
    """Write a cell; numbers that are not there are left out."""
    written: dict[str, object] = {"state": cell.state.value}
    if cell.why is not None:
        written["why"] = cell.why.value
    for name in _INTEGERS:
        if getattr(cell, name):
            written[name] = getattr(cell, name)
    for name in _OPTIONAL:
        if getattr(cell, name) is not None:
            written[name] = getattr(cell, name)
    return written


def _write_optional(values: Mapping[str, int | None]) -> dict[str, int]:
    return {name: value for name, value in values.items() if value is not None}


def parse_audited(content: bytes) -> AuditedFigures:
    """Read `audited.json`: canonical, closed, every number in its range.

    Raises:
        ProtocolError: those of `parse_canonical`, and SCHEMA.
    """
    if not content.endswith(b"\n"):
        raise ProtocolError(Code.SCHEMA, "audited figures end with a line feed")
    found = schema.record(
        parse_canonical(content[:-1], max_depth=_DEPTH),
        frozenset({"schema", "log_size", "pooled_sites", "tables"}),
        "audited figures",
    )
    schema.integer(found["schema"], "audited figures: schema", 1, 1)
    return AuditedFigures(
        log_size=schema.integer(found["log_size"], "log_size", 0, MAX_LOG_ENTRIES),
        pooled_sites=schema.integer(found["pooled_sites"], "pooled_sites", 0, MAX_SITES),
        tables={
            _digest(digest): _read_table(value)
            for digest, value in schema.mapping(found["tables"], "tables").items()
        },
    )


def _digest(value: str) -> str:
    return schema.text(value, "digest", schema.HEX64)


def _read_table(value: object) -> AuditedTable:
    found = schema.record(value, frozenset({"rows", "ranges", "sites"}), "audited table")
    rows = schema.mapping(found["rows"], "rows")
    ranges = schema.mapping(found["ranges"], "ranges")
    return AuditedTable(
        rows={_digest(digest): _read_row(row) for digest, row in rows.items()},
        ranges={_digest(digest): _read_ranges(entry) for digest, entry in ranges.items()},
        sites=schema.integer(found["sites"], "sites", 0, MAX_SITES),
    )


def _read_row(value: object) -> AuditedRow:
    found = schema.record(
        value, frozenset({"cells", "counts", "waiting", "replaced"}), "audited row"
    )
    counts = schema.record(found["counts"], _COUNTS, "counts")
    return AuditedRow(
        cells={
            key: _read_cell(cell) for key, cell in schema.mapping(found["cells"], "cells").items()
        },
        counts=RowCounts(
            **{
                name: schema.integer(counts[name], name, 0, MAX_LOG_ENTRIES)
                for name in sorted(_COUNTS)
            }
        ),
        waiting=schema.integer(found["waiting"], "waiting", 0, MAX_SITES),
        replaced=tuple(
            schema.integer(position, "replaced", 0, MAX_LOG_ENTRIES)
            for position in schema.array(found["replaced"], "replaced", 0, MAX_SITES)
        ),
    )


def _read_ranges(value: object) -> Ranges:
    found = schema.mapping(value, "ranges")
    _refuse_unknown(found, _RANGES)
    return Ranges(
        **{name: schema.integer(number, name, 0, MAX_SITES) for name, number in found.items()}
    )


def _read_cell(value: object) -> MergedCell:
    found = schema.mapping(value, "cell")
    _refuse_unknown(found, _CELL)
    numbers: dict[str, Any] = {
        name: schema.integer(number, name, 0, MAX_LOG_ENTRIES)
        for name, number in found.items()
        if name not in {"state", "why"}
    }
    state = schema.choice(found.get("state"), "state", tuple(State))
    why = schema.choice(found["why"], "why", tuple(Why)) if "why" in found else None
    return MergedCell(
        State(state), None if why is None else Why(why), **numbers, rests_on_audit=True
    )


def _refuse_unknown(found: Mapping[str, object], known: frozenset[str]) -> None:
    unknown = sorted(found.keys() - known)
    if unknown:
        raise ProtocolError(
            Code.SCHEMA, f"audited figures: {len(unknown)} unknown among {len(found)} keys"
        )
