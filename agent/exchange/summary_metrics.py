"""Iterate over a run's metrics, including those scored by two sets of rules."""

from collections.abc import Iterator

from agent.results.summarize import MetricSummary, RunSummary


def iter_metrics(summary: RunSummary) -> Iterator[MetricSummary]:
    """Yield every metric of a run, followed by the same metric under HELM's rules if the run was scored by both."""
    for metric in summary.metrics:
        yield metric
        if metric.twin is not None:
            yield metric.twin
