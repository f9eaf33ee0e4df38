"""The board's twins for machines: JSON with whole numbers only, and CSV that a spreadsheet cannot take for formulas."""

import csv
import io
import json
import re
from typing import Any

from aggregator.board.evidence import Replayed
from aggregator.board.figures import in_range
from aggregator.merge.pool import PooledCell
from aggregator.merge.table import Board, Row, Table

COLUMNS = (
    "scorecard", "version", "category", "benchmark", "metric", "subgroup", "access", "model", "display_name",
    "organization", "is_language_model", "state", "value", "low", "high", "approximate_units", "sites",
    "sites_left_out", "why_suppressed", "sites_with_partial_results", "sites_with_unplanned_results",
)  # fmt: skip
# A spreadsheet takes cells that begin so for a formula; some skip white space first, some read full-width signs.
_FORMULA = re.compile(r"\s*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def json_file(board: Board, replayed: Replayed) -> bytes:
    """Return the board as JSON. Values, intervals and win rates are thousandths of their range."""
    content = {
        "schema": 1,
        "deployment": replayed.registry.deployment,
        "registry": replayed.registry.version,
        "log": {"size": replayed.checkpoint.size, "root": replayed.checkpoint.root.hex()},
        "scorecards": [_table(table) for table in board.tables],
        "results_of_named_sites": [
            {
                "site": c.site,
                "site_name": c.site_name,
                "model": c.model.name,
                "scorecard": c.scorecard.name,
                "scorecard_version": c.scorecard.version,
                "log_position": c.result.position,
                "day": c.result.predicate.day,
                "outcome": c.result.predicate.outcome,
                "approval": c.result.predicate.approval,
                "planned": c.result.is_planned,
                "agent": c.agent_version,
                "policy": c.policy_name,
            }
            for c in board.contributions
        ],
        "pooled_sites": board.pooled_sites,
        "revoked_log_positions": list(board.revoked),
        "withdrawn_results": [
            {"log_position": w.position, "withdrawn_at": w.withdrawn_at, "reason": w.reason} for w in board.withdrawn
        ],
    }
    return json.dumps(content, indent=1, sort_keys=True).encode() + b"\n"


def _table(table: Table) -> dict[str, Any]:
    card = table.scorecard
    return {
        "name": card.name,
        "version": card.version,
        "digest": card.digest,
        "benchmarks": [
            {"id": b.id, "display_name": b.display_name, "category": b.category, "main": table.main_cell(b).key}
            for b in card.benchmarks
        ],
        "cells": [{"key": c.key, "access": c.access, "binary": c.binary, "range": [c.low, c.high]} for c in card.cells],
        "models": [_row(row) for row in table.rows],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "digest": row.digest,
        "name": row.model.name,
        "display_name": row.model.display_name,
        "organization": row.model.organization,
        "is_language_model": row.model.is_language_model,
        "mean_win_rate": row.win_rate,
        "sites": row.sites,
        "sites_with_partial_results": row.partial,
        "sites_with_unplanned_results": row.unplanned,
        "cells": {key: _cell(cell) for key, cell in row.cells.items()},
    }


def _cell(cell: PooledCell) -> dict[str, Any]:
    return {
        "state": cell.state,
        "value": cell.value,
        "low": cell.low,
        "high": cell.high,
        "approximate_units": cell.units,
        "sites": cell.sites,
        "sites_left_out": cell.left_out,
        "why_suppressed": cell.why,
    }


def csv_file(board: Board) -> bytes:
    """Return every cell as a line, values in the metric's own range.

    `sites_with_partial_results` and `sites_with_unplanned_results` are the model's, over all benchmarks; all other
    numbers are the cell's.
    """
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for table in board.tables:
        categories = {benchmark.id: benchmark.category for benchmark in table.scorecard.benchmarks}
        for row in table.rows:
            for cell in table.scorecard.cells:
                pooled = row.cells[cell.key]
                figures = [in_range(part, cell) for part in (pooled.value, pooled.low, pooled.high)]
                writer.writerow(
                    [
                        without_formula(table.scorecard.name),
                        table.scorecard.version,
                        without_formula(categories[cell.benchmark]),
                        without_formula(cell.benchmark),
                        without_formula(cell.metric),
                        without_formula(cell.subgroup or ""),
                        cell.access,
                        without_formula(row.model.name),
                        without_formula(row.model.display_name),
                        without_formula(row.model.organization),
                        "yes" if row.model.is_language_model else "no",
                        pooled.state,
                        *figures,
                        pooled.units,
                        pooled.sites,
                        pooled.left_out,
                        pooled.why or "",
                        row.partial,
                        row.unplanned,
                    ]
                )
    return out.getvalue().encode("utf-8")


def without_formula(text: str) -> str:
    """Return text that no spreadsheet reads as a formula: one that could be gets an apostrophe before it."""
    return f"'{text}" if _FORMULA.match(text) else text
