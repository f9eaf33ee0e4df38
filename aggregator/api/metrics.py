"""Metrics of the service for Prometheus, such as requests, refusals and log size, without sites, addresses or payloads.

With several workers, each writes its own files in the folder named by PROMETHEUS_MULTIPROC_DIR, and
any of them can add up the values. `prometheus_client` reads that variable when it is first
imported, so it must be imported after the workers have been forked.
"""

import os
from typing import TYPE_CHECKING

from starlette.types import Scope

from protocol.errors import Code

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

SHARED_FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
TOO_MANY_REQUESTS, OVERLOADED = TURNED_AWAY_CODES = ("too_many_requests", "overloaded")
SECONDS_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The counters of one process. `render` returns the sums over all workers."""

    def __init__(self) -> None:
        """Create the counters, all zero."""
        from prometheus_client import CollectorRegistry, Counter, Histogram

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
            buckets=SECONDS_BUCKETS,
            registry=self._own,
        )
        self._refused = Counter(
            "intramural_refusals", "Refused statements, by code.", ["code"], registry=self._own
        )
        for code in Code:  # from zero, so that a monitoring system notices the first refusal
            self._refused.labels(code.value)
        self._turned_away = Counter(
            "intramural_turned_away",
            "Requests rejected without being processed.",
            ["code"],
            registry=self._own,
        )
        for turned_away in TURNED_AWAY_CODES:
            self._turned_away.labels(turned_away)

    def count_answer(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a response. Status 0 means that the client disconnected before there was one."""
        route = scope.get("route")
        path = route.path if route is not None else "unknown"
        method = scope["method"] if scope["method"] in {"GET", "HEAD", "POST"} else "other"
        self._answers.labels(method, path, str(status)).inc()
        self._seconds.labels(method).observe(seconds)

    def count_refusal(self, code: str) -> None:
        """Count a statement refused with this code."""
        self._refused.labels(code).inc()

    def count_turned_away(self, code: str) -> None:
        """Count a request that was rejected without being processed."""
        self._turned_away.labels(code).inc()

    def render(self, state: dict[str, float]) -> bytes:
        """Return the page for Prometheus.

        Args:
            state: Current values from the database by name, the same for every worker.
        """
        from prometheus_client import CollectorRegistry, generate_latest

        page = CollectorRegistry()
        page.register(_State(state))
        return generate_latest(self._collect_all()) + generate_latest(page)

    def _collect_all(self) -> "CollectorRegistry":
        if SHARED_FOLDER_VARIABLE not in os.environ:
            return self._own
        from prometheus_client import CollectorRegistry
        from prometheus_client.multiprocess import MultiProcessCollector

        everybody = CollectorRegistry()
        MultiProcessCollector(everybody)  # type: ignore[no-untyped-call]
        return everybody


STATE_HELP = {
    "intramural_log_entries": "Entries in the log.",
    "intramural_registry_version": "Version of the registry in force.",
    "intramural_registry_days_left": "Days until the registry in force expires; 0 once it has.",
    "intramural_registry_expiry_timestamp_seconds": "When the registry in force expires.",
    "intramural_requests_waiting": "Enrolments, resets and rotations that await approval.",
    "intramural_disk_free_bytes": "Free room on the disk of the aggregator's directory.",
    "intramural_disk_size_bytes": "Size of the disk of the aggregator's directory.",
    "intramural_clock_timestamp_seconds": "The time by this machine's clock.",
}


class _State:
    """Values read from the database for one page."""

    def __init__(self, state: dict[str, float]) -> None:
        self._state = state

    def collect(self) -> "list[Metric]":
        from prometheus_client.core import GaugeMetricFamily

        return [
            GaugeMetricFamily(name, STATE_HELP[name], value) for name, value in self._state.items()
        ]
