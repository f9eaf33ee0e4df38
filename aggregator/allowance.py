"""The amount of data stored per site and day, limited so that no single site can fill the disk.

Stored data counts: statements, evidence of forks, refusals of new payloads. Repeated payloads do
not count, since anyone who has seen one could send it. Each worker keeps its own counts in memory.
Requests in progress when an allowance runs out are still completed.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable

log = logging.getLogger("aggregator.intake")

SECONDS_PER_DAY = 86_400


class AllowanceSpentError(Exception):
    """A site has used up today's allowance. Nothing more is accepted from it, and nothing is signed.

    Attributes:
        retry_after_s: Whole seconds until the next day begins.
    """

    def __init__(self, retry_after_s: int) -> None:
        super().__init__()
        self.retry_after_s = retry_after_s


class Allowance:
    """A counter of payloads and bytes per site and day (UTC). Thread-safe."""

    def __init__(self, *, payloads: int, size: int, clock: Callable[[], float] = time.time) -> None:
        """Create an allowance of `payloads` payloads, and `size` bytes of envelopes in total, per site and day."""
        self._payloads, self._size, self._clock = payloads, size, clock
        self._lock = threading.Lock()
        self._day = 0
        self._kept: dict[str, tuple[int, int]] = {}
        self._spent: set[str] = set()

    def check(self, site: str, size: int) -> None:
        """Check that an envelope from a site may be stored. Raises AllowanceSpentError."""
        with self._lock:
            second = self._begin_day()
            payloads, total = self._kept.get(site, (0, 0))
            if payloads < self._payloads and total + size <= self._size:
                return
            is_news = site not in self._spent
            self._spent.add(site)
        if is_news:
            log.warning("allowance spent: site=%s, nothing more from it is stored today", site)
        raise AllowanceSpentError(SECONDS_PER_DAY - second)

    def count(self, site: str, size: int) -> None:
        """Count an envelope that was stored."""
        with self._lock:
            self._begin_day()
            payloads, total = self._kept.get(site, (0, 0))
            self._kept[site] = (payloads + 1, total + size)

    def _begin_day(self) -> int:
        """Reset the counts when a new day has begun. Return the second of the day."""
        today, second = divmod(int(self._clock()), SECONDS_PER_DAY)
        if today != self._day:
            self._day = today
            self._kept.clear()
            self._spent.clear()
        return second


UNLIMITED = Allowance(payloads=sys.maxsize, size=sys.maxsize)
"""An allowance without limits, for files processed on the aggregator's own host."""
