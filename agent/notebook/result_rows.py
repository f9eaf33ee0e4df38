"""Rows of leaderboards, comparisons and agreement with single values, made from those of the command line."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent.results.agreement_rows import build_agreement_row, build_bias_row
from agent.results.comparison_rows import flatten_comparison_row
from agent.results.judge_agreement import Agreement, Bias
from agent.results.summary_rows import flatten_summary_row


def flatten_leaderboard(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a leaderboard, made by `build_summary_rows`, with single values."""
    for row in rows:
        standing = row["standing"] or {}
        flat = _drop_empty(flatten_summary_row(row))
        flat["rank_low"], flat["rank_high"] = row["rank"] or (None, None)
        flat["model_rank_low"], flat["model_rank_high"] = standing.get("rank") or (None, None)
        flat["runs"] = len(row["runs"])
        yield flat


def flatten_comparison(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a comparison, made by `build_comparison_rows`, with single values."""
    for row in rows:
        yield _drop_empty(flatten_comparison_row(row))


def flatten_agreement(agreements: Iterable[Agreement]) -> Iterator[dict[str, Any]]:
    """Yield a row for each criterion of a jury."""
    for agreement in agreements:
        row = build_agreement_row(agreement)
        judges, silent = "; ".join(row["judges"]), "; ".join(row["silent"])
        yield _drop_empty({**row, "judges": judges, "silent": silent})


def flatten_biases(biases: Iterable[Bias]) -> Iterator[dict[str, Any]]:
    """Yield a row for each check for bias."""
    for bias in biases:
        yield _drop_empty(build_bias_row(bias))


def _drop_empty(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with None in place of empty texts: for pandas, a text that does not exist is missing."""
    return {key: None if value == "" else value for key, value in row.items()}
