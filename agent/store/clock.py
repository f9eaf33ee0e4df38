"""The store's clock: the times of its rows never go back, and a clock of the machine that was set wrong is noticed.

`purge` deletes texts by the times at which they were stored. A machine whose clock is wrong would delete texts of
minutes ago, or keep others for years. The store therefore remembers the latest time it saw and, within one start of
the machine, how many seconds really passed. If the clock disagrees with either by more than a day, nothing is stamped
with it until a person has set the clock, or has declared it to be right (`accept`).

Nothing but the clock vouches for the time during which a machine was switched off. Such a leap is believed, but if it
is longer than `LONGEST_GAP_S`, texts are not purged by their age until a person has confirmed it.

Rows are stamped in the order in which they are written, with times that never decrease. So their times are also the
order of writing.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from agent.errors import ClockError, StoreError
from agent.io.machine_clock import ClockReading, read_clock
from agent.store.database import Database

DAY_S: Final = 86_400
TOLERATED_S: Final = DAY_S
"""Seconds by which the machine's clock may disagree: time servers correct it, and people change time zones."""
_STEP_S: Final = 3600  # seconds between two writes of the time at which a date was asked for
_PATIENCE_S: Final = 0.1  # seconds that such a write waits for others
LONGEST_GAP_S: Final = 35 * DAY_S
"""Seconds without a sign of life after which a purge asks: a monthly timer on a machine that is often off is fine."""

STAMPED: Final = {
    "alert_conditions": ("since",),
    "alert_events": ("at",),
    "alert_messages": ("made_at", "next_at", "ended_at"),
    "answers": ("created_at",),
    "api_tokens": ("created_at", "used_at", "ended_at"),
    "calibrations": ("made_at",),
    "copies": ("made_at",),
    "jobs": ("queued_at", "started_at", "ended_at"),
    "judgements": ("created_at",),
    "leaderboards": ("imported_at",),
    "programs": ("at",),
    "ratings": ("imported_at",),
    "purges": ("at",),
    "records": ("last_used_at",),
    "releases": ("made_at",),
    "restorations": ("made_at", "restored_at", "ended_at"),
    "reviews": ("made_at",),
    "runs": ("started_at", "ended_at"),
    "schedules": ("made_at", "considered_until"),
}
"""Columns that say when something happened, so that a time in the future is wrong."""


@dataclass(frozen=True, slots=True)
class SeenTime:
    """What the store has seen of the time.

    Attributes:
        latest_at: the latest time, in seconds since 1970.
        boot: the start of the machine in which the next two were read; "" if it is not known.
        boot_now: what the clock said then.
        boot_uptime_s: seconds that had passed since that start.
        leap_from: the latest time before a leap that nobody has confirmed; None if there was none.
    """

    latest_at: int
    boot: str = ""
    boot_now: int = 0
    boot_uptime_s: int = 0
    leap_from: int | None = None


@dataclass(frozen=True, slots=True)
class ClockFault:
    """A disagreement between the machine's clock and the store.

    Attributes:
        now: what the clock says, in seconds since 1970.
        expected: what it should say at least, or exactly if `is_exact`.
        is_exact: whether the machine counted the seconds in between.
    """

    now: int
    expected: int
    is_exact: bool

    @property
    def is_ahead(self) -> bool:
        """Whether the clock says a later time than it should."""
        return self.now > self.expected

    def describe(self) -> str:
        """Return a sentence that says what disagrees."""
        days = abs(self.now - self.expected) / DAY_S
        shown = f"{days:,.0f} days" if days >= 2 else f"{24 * days:.0f} hours"
        says = f"this machine's clock says {format_time(self.now)}"
        if self.is_ahead:
            return f"{says}, {shown} more than the time that has passed since it was last seen"
        if self.is_exact:
            return f"{says}, although it should be {format_time(self.expected)} ({shown} later)"
        return f"{says}, but this site has seen {format_time(self.expected)} ({shown} later)"


@dataclass(frozen=True, slots=True)
class AcceptedTime:
    """What accepting the machine's clock changed.

    Attributes:
        before: the latest time that the store had seen, in seconds since 1970; 0 if none.
        now: the time that is right from now on.
        restamped: number of rows that count as written now.
        ended_tokens: number of API tokens that were made under a clock ahead of this one, and are revoked.
    """

    before: int
    now: int
    restamped: int
    ended_tokens: int


