"""The state of a site in numbers, for monitoring systems: a closed list of gauges that name nothing and nobody."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509

from agent import __version__
from agent.delivery.membership import Federation
from agent.delivery.outbox import Outbox, State
from agent.errors import AgentError
from agent.io.disk_room import find_room
from agent.service.web.readiness import CHECKS, Readiness
from agent.site.directory import Site
from agent.store import JobState, Store
from protocol.registry import Registry

_DAY_S: Final = 86_400.0
_SLOW_S: Final = 60.0  # for what takes reading files, or changes rarely


@dataclass(frozen=True, slots=True)
class Gauge:
    """A number that may grow and shrink, for each value of a label.

    Attributes:
        name: its name on the page /metrics.
        meaning: what it says, in words.
        label: the label's name; empty for a gauge without one.
        values: all values of the label.
    """

    name: str
    meaning: str
    label: str = ""
    values: tuple[str, ...] = ("",)


READY = Gauge(
    "intramural_ready", "Whether a check of /readyz passes: 1, or else 0.", "check", CHECKS
)
JOBS = Gauge(
    "intramural_jobs",
    "Jobs of the queue, and those that ended within keep_jobs_days.",
    "state",
    tuple(state.value for state in JobState),
)
OLDEST_QUEUED = Gauge(
    "intramural_oldest_queued_job_seconds",
    "Seconds for which the job that has waited longest waits; 0 if none does.",
)
STORE_SIZE = Gauge("intramural_store_bytes", "Size of the store's files.")
DISK_FREE = Gauge("intramural_disk_free_bytes", "Free room on the disk of the site's directory.")
DISK_SIZE = Gauge("intramural_disk_size_bytes", "Size of the disk of the site's directory.")
SUBMISSIONS = Gauge(
    "intramural_submissions",
    "Signed statements and drafts, by state.",
    "state",
    tuple(state.value for state in State),
)
LAST_RECEIPT = Gauge(
    "intramural_last_receipt_timestamp_seconds",
    "When the last receipt of the aggregator arrived; 0 if none has.",
)
LAST_PURGE = Gauge(
    "intramural_last_purge_timestamp_seconds",
    "When texts were last purged because of their age; 0 if they never were.",
)
KEEP_TEXTS = Gauge(
    "intramural_keep_texts_seconds",
    "keep_texts_days of the settings, after which texts are to be purged; 0 if it is not set.",
)
CLOCK = Gauge("intramural_clock_timestamp_seconds", "The time by this machine's clock.")
SETBACK = Gauge(
    "intramural_clock_setback_seconds",
    "Seconds by which this machine's clock is behind the latest time that the site has seen.",
)
CLOCK_FAULT = Gauge(
    "intramural_clock_fault",
    "Whether this machine's clock disagrees with the site's store by more than a day, so that nothing is run, planned "
    "or purged: 1, or else 0.",
)
CERTIFICATE = Gauge(
    "intramural_certificate_expiry_timestamp_seconds",
    "When the certificate of service_tls_certificate expires; missing without one.",
)
REGISTRY = Gauge(
    "intramural_registry_expiry_timestamp_seconds",
    "When the federation's newest registry that this site has expires; missing outside of a federation.",
)
BUILD = Gauge("intramural_build_info", "The agent's version.", "version", (__version__,))
GAUGES: Final = (
    READY,
    JOBS,
    OLDEST_QUEUED,
    STORE_SIZE,
    DISK_FREE,
    DISK_SIZE,
    SUBMISSIONS,
    LAST_RECEIPT,
    LAST_PURGE,
    KEEP_TEXTS,
    CLOCK,
    SETBACK,
    CLOCK_FAULT,
    CERTIFICATE,
    REGISTRY,
    BUILD,
)
"""The closed list."""

Levels = Mapping[str, float]
"""The values of a gauge by the value of its label."""


class SiteGauges:
    """Reads the gauges of a site.

    Args:
        find_site: returns the site.
        readiness: the checks of the service.
        clock: returns the time in seconds since 1970.
    """

    def __init__(
        self,
        find_site: Callable[[], Site],
        readiness: Readiness,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._find_site = find_site
        self._readiness = readiness
        self._clock = clock
        self._slow: dict[Gauge, Levels] = {}
        self._slow_at = 0.0
        self._events = _LatestEvents()

    def read(self, store: Store) -> Iterator[tuple[Gauge, Levels]]:
        """Yield the gauges with their values; what takes reading files is up to a minute old. Not for two threads."""
        site, now = self._find_site(), self._clock()
        checks = self._readiness.check()
        yield READY, {name: float(passed) for name, passed in checks.items()}
        yield JOBS, {state.value: count for state, count in store.jobs.count_states().items()}
        queued_at = store.jobs.find_oldest_queued()
        yield OLDEST_QUEUED, {"": 0.0 if queued_at is None else max(0.0, now - queued_at)}
        yield STORE_SIZE, {"": _measure_store(store.database.path)}
        room = find_room(site.directory)
        yield DISK_FREE, {"": room.free}
        yield DISK_SIZE, {"": room.total}
        yield KEEP_TEXTS, {"": (site.settings.keep_texts_days or 0) * _DAY_S}
        yield CLOCK, {"": now}
        latest = max(store.clock.read_latest(), store.sessions.read_latest_time())
        yield SETBACK, {"": max(0.0, latest - now)}
        yield CLOCK_FAULT, {"": float(store.clock.find_fault() is not None)}
        yield BUILD, {__version__: 1.0}
        if not self._slow or time.monotonic() - self._slow_at > _SLOW_S:
            self._slow = dict(self._read_slowly(site, store))
            self._slow_at = time.monotonic()
        yield from self._slow.items()

    def _read_slowly(self, site: Site, store: Store) -> Iterator[tuple[Gauge, Levels]]:
        self._events.read(store)
        yield LAST_RECEIPT, {"": self._events.last_receipt}
        yield LAST_PURGE, {"": self._events.last_purge}
        submissions = _count_submissions(site)
        if submissions is not None:
            yield SUBMISSIONS, submissions
        for gauge, expires_at in (
            (CERTIFICATE, _find_certificate_expiry(site)),
            (REGISTRY, _find_registry_expiry(site)),
        ):
            if expires_at is not None:
                yield gauge, {"": expires_at}


class _LatestEvents:
    """The times of the last receipt and the last purge in the audit log, of which each event is read once."""

    def __init__(self) -> None:
        self.last_receipt = 0.0
        self.last_purge = 0.0
        self._number = 0

    def read(self, store: Store) -> None:
        """Read the events that are new."""
        for event in store.audit.read_later(self._number):
            self._number = event.number
            if event.event == "submission receipted":
                self.last_receipt = float(event.at)
            elif event.event == "purge":
                self.last_purge = float(event.at)


def _measure_store(path: Path) -> float:
    """Return the size of the store's files: the database and its write-ahead log."""
    size = 0
    for file in path.parent.glob(f"{path.name}*"):
        try:
            size += file.stat().st_size
        except FileNotFoundError:
            continue  # the log was merged meanwhile
    return float(size)


def _count_submissions(site: Site) -> Levels | None:
    """Return the number of statements in each state; None if a file was changed, which `doctor` reports."""
    counts = dict.fromkeys((state.value for state in State), 0.0)
    try:
        for submission in Outbox(site.submissions).list_submissions():
            counts[submission.state.value] += 1
    except (AgentError, OSError):
        return None
    return counts


def _find_certificate_expiry(site: Site) -> float | None:
    certificate = site.settings.service_tls_certificate
    if certificate is None:
        return None
    try:
        chain = x509.load_pem_x509_certificates((site.directory / certificate).read_bytes())
    except (OSError, ValueError):
        return None
    return chain[0].not_valid_after_utc.timestamp()


def _find_registry_expiry(site: Site) -> float | None:
    federation = Federation(site.submissions)
    try:
        if not federation.is_member:
            return None
        newest = federation.read_trusted()
    except (AgentError, OSError):
        return None
    if not isinstance(newest, Registry):
        return None
    return newest.expires_day * _DAY_S
