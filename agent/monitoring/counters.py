"""What is counted for monitoring systems: a closed list of counters, each with at most one label of few fixed values.

Counting takes about a microsecond and remembers numbers only. No label names a site, model, host, file or person.
"""

import bisect
import threading
from collections.abc import Collection, Mapping
from typing import Final

from agent.vocabulary import Reason

_lock = threading.Lock()
_totals: dict[str, float] = {}
_SEPARATOR: Final = "|"


class Counter:
    """A number that only grows, for each value of a label.

    Args:
        name: its name on the page /metrics, without "_total".
        meaning: what it counts, in words.
        label: the label's name; empty for a counter without one.
        values: all values of the label.
    """

    def __init__(
        self, name: str, meaning: str, label: str = "", values: Collection[str] = ("",)
    ) -> None:
        self.name = name
        self.meaning = meaning
        self.label = label
        self.values = tuple(values)
        COUNTERS.append(self)

    def add(self, amount: float = 1.0, value: str = "") -> None:
        """Add to the counter; a value that the label does not have is not counted."""
        if value in self.values:
            _add({self.name_total(value): amount})

    def name_total(self, value: str) -> str:
        """Return the name under which the total for a value is kept."""
        return f"{self.name}{_SEPARATOR}{value}"


class Timer:
    """Counts durations by their length.

    Args:
        name: its name on the page /metrics.
        meaning: what is timed, in words.
        bounds: upper bounds of the lengths in seconds, growing.
    """

    def __init__(self, name: str, meaning: str, bounds: Collection[float]) -> None:
        self.name = name
        self.meaning = meaning
        self.bounds = tuple(bounds)
        TIMERS.append(self)

    def add(self, seconds: float) -> None:
        """Count a duration."""
        number = bisect.bisect_left(self.bounds, seconds)
        _add({self.name_total(number): 1.0, self.name_sum(): seconds})

    def name_total(self, number: int) -> str:
        """Return the name under which the number of durations up to a bound, and above the one before, is kept."""
        return f"{self.name}{_SEPARATOR}{number}"

    def name_sum(self) -> str:
        """Return the name under which the sum of all durations is kept."""
        return f"{self.name}{_SEPARATOR}sum"


COUNTERS: Final[list[Counter]] = []
"""The closed list."""
TIMERS: Final[list[Timer]] = []

INSTANCES = Counter(
    "intramural_instances",
    "Instances of runs that were asked, or could not be.",
    "outcome",
    ("answered", "failed", "not_answerable"),
)
UNSCORED = Counter(
    "intramural_unscored",
    "Answers without a score by the main metric.",
    "reason",
    [reason.value for reason in Reason],
)
SERVER_REQUESTS = Counter(
    "intramural_server_requests",
    "Attempts to ask a model server or judge.",
    "outcome",
    ("ok", "client_error", "server_error", "timeout", "unreachable", "broken", "too_long"),
)
SERVER_SECONDS = Timer(
    "intramural_server_request_seconds",
    "Seconds from a request to a model server or judge to its whole reply.",
    (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0),
)
SEATS = Counter(
    "intramural_judged_seats",
    "Seats of juries that were filled.",
    "outcome",
    ("valid", "invalid", "no_reply", "withheld"),
)
REDACTED_TEXTS = Counter("intramural_redacted_texts", "Texts that went through redaction.")
REDACTED_CHARACTERS = Counter(
    "intramural_redacted_characters", "Characters of texts that went through redaction."
)
REDACTION_SECONDS = Counter("intramural_redaction_seconds", "Seconds that redaction took.")
WITHHELD_TEXTS = Counter(
    "intramural_withheld_texts",
    "Texts that redaction withheld as a whole.",
    "reason",
    ("too_long", "time_limit", "undecodable", "language", "no_model", "engine_error"),
)
STATEMENTS = Counter(
    "intramural_statements",
    "Attempts to send a signed statement to the aggregator.",
    "outcome",
    ("receipt", "pending", "failed"),
)
ALERTS = Counter(
    "intramural_alerts",
    "Attempts to deliver an alert.",
    "outcome",
    ("sent", "failed", "given_up"),
)


def _add(amounts: Mapping[str, float]) -> None:
    with _lock:
        for name, amount in amounts.items():
            _totals[name] = _totals.get(name, 0.0) + amount


def read_totals() -> dict[str, float]:
    """Return all totals of this process since it began."""
    with _lock:
        return dict(_totals)


def list_totals() -> frozenset[str]:
    """Return the names of all totals that may exist."""
    names = {counter.name_total(value) for counter in COUNTERS for value in counter.values}
    for timer in TIMERS:
        names |= {timer.name_total(number) for number in range(len(timer.bounds) + 1)}
        names.add(timer.name_sum())
    return frozenset(names)
