"""This machine's clock, beside a count of seconds that nobody can set."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class ClockReading:
    """One look at the machine's clock.

    Attributes:
        now: seconds since 1970, as the clock says; people and time servers set it.
        boot: id of the machine's last start; "" where the system does not tell.
        uptime_s: seconds since that start, counted also while the machine sleeps; nobody can set them.
    """

    now: int
    boot: str
    uptime_s: int


def read_clock() -> ClockReading:
    """Return what the clock says now."""
    try:
        boot = _BOOT_ID.read_text("ascii").strip()
        uptime_s = int(time.clock_gettime(time.CLOCK_BOOTTIME))
    except (OSError, AttributeError, ValueError):
        boot, uptime_s = "", 0
    return ClockReading(int(time.time()), boot, uptime_s)
