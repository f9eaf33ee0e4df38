"""The summary of a run, by hand."""

from agent.results.summarize import MetricSummary, RunSummary
from agent.statistics.intervals import Mean
from agent.store import Run, RunDetails


def of(
    model: str, value: float | None, unscored: dict[str, int], n: int = 10, **details: object
) -> RunSummary:
    kept = {"data": {"known": "official", "digest": "d", "instances": 100}, "scoring": "intramural"}
    run = Run(
        "r",
        "s",
        f"x:model={model}",
        "x",
        model,
        "local/m",
        RunDetails.from_json(kept | details),
        "ended",
        0,
        0,
    )
    return RunSummary(
        run, (MetricSummary("m", "M", 0, 1, Mean(n, n, value, None, None, "none"), unscored),)
    )
