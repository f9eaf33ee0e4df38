"""The data model of the board: tables of merged cells, named sites' contributions, and the figures
that rely on auditors. Pure.

Every published number is an integer: figures, intervals, win rates and averages are in thousandths
of their range, I2 is in percent. `build_board` computes these values. Pages, CSV and JSON are
generated from them alone.
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
_DEPTH = 7  # maximum nesting of objects in `audited.json`


class State(StrEnum):
    """The state of a board's cell."""

    VALUE = "value"
    NOT_RUN = "not run"
    SUPPRESSED = "suppressed"  # see Why
    LOW_CODED = "low-coded"  # certainly too few successes to publish the figure
    HIGH_CODED = "high-coded"  # certainly too few failures to publish the figure
    WITHHELD = "withheld"  # too few sites to hide each among the others, or too few changed since the last step


class Why(StrEnum):
    """The reason why a figure is suppressed, as far as it can be inferred from the published statements."""

    # Too few units, or to keep a group with too few from being computed.
    SMALL_GROUP = "small group"
    ANOTHER_METRIC = "another metric"  # the group's only released figure is that of another metric
    FEW_EVENTS = "few events"  # possibly too few successes or failures, or to keep another figure from being computed
    SEVERAL = "several"  # the sites' reasons differ


@dataclass(frozen=True, slots=True)
class MergedCell:
    """A model's figure for one cell, merged over sites. See docs/merging.md for the formulas.

    All attributes except `state`, counts and flags are None unless `state` is VALUE. If pooled
    sites contribute, values that depend on the spread over sites are rounded or omitted (see
    `aggregator.merge.coarse`).

    Attributes:
        state, why: `why` is only set for a suppressed cell.
        value: Mean over sites weighted by size, in thousandths of the metric's range.
        low, high: The 95 % interval of `value`.
        units: Approximate number of units; for a public or gated benchmark, that of the largest
            site.
        sites: Number of distinct sites that contribute to the value, including those with coded
            figures.
        named_sites: Number of `sites` shown by name.
        coded_sites: Number of `sites` with a coded figure.
        left_out: Number of sites that ran the cell but suppressed the figure.
        average, average_low, average_high: Random-effects mean over sites and its Hartung-Knapp
            interval; requires three sites.
        tau: Standard deviation between sites (Paule-Mandel), in thousandths; requires three sites.
        i2_percent: Share of the variation that is between sites, 0 to 100; requires three sites.
        prediction_low, prediction_high: The 95 % prediction interval for the figure of one more
            site; requires three sites.
        leave_one_out_low, leave_one_out_high: Range of `value` when any one site is left out;
            requires three sites.
        since: Log size at which the current pooled part was first shown; 0 without a pooled part.
        waiting: Number of pooled sites with a change that no published figure contains yet.
        rests_on_audit: Whether pooled sites' statements are needed to recompute the cell.
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
    """The numbers of sites, by kind of result, that contribute to a row. Pooled sites count as of their last step.

    Attributes:
        sites: Number of sites with a counted result.
        partial: Number of these whose result omits questions.
        unplanned: Number of these whose result had no plan.
        weights_hashed: Number of these whose plan states that the model's weights were hashed, not
            only served.
        stale: Number of these produced by an agent version or under a policy that the registry no
            longer lists.
        withdrawn: Number of results of this model that sites have withdrawn.
    """

    sites: int = 0
    partial: int = 0
    unplanned: int = 0
    weights_hashed: int = 0
    stale: int = 0
    withdrawn: int = 0

    def plus(self, other: "RowCounts") -> "RowCounts":
        """Return the element-wise sum of both."""
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
    """The 95 % ranges of a row's aggregates when sites are resampled. None for fewer than three sites.

    Ranks start at 1 and count only language models. A baseline has none.
    """

    win_rate_low: int | None = None
    win_rate_high: int | None = None
    macro_average_low: int | None = None
    macro_average_high: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A model's row in a table.

    Attributes:
        digest: Digest of the model.
        cells: All cells of the scorecard, by cell key.
        win_rate: Mean win rate over the benchmarks' main cells, in thousandths; None if there is
            nothing to compare.
        macro_average: Mean of the main cells, in thousandths of each metric's range, so that a
            rating x from 1 to 5 counts as (x - 1)/4; None without a value.
        rank: Rank among language models by win rate, from 1; equal rates share a rank. None for
            baselines.
        ranges: Ranges of win rate, macro-average and rank.
        counts: Counts of the sites that contribute to the row.
        coded: Number of cells in which at least one site has a coded figure.
        waiting: Number of pooled sites with a result that `counts` does not include yet.
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
        """The number of sites with a counted result."""
        return self.counts.sites

    @property
    def partial(self) -> int:
        """The number of these sites whose result omits questions."""
        return self.counts.partial

    @property
    def unplanned(self) -> int:
        """The number of these sites whose result had no plan."""
        return self.counts.unplanned

    @property
    def rests_on_audit(self) -> bool:
        """Whether pooled sites' statements are needed to recompute any cell of the row."""
        return any(cell.rests_on_audit for cell in self.cells.values())


