"""How much each enrolled site may have kept in a day, so that none of them fills the disk for all.

What stays counts: statements, evidence of forks, refusals of new payloads. What is sent again does not, since anybody
who saw it could send it. Counts are kept in memory, by each worker for itself; requests that are under way when the
last of an allowance is used go through.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable

log = logging.getLogger("aggregator.intake")

SECONDS_PER_DAY = 86_400


class AllowanceSpentError(Exception):
    """A site has had as much kept today as it may; nothing more of it is taken, and nothing is signed.

    Attributes:
        retry_after_s: whole seconds until the next day begins.
    """

    def __init__(self, retry_after_s: int) -> None:
        super().__init__()
        self.retry_after_s = retry_after_s


class Allowance:
    """Counts payloads and bytes by site and day (UTC). Safe for many threads."""

    def __init__(self, *, payloads: int, size: int, clock: Callable[[], float] = time.time) -> None:
        """Allow each site so many payloads, and envelopes of `size` bytes together, in a day."""
        self._payloads, self._size, self._clock = payloads, size, clock
        self._lock = threading.Lock()
        self._day = 0
        self._kept: dict[str, tuple[int, int]] = {}
        self._spent: set[str] = set()

    def check(self, site: str, size: int) -> None:
        """Return if an envelope of a site may be kept. Raises AllowanceSpentError."""
        with self._lock:
            second = self._begin_day()
            payloads, total = self._kept.get(site, (0, 0))
            if payloads < self._payloads and total + size <= self._size:
                return
            is_news = site not in self._spent
            self._spent.add(site)
        if is_news:
            log.warning("allowance spent: site=%s, nothing more of it is kept today", site)
        raise AllowanceSpentError(SECONDS_PER_DAY - second)

    def count(self, site: str, size: int) -> None:
        """Count an envelope that was kept."""
        with self._lock:
            self._begin_day()
            payloads, total = self._kept.get(site, (0, 0))
            self._kept[site] = (payloads + 1, total + size)

    def _begin_day(self) -> int:
        """Forget the counts of another day; return the second of this one."""
        today, second = divmod(int(self._clock()), SECONDS_PER_DAY)
        if today != self._day:
            self._day = today
            self._kept.clear()
            self._spent.clear()
        return second


UNLIMITED = Allowance(payloads=sys.maxsize, size=sys.maxsize)
"""For what people on the aggregator's own host bring."""
