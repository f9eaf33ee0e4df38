"""The page /metrics in the text format of Prometheus: answers of the service, counts of all commands, and the gauges.

Names and labels of answers are those of the aggregator.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import generate_latest

from agent.monitoring.counters import COUNTERS, TIMERS, Timer
from agent.monitoring.shared_counts import CountReader
from agent.service.web.gauges import Gauge, Levels, SiteGauges
from agent.service.web.readiness import Readiness
from agent.site.directory import Site
from agent.store import Store

_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class ServiceMetrics:
    """What the page shows. One thread at a time makes it.

    Args:
        find_site: returns the site.
        readiness: the checks of the service.
    """

    def __init__(self, find_site: Callable[[], Site], readiness: Readiness) -> None:
        self._turn = threading.Lock()
        self._gauges = SiteGauges(find_site, readiness)
        self._counts = CountReader(find_site().counts)
        self._own = CollectorRegistry()
        self._answers = Counter(
            "intramural_answers",
            "Requests answered.",
            ["method", "route", "status"],
            registry=self._own,
        )
        self._seconds = Histogram(
            "intramural_answer_seconds",
            "Seconds from a request's head to its response, including waiting.",
            ["method"],
            buckets=_SECONDS,
            registry=self._own,
        )
        ProcessCollector(registry=self._own)

    def count_answer(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a response. Status 0 means that the client went away before there was one."""
        self._answers.labels(method, route, str(status)).inc()
        self._seconds.labels(method).observe(seconds)

    def render(self, store: Store) -> bytes:
        """Return the page."""
        page = CollectorRegistry()
        with self._turn:
            page.register(_Counts(self._counts.read_totals()))
            page.register(_Gauges(list(self._gauges.read(store))))
        return generate_latest(self._own) + generate_latest(page)

    def close(self) -> None:
        """Let commands know that nobody reads their counts any more."""
        self._counts.close()


class _Counts:
    """The counters of all commands, each with all values of its label, also those that were never counted."""

    def __init__(self, totals: dict[str, float]) -> None:
        self._totals = totals

    def collect(self) -> Iterator[Metric]:
        for counter in COUNTERS:
            family = CounterMetricFamily(
                counter.name, counter.meaning, labels=[counter.label] if counter.label else []
            )
            for value in counter.values:
                total = self._totals.get(counter.name_total(value), 0.0)
                family.add_metric([value] if counter.label else [], total)
            yield family
        for timer in TIMERS:
            yield self._describe_timer(timer)

    def _describe_timer(self, timer: Timer) -> Metric:
        buckets: list[tuple[str, float]] = []
        count = 0.0
        for number, bound in enumerate((*timer.bounds, float("inf"))):
            count += self._totals.get(timer.name_total(number), 0.0)
            buckets.append(("+Inf" if bound == float("inf") else str(bound), count))
        family = HistogramMetricFamily(timer.name, timer.meaning)
        family.add_metric([], buckets, self._totals.get(timer.name_sum(), 0.0))
        return family


class _Gauges:
    """The state of the site as it was read."""

    def __init__(self, levels: list[tuple[Gauge, Levels]]) -> None:
        self._levels = levels

    def collect(self) -> Iterator[Metric]:
        for gauge, values in self._levels:
            family = GaugeMetricFamily(
                gauge.name, gauge.meaning, labels=[gauge.label] if gauge.label else []
            )
            for value, number in values.items():
                family.add_metric([value] if gauge.label else [], number)
            yield family
