"""Today as the number of days by which statements count."""

from datetime import UTC, date, datetime

_FIRST_DAY = date(1970, 1, 1)


def today_day() -> int:
    """Return today's date (UTC) as the number of days since 1970-01-01."""
    return (datetime.now(UTC).date() - _FIRST_DAY).days
