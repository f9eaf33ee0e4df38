"""A run's metrics one by one, also where it keeps each by two sets of rules."""

from collections.abc import Iterator

from agent.results.summarize import MetricSummary, RunSummary


def each_metric(summary: RunSummary) -> Iterator[MetricSummary]:
    """Yield every metric of a run, each followed by itself by HELM's rules where the run keeps both."""
    for metric in summary.metrics:
        yield metric
        if metric.twin is not None:
            yield metric.twin
