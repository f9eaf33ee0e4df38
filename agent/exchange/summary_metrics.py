"""Iterate over a run's metrics, also where it keeps each by two sets of rules."""

from collections.abc import Iterator

from agent.results.summarize import MetricSummary, RunSummary


def iter_metrics(summary: RunSummary) -> Iterator[MetricSummary]:
    """Yield every metric of a run, each followed by the same metric under HELM's rules where the run keeps both."""
    for metric in summary.metrics:
        yield metric
        if metric.twin is not None:
            yield metric.twin
