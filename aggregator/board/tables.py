"""The board in machine-readable form: JSON with integers only, and CSV that spreadsheets do not
interpret as formulas.
"""

import csv
import io
import json
import re
from dataclasses import asdict, fields
from typing import Any

from aggregator.board.figures import in_range
from aggregator.board.releases import BoardOrigin
from aggregator.merge.board_model import Board, MergedCell, Row, SiteResult, Table
from protocol.registry import Registry
from protocol.scorecard import BenchmarkEntry, Cell

COLUMNS = (
    "scorecard", "version", "category", "subcategory", "benchmark", "metric", "subgroup", "access", "model",
    "display_name", "organization", "family", "parameters_millions", "is_language_model", "state", "value", "low",
    "high",    "approximate_units", "sites", "named_sites", "coded_sites", "sites_left_out", "why_suppressed",
    "standard_deviation_between_sites", "i2_percent", "prediction_low", "prediction_high",
    "without_one_site_low", "without_one_site_high", "pooled_part_since_log_entry", "sites_waiting", "rests_on_audit",
    "sites_with_partial_results", "sites_with_unplanned_results",
)  # fmt: skip
# Spreadsheets interpret cells that begin with these characters as formulas. Some skip leading white
# space, and some accept full-width signs.
_FORMULA = re.compile(r"\s*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def json_file(board: Board, registry: Registry, head: BoardOrigin) -> bytes:
    """Return the board as JSON. Values, intervals, win rates and averages are in thousandths of their range."""
    content = {
        "schema": 2,
        "deployment": registry.deployment,
        "registry": head.registry,
        "log": {"size": head.size, "root": head.root},
        "scorecards": [_table(table) for table in board.tables],
        "results_of_named_sites": [_site_result(result) for result in board.site_results],
        "pooled_sites": board.pooled_sites,
        "audited_cells": board.audited_cells,
        "revoked_log_positions": list(board.revoked),
        "withdrawn_results": [
            {"log_position": w.position, "withdrawn_at": w.withdrawn_at, "reason": w.reason}
            for w in board.withdrawn
        ],
    }
    return _write_lines(content).encode()


def _write_lines(content: dict[str, Any]) -> str:
    """Serialise a JSON object with one line per member and per list item, so that differences can be located by line.

    The encoder's own indentation is several times slower.
    """
    members = []
    for name in sorted(content):
        value = content[name]
        if isinstance(value, list):
            items = ",\n".join(map(_encode, value))
            members.append(f"{_encode(name)}: [\n{items}\n]" if value else f"{_encode(name)}: []")
        else:
            members.append(f"{_encode(name)}: {_encode(value)}")
    return "{\n" + ",\n".join(members) + "\n}\n"


_encode = json.JSONEncoder(
    sort_keys=True
).encode  # `json.dumps` would create an encoder for every value


def _site_result(result: SiteResult) -> dict[str, Any]:
    return {
        "site": result.site,
        "site_name": result.site_name,
        "model": result.model.name,
        "scorecard": result.scorecard.name,
        "scorecard_version": result.scorecard.version,
        "digest": result.digest,
        "log_position": result.log_position,
        "day": result.day,
        "outcome": result.outcome,
        "approval": result.approval,
        "planned": result.is_planned,
        "assurance": result.assurance or None,
        "stale": result.is_stale,
        "agent": result.agent_version,
        "policy": result.policy_name,
    }


def _table(table: Table) -> dict[str, Any]:
    card = table.scorecard
    return {
        "name": card.name,
        "version": card.version,
        "digest": card.digest,
        "benchmarks": [
            {
                "id": benchmark.id,
                "display_name": benchmark.display_name,
                "category": benchmark.category,
                "subcategory": benchmark.subcategory,
                "main": table.main_cell(benchmark).key,
            }
            for benchmark in card.benchmarks
        ],
        "cells": [
            {"key": c.key, "access": c.access, "binary": c.binary, "range": [c.low, c.high]}
            for c in card.cells
        ],
        "models": [_row(row) for row in table.rows],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "digest": row.digest,
        "name": row.model.name,
        "display_name": row.model.display_name,
        "organization": row.model.organization,
        "family": row.model.family,
        "parameters_millions": row.model.parameters_millions,
        "is_language_model": row.model.is_language_model,
        "mean_win_rate": row.win_rate,
        "macro_average": row.macro_average,
        "rank": row.rank,
        "ranges": asdict(row.ranges),
        "counts": asdict(row.counts),
        "coded_cells": row.coded,
        "sites_waiting": row.waiting,
        "cells": {key: _cell(cell) for key, cell in row.cells.items()},
    }


def _cell(cell: MergedCell) -> dict[str, Any]:
    """Return a cell as a JSON object; numbers that are missing are left out."""
    written = {name: value for name in _CELL_FIELDS if (value := getattr(cell, name)) is not None}
    return {_NAMES.get(name, name): value for name, value in written.items()}


_NAMES = {"units": "approximate_units", "why": "why_suppressed", "left_out": "sites_left_out"}
_CELL_FIELDS = tuple(field.name for field in fields(MergedCell))


def csv_file(board: Board) -> bytes:
    """Return the board as CSV with one line per cell. Values are in the metric's own range.

    `sites_with_partial_results` and `sites_with_unplanned_results` are counted per model over all
    benchmarks; all other numbers are per cell.
    """
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for table in board.tables:
        benchmarks = {benchmark.id: benchmark for benchmark in table.scorecard.benchmarks}
        for row in table.rows:
            for cell in table.scorecard.cells:
                writer.writerow(_line(table, row, cell, benchmarks[cell.benchmark]))
    return out.getvalue().encode("utf-8")


def _line(table: Table, row: Row, cell: Cell, benchmark: BenchmarkEntry) -> list[str | int]:
    merged = row.cells[cell.key]
    texts = [
        table.scorecard.name,
        table.scorecard.version,
        benchmark.category,
        benchmark.subcategory,
        cell.benchmark,
        cell.metric,
        cell.subgroup or "",
        cell.access,
        row.model.name,
        row.model.display_name,
        row.model.organization,
        row.model.family,
    ]
    tau = "" if merged.tau is None else f"{merged.tau * (cell.high - cell.low) / 1000:.3f}"
    return [
        *(without_formula(str(text)) for text in texts),
        row.model.parameters_millions or "",
        _say_yes(row.model.is_language_model),
        merged.state.value,
        *(in_range(part, cell) for part in (merged.value, merged.low, merged.high)),
        merged.units,
        merged.sites,
        merged.named_sites,
        merged.coded_sites,
        merged.left_out,
        "" if merged.why is None else merged.why.value,
        tau,
        "" if merged.i2_percent is None else merged.i2_percent,
        in_range(merged.prediction_low, cell),
        in_range(merged.prediction_high, cell),
        in_range(merged.leave_one_out_low, cell),
        in_range(merged.leave_one_out_high, cell),
        merged.since or "",
        merged.waiting,
        _say_yes(merged.rests_on_audit),
        row.partial,
        row.unplanned,
    ]


def _say_yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def without_formula(text: str) -> str:
    """Return text that spreadsheets do not interpret as a formula, prefixed with an apostrophe if necessary."""
    return f"'{text}" if _FORMULA.match(text) else text
