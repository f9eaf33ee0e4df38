"""Table rows for the measurements of redaction."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.redaction.measuring.bench import Bench
    from agent.redaction.measuring.measures import RedactionFigures
    from agent.statistics.intervals import Mean

COLUMNS = {
    "engine": "Engine",
    "measure": "Measure",
    "n": "n",
    "value": "Figure",
    "low": "Low",
    "high": "High",
}


def bench_rows(
    found: Mapping[str, "RedactionFigures"], costs: Mapping[str, "Bench"]
) -> list[dict[str, Any]]:
    """Return one row per measurement and engine: first recall by kind with intervals, then speed and memory."""
    rows = []
    for engine, figures in found.items():
        rows += [_share(engine, "core recall", figures.all.core)]
        rows += [
            _share(engine, f"core recall, {kind}", recall.core)
            for kind, recall in figures.kinds.items()
        ]
        rows += [
            _share(engine, "full recall", figures.all.full),
            _share(engine, "texts clean", figures.clean),
            _share(engine, "over-redaction", figures.over),
            _figure(engine, "F2 of characters", figures.texts, figures.f2),
            _figure(engine, "recall of characters", figures.texts, figures.recall),
            _figure(engine, "precision of characters", figures.texts, figures.precision),
        ]
        if engine in costs:
            cost = costs[engine]
            rows += [
                _figure(engine, "texts withheld", figures.texts, cost.withheld.total()),
                _figure(engine, "kchar a second of CPU", figures.texts, cost.kchar_s),
                _figure(engine, "MB at most", 1, cost.peak_mb),
                _figure(engine, "s to the first text", 1, cost.start_s),
                _figure(engine, "s of CPU to the first text", 1, cost.start_cpu_s),
            ]
    return rows


def _share(engine: str, measure: str, mean: "Mean") -> dict[str, Any]:
    return {**_figure(engine, measure, mean.n, mean.value), "low": mean.low, "high": mean.high}


def _figure(engine: str, measure: str, n: int, value: float | None) -> dict[str, Any]:
    return {"engine": engine, "measure": measure, "n": n, "value": value, "low": None, "high": None}
