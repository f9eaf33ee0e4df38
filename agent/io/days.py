"""Dates as the numbers of days by which statements count."""

from datetime import UTC, date, datetime

_FIRST_DAY = date(1970, 1, 1)


def today_day() -> int:
    """Return today's date (UTC) as the number of days since 1970-01-01, if the machine's clock is right."""
    return count_days(datetime.now(UTC).date())


def count_days(day: date) -> int:
    """Return a date as the number of days since 1970-01-01."""
    return (day - _FIRST_DAY).days
