"""Find out how many processors have nothing to do at this moment, for work whose threads wait for each other."""

import os
import time
from pathlib import Path
from typing import Final

_STATISTICS: Final = Path("/proc/stat")
_SAMPLE_S: Final = 0.5
_IDLE_FIELDS: Final = (3, 4)  # of the line `cpu`: idle, and waiting for a disk (man 5 proc)


def count_idle_cores() -> int:
    """Return the number of idle processors, at least 1. Takes half a second; 1 where the system does not say."""
    try:
        before = _STATISTICS.read_text("ascii")
        time.sleep(_SAMPLE_S)
        after = _STATISTICS.read_text("ascii")
    except OSError:
        return 1
    return max(1, round(measure_idle_share(before, after) * len(os.sched_getaffinity(0))))


def measure_idle_share(before: str, after: str) -> float:
    """Return the share of processor time, from 0 to 1, that was idle between two readings of /proc/stat."""
    earlier, later = _read_times(before), _read_times(after)
    spent = [new - old for new, old in zip(later, earlier, strict=True)]
    total = sum(spent)
    return sum(spent[field] for field in _IDLE_FIELDS) / total if total else 0.0


def _read_times(statistics: str) -> list[int]:
    """Return the times of all processors together. Time of guests is left out, as it is part of the user's."""
    return [int(field) for field in statistics.partition("\n")[0].split()[1:9]]