@dataclass(frozen=True, slots=True)
class Table:
    """All models' results for one scorecard, by descending mean win rate.

    Attributes:
        retired: Whether the registry accepts no more results for the scorecard.
        sites: Number of distinct sites that contribute to the table's ranges.
    """

    scorecard: Scorecard
    rows: tuple[Row, ...]
    retired: bool = False
    sites: int = 0

    def main_cell(self, benchmark: BenchmarkEntry) -> Cell:
        """Return a benchmark's main cell, which is its first."""
        return main_cell(self.scorecard, benchmark)

    @property
    def categories(self) -> dict[str, list[BenchmarkEntry]]:
        """The benchmarks by category, both in the scorecard's order."""
        by_category: dict[str, list[BenchmarkEntry]] = {}
        for benchmark in self.scorecard.benchmarks:
            by_category.setdefault(benchmark.category, []).append(benchmark)
        return by_category


def main_cell(scorecard: Scorecard, benchmark: BenchmarkEntry) -> Cell:
    """Return a benchmark's main cell, which is its first."""
    return next(cell for cell in scorecard.cells if cell.benchmark == benchmark.id)


@dataclass(frozen=True, slots=True)
class SiteFigure:
    """A named site's figure for one cell, as shown in a forest plot.

    Attributes:
        state, why: As for a merged cell; never WITHHELD.
        value, low, high: In thousandths of the range. The interval is the site's own and includes
            noise and rounding. For a coded figure only low and high are known.
        units: Middle of the bucket of the number of units.
        weight_percent: The site's share of the merged cell's weight, rounded; 0 without a value.
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
    """A counted result of a site shown by name.

    Attributes:
        digest, log_position: Digest of the statement and index of its log entry, from 0.
        day: Days since 1970-01-01 UTC, as stated by the site.
        outcome, approval: As in the statement.
        plan: Digest of its plan; `none` without a plan.
        assurance: `weights_hashed`, `served_claimed`, or "" without a plan.
        is_stale: Whether the agent version or policy that it names is no longer registered.
        agent_version, policy_name: "no longer registered" if that is the case.
        figures: Figures of all cells of the scorecard, by cell key.
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
    """A result that a named site has withdrawn, with the log positions of both statements and the reason."""

    position: int
    withdrawn_at: int
    reason: str


@dataclass(frozen=True, slots=True)
class Board:
    """The content of the board.

    Attributes:
        tables: The tables by scorecard name, newest version first.
        site_results: Results of named sites, sorted by site name, scorecard and model.
        pooled_sites: Number of distinct sites that contribute to published figures and are not
            shown by name.
        revoked: Log positions of named sites' results that no longer count because a key was
            revoked, or the site, model or scorecard was removed from the registry.
        withdrawn: Named sites' withdrawn results, sorted by log position.
    """

    tables: tuple[Table, ...]
    site_results: tuple[SiteResult, ...]
    pooled_sites: int
    revoked: tuple[int, ...]
    withdrawn: tuple[WithdrawnResult, ...]

    @property
    def audited_cells(self) -> int:
        """The number of cells that rely on auditors' signatures."""
        return sum(
            cell.rests_on_audit
            for table in self.tables
            for row in table.rows
            for cell in row.cells.values()
        )


@dataclass(frozen=True, slots=True)
class AuditedRow:
    """The part of a row that depends on pooled sites' statements.

    Attributes:
        cells: Cells to which a pooled site contributes, published or waiting, by cell key.
        counts: Counts of the pooled sites only.
        waiting: As for the row.
        replaced: Log positions of named results that no longer count because their sites are now
            pooled and have replaced or withdrawn them.
    """

    cells: Mapping[str, MergedCell] = field(default_factory=dict)
    counts: RowCounts = RowCounts()
    waiting: int = 0
    replaced: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditedTable:
    """The part of a table that depends on pooled sites' statements.

    Attributes:
        rows: Rows to which a pooled site contributes, by model digest.
        ranges: Ranges of all rows by model digest, since they depend on all sites.
        sites: Number of distinct sites that contribute to the ranges.
    """

    rows: Mapping[str, AuditedRow]
    ranges: Mapping[str, Ranges]
    sites: int


@dataclass(frozen=True, slots=True)
class AuditedFigures:
    """All figures of a board that depend on pooled sites' statements (`audited.json`).

    Attributes:
        log_size: Number of log entries that they were computed from.
        pooled_sites: As for the board.
        tables: Tables to which a pooled site contributes, by scorecard digest.
    """

    log_size: int
    pooled_sites: int = 0
    tables: Mapping[str, AuditedTable] = field(default_factory=dict)

    @property
    def cells(self) -> int:
        """The number of cells that rely on auditors' signatures."""
        return sum(len(row.cells) for table in self.tables.values() for row in table.rows.values())

    def to_bytes(self) -> bytes:
        """Return the content of `audited.json`: canonical JSON followed by a line feed."""
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
    """Return a cell as a JSON object; numbers that are missing are left out."""
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
    """Parse `audited.json`, which must be canonical, without unknown keys, and with every number in its range.

    Raises:
        ProtocolError: as for `parse_canonical`, or SCHEMA.
    """
    if not content.endswith(b"\n"):
        raise ProtocolError(Code.SCHEMA, "audited figures must end with a line feed")
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
            Code.SCHEMA, f"audited figures: {len(unknown)} of {len(found)} keys are unknown"
        )
