"""Rows of a comparison of two models: nested for JSON and flat for spreadsheets."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent.results.summary_rows import build_bounds

if TYPE_CHECKING:
    from agent.results.compare_models import BenchmarkComparison, ModelComparison
    from agent.statistics.paired import MeanDifference

ALL = "all together"  # the name of the row over all benchmarks


def build_comparison_rows(comparison: "ModelComparison") -> list[dict[str, Any]]:
    """Return a JSON row for each benchmark and, if there are several, one for all of them together."""
    from agent.results.compare_models import shows_difference

    rows = [_build_row(benchmark) for benchmark in comparison.benchmarks]
    overall = comparison.overall
    if overall is not None and len(overall.counted) > 1:
        words = "no difference seen"
        if shows_difference(overall, overall.p):
            words = "A better" if overall.value > 0 else "B better"
        row: dict[str, Any] = dict.fromkeys(rows[0])
        row |= {
            "benchmark": ALL,
            "difference": overall.value,
            "low": overall.low,
            "high": overall.high,
            "p": overall.p,
            "benchmarks": len(overall.counted),
            "words": words,
        }
        rows.append(row)
    return rows


def _build_row(comparison: "BenchmarkComparison") -> dict[str, Any]:
    paired, difference = comparison.paired, comparison.difference
    side_a, side_b = paired.side_a, paired.side_b
    return {
        "benchmark": paired.benchmark,
        "benchmarks": 1,
        "metric": paired.metric.name,
        "scale": [paired.metric.low, paired.metric.high],
        **_build_difference(difference),
        "holm_p": comparison.holm_p,
        "better_a": difference.better_a,
        "better_b": difference.better_b,
        "units_needed": difference.needed,
        "unscored_a": dict(side_a.unscored),
        "unscored_b": dict(side_b.unscored),
        "inapplicable_a": side_a.inapplicable,
        "inapplicable_b": side_b.inapplicable,
        "only_a": side_a.only,
        "only_b": side_b.only,
        "seats_empty_a": side_a.seats_empty,
        "seats_empty_b": side_b.seats_empty,
        "floor": None if comparison.at_floor is None else _build_difference(comparison.at_floor),
        "without_family": None
        if comparison.without_family is None
        else _build_difference(comparison.without_family),
        "bounds": build_bounds(comparison.bounds),
        "stands_in": paired.stands_in,
        "family_a": list(side_a.family),
        "family_b": list(side_b.family),
        "runs_a": list(side_a.runs),
        "runs_b": list(side_b.runs),
        "words": comparison.describe(),
    }


def _build_difference(difference: "MeanDifference") -> dict[str, Any]:
    return {
        "n": difference.n,
        "units": difference.units,
        "mean_a": difference.mean_a,
        "mean_b": difference.mean_b,
        "difference": difference.value,
        "low": difference.low,
        "high": difference.high,
        "interval": difference.method,
        "p": difference.p,
        "test": difference.test,
        "exact_p": difference.exact_p,
        "detectable": difference.detectable,
    }


def flatten_comparison_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with lists and maps flattened to single values, for a spreadsheet."""
    maps = ("floor", "without_family", "bounds", "scale")
    flat = {key: value for key, value in row.items() if key not in (*maps, "words")}
    for key in ("unscored_a", "unscored_b"):
        flat[key] = _format_counts(row[key] or {})
    for key in ("family_a", "family_b", "runs_a", "runs_b"):
        flat[key] = " ".join(row[key] or ())
    scale_low, scale_high = row["scale"] or (None, None)
    flat |= {"scale_low": scale_low, "scale_high": scale_high}
    for name in ("floor", "without_family"):
        difference = row[name] or {}
        for key in ("n", "difference", "low", "high", "p"):
            flat[f"{name}_{key}"] = difference.get(key)
    bounds = row["bounds"] or {}
    flat |= {"least": bounds.get("low"), "most": bounds.get("high")}
    flat["words"] = row["words"]  # last, as it is the longest
    return flat


def _format_counts(reasons: Mapping[str, int]) -> str:
    return " ".join(f"{reason}={count}" for reason, count in reasons.items())
