"""Times of cron expressions, in this machine's local time. No clock is read here."""

import re
from datetime import datetime, timedelta

from cronsim import CronSim, CronSimError

from agent.errors import ConfigError

_FIELDS = 5
_WEEKDAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_ADVICE = 'Give minute, hour, day, month and weekday, such as "0 3 * * *" (daily at 3) or "30 18 * * FRI".'


def check_cron(expression: str) -> str:
    """Return a cron expression with single spaces.

    Raises:
        ConfigError: it does not have five fields, a field is wrong, or no time matches it.
    """
    fields = expression.split()
    if len(fields) != _FIELDS:
        raise ConfigError(
            f"the cron expression {expression!r} has {len(fields)} fields instead of {_FIELDS}",
            _ADVICE,
        )
    cron = " ".join(fields)
    try:
        next(CronSim(cron, datetime(2024, 1, 1)))
    except CronSimError as error:
        raise ConfigError(
            f"the cron expression {expression!r} is wrong: {str(error).lower()}", _ADVICE
        ) from None
    except StopIteration:
        raise ConfigError(f"no time matches the cron expression {expression!r}", _ADVICE) from None
    return cron


def describe_times(cron: str) -> str:
    """Return the times of a valid cron expression in words, such as "every Friday at 20:00"."""
    words = CronSim(cron, datetime(2024, 1, 1)).explain()
    at_times = re.fullmatch(r"At ([\d:]+(?:, [\d:]+)*(?:,? and [\d:]+)?) (.+)", words)
    if at_times is None:
        return words[0].lower() + words[1:]
    days = re.sub(rf"^on ({_WEEKDAYS})", r"every \1", at_times[2])
    return f"{days} at {at_times[1]}"


def find_last_time(cron: str, now: float) -> float:
    """Return the last time of the expression that is not after `now`, in seconds since 1970."""
    # Local times without a zone: in an hour that the clock repeats, a time occurs only once.
    until = datetime.fromtimestamp(now) + timedelta(microseconds=1)
    return next(CronSim(cron, until, reverse=True)).timestamp()


def find_next_time(cron: str, now: float) -> float:
    """Return the first time of the expression after `now`, in seconds since 1970."""
    return next(CronSim(cron, datetime.fromtimestamp(now))).timestamp()