class StoreClock:
    """The time, as far as the store believes it.

    Attributes:
        read: returns what the machine's clock says.
    """

    def __init__(self, database: Database) -> None:
        self.read: Callable[[], ClockReading] = read_clock
        self._database = database
        self._connection = database.connection

    def stamp(self) -> int:
        """Return the time for rows that the open transaction writes; it is never earlier than that of other rows.

        Raises:
            ClockError: the machine's clock disagrees with the store.
        """
        reading, seen = self.read(), self._read_seen()
        _require_agreement(reading, seen)
        after = observe(seen, reading)
        if after != seen:
            self._write_seen(after)
        return after.latest_at

    def check(self) -> None:
        """Compare the machine's clock with the store.

        Raises:
            ClockError: it disagrees.
        """
        _require_agreement(self.read(), self._read_witnessed())

    def check_before_purge(self) -> int:
        """Return the time by which texts are purged.

        Raises:
            ClockError: the machine's clock disagrees with the store, or leapt while the machine was off.
        """
        with self._database.transaction():
            self.check()
            now = self.stamp()
        leap_from = self.find_leap()
        if leap_from is not None:
            raise ClockError(
                f"from {format_time(leap_from)} to {format_time(now)} this site was not used, so nothing but this "
                "machine's clock says how old its texts are",
                "Nothing was deleted. `intramural clock show` says how to confirm the clock once.",
            )
        return now

    def find_fault(self) -> ClockFault | None:
        """Return how the machine's clock disagrees with the store; None if it agrees."""
        return find_fault(self._read_witnessed(), self.read())

    def find_leap(self) -> int | None:
        """Return the latest time before a leap that nobody has confirmed; None if there was none."""
        seen = observe(self._read_seen(), self.read())
        return seen.leap_from

    def read_latest(self) -> int:
        """Return the latest time that the store has seen, in seconds since 1970; 0 if none."""
        seen = self._read_witnessed()
        return 0 if seen is None else seen.latest_at

    def today_day(self) -> int:
        """Return today's date (UTC) as the number of days since 1970-01-01.

        Raises:
            ClockError: the machine's clock disagrees with the store.
        """
        self.check()
        reading, seen = self.read(), self._read_seen()
        after = observe(seen, reading)
        is_news = (
            seen is None or seen.boot != after.boot or after.latest_at - seen.latest_at > _STEP_S
        )
        if is_news:
            # The day is told to others, so it is remembered; where the store cannot be written, it is not.
            with suppress(StoreError), self._database.limit_patience(_PATIENCE_S):
                self._write_seen(after)
        return reading.now // DAY_S

    def accept(self, wrong_since: int | None = None) -> AcceptedTime:
        """Believe the machine's clock from now on. A person has made sure that it is right.

        Rows with times in the future count as written now, so that texts are kept for their whole term, but no longer.

        Args:
            wrong_since: rows with this time or a later one, in seconds since 1970, count as written now too, because
                the clock was behind when they were written.
        """
        reading = self.read()
        now = reading.now
        bound = now + 1 if wrong_since is None else min(wrong_since, now + 1)
        with self._database.transaction():
            before = self.read_latest()
            ended_tokens = self._connection.execute(
                "UPDATE api_tokens SET ended_at = ? WHERE created_at > ? AND ended_at IS NULL",
                (now, now),
            ).rowcount
            restamped = 0
            for table, columns in STAMPED.items():
                for column in columns:
                    restamped += self._connection.execute(
                        f"UPDATE {table} SET {column} = ? WHERE {column} >= ? AND {column} <> ?",  # noqa: S608 (from above)
                        (now, bound, now),
                    ).rowcount
            self._write_seen(observe(None, reading))
        return AcceptedTime(before, now, restamped, ended_tokens)

    def _read_witnessed(self) -> SeenTime | None:
        """Return what the store has seen, with the last event of the audit log, which cannot be changed unnoticed."""
        seen, event_at = self._read_seen(), self._database.read_last_event_time()
        if event_at is None:
            return seen
        if seen is None:
            return SeenTime(event_at)
        return seen if seen.latest_at >= event_at else _seen_at(seen, event_at)

    def _read_seen(self) -> SeenTime | None:
        row = self._connection.execute(
            "SELECT latest_at, boot, boot_now, boot_uptime_s, leap_from FROM clock"
        ).fetchone()
        return None if row is None else SeenTime(*row)

    def _write_seen(self, seen: SeenTime) -> None:
        with self._database.transaction():
            self._connection.execute(
                "INSERT OR REPLACE INTO clock VALUES (1, ?, ?, ?, ?, ?)",
                (seen.latest_at, seen.boot, seen.boot_now, seen.boot_uptime_s, seen.leap_from),
            )


def find_fault(seen: SeenTime | None, reading: ClockReading) -> ClockFault | None:
    """Return how a reading of the machine's clock disagrees with what was seen; None if it agrees. Pure."""
    if seen is None:
        return None
    if seen.boot and seen.boot == reading.boot:
        # The time of the first reading since the machine started, so that many small steps add up.
        expected = seen.boot_now + (reading.uptime_s - seen.boot_uptime_s)
        if abs(reading.now - expected) > TOLERATED_S:
            return ClockFault(reading.now, expected, is_exact=True)
    if reading.now < seen.latest_at - TOLERATED_S:
        return ClockFault(reading.now, seen.latest_at, is_exact=False)
    return None


def observe(seen: SeenTime | None, reading: ClockReading) -> SeenTime:
    """Return what has been seen after a reading that agrees with it. Pure."""
    fields = (reading.boot, reading.now, reading.uptime_s)
    if seen is None:
        return SeenTime(reading.now, *fields)
    leap_from = seen.leap_from
    is_same_start = bool(reading.boot) and seen.boot == reading.boot
    if is_same_start:
        fields = (seen.boot, seen.boot_now, seen.boot_uptime_s)
    elif leap_from is None and reading.now - seen.latest_at > LONGEST_GAP_S:
        leap_from = seen.latest_at
    return SeenTime(max(seen.latest_at, reading.now), *fields, leap_from)


def format_time(seconds: int) -> str:
    """Return a time as YYYY-MM-DD HH:MM UTC."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, OSError, ValueError):
        return f"second {seconds}"


def _seen_at(seen: SeenTime, latest_at: int) -> SeenTime:
    return SeenTime(latest_at, seen.boot, seen.boot_now, seen.boot_uptime_s, seen.leap_from)


def _require_agreement(reading: ClockReading, seen: SeenTime | None) -> None:
    fault = find_fault(seen, reading)
    if fault is not None:
        raise ClockError(fault.describe())
