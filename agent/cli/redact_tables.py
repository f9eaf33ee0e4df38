"""Table rows for the measurements of redaction."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.redaction.measuring.bench import Bench
    from agent.redaction.measuring.comparison import EngineComparison
    from agent.redaction.measuring.measures import RedactionFigures
    from agent.redaction.measuring.utility import Utility
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
            *_utility_rows(engine, figures.utility),
            _share(engine, "token precision", figures.utility.token_precision),
            _figure(engine, "F2 of characters", figures.texts, figures.f2),
            _figure(engine, "recall of characters", figures.texts, figures.recall),
            _figure(engine, "precision of characters", figures.texts, figures.precision),
        ]
        if engine in costs:
            cost = costs[engine]
            rows += _cost_rows(engine, figures.texts, cost)
    return rows


def plain_rows(engine: str, figures: "RedactionFigures", cost: "Bench") -> list[dict[str, Any]]:
    """Return the rows of one engine for texts without identifiers: what it removes by kind, then its cost."""
    utility = figures.utility
    by_kind = [
        _figure(
            engine, f"tags per 1,000 harmless words, {kind}", utility.words, utility.find_rate(tags)
        )
        for kind, tags in utility.tags.items()
    ]
    touched = _share(engine, "texts touched", figures.over)
    rate, changed = _utility_rows(engine, utility)
    return [rate, *by_kind, touched, changed, *_cost_rows(engine, figures.texts, cost)]


def comparison_rows(
    engine: str, other: str, comparison: "EngineComparison"
) -> list[dict[str, Any]]:
    """Return the rows that compare two engines on the same texts."""
    counts = {
        "texts clean with both": comparison.both,
        f"texts clean only with {engine}": comparison.only_a,
        f"texts clean only with {other}": comparison.only_b,
        "texts clean with neither": comparison.neither,
    }
    title = f"{engine} / {other}"
    difference = _figure(
        title, "difference of texts clean", comparison.texts, comparison.difference
    )
    return [
        *(_figure(title, measure, comparison.texts, count) for measure, count in counts.items()),
        {**difference, "low": comparison.low, "high": comparison.high},
        _figure(title, "p of McNemar's exact test", comparison.texts, comparison.p),
    ]


def _utility_rows(engine: str, utility: "Utility") -> list[dict[str, Any]]:
    """Return the rows for the rate of tags and for changed texts."""
    rate = utility.tags_per_1000_words
    return [
        _figure(engine, "tags per 1,000 harmless words", utility.words, rate),
        _share(engine, "options, numbers or units changed", utility.changed),
    ]


def _cost_rows(engine: str, texts: int, cost: "Bench") -> list[dict[str, Any]]:
    return [
        _figure(engine, "texts withheld", texts, cost.withheld.total()),
        _figure(engine, "kchar a second of CPU", texts, cost.kchar_s),
        _figure(engine, "MB at most", 1, cost.peak_mb),
        _figure(engine, "s to the first text", 1, cost.start_s),
        _figure(engine, "s of CPU to the first text", 1, cost.start_cpu_s),
    ]


def _share(engine: str, measure: str, mean: "Mean") -> dict[str, Any]:
    return {**_figure(engine, measure, mean.n, mean.value), "low": mean.low, "high": mean.high}


def _figure(engine: str, measure: str, n: int, value: float | None) -> dict[str, Any]:
    return {"engine": engine, "measure": measure, "n": n, "value": value, "low": None, "high": None}
