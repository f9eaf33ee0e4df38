"""Decide when to ask again, how long to wait, and when to stop asking. The requests themselves are sent elsewhere."""

import random
import time
from collections.abc import Callable

from agent.inference.limits import HttpLimits
from agent.vocabulary import Failure, Reason

RETRIED_STATUSES = frozenset(
    {408, 425, 429, 500, 502, 503, 504, 507, 509, 520, 521, 522, 523, 524, 529}
)
FIRST_WAIT_S = 0.5  # doubled with every attempt
JITTER_S = 1.0

_SILENT_ATTEMPTS = 10  # fewer could be a few unlucky requests
_MAX_HEADER_LENGTH = 100  # characters of Retry-After; a date has 29
_FAILED_IN_A_ROW = (
    20  # requests; with one failing prompt in ten, twenty in a row are chance in 10 ** 20
)


class AttemptFailedError(Exception):
    """One attempt brought no response, and another may do better.

    Attributes:
        failure: the result of the request unless another attempt does better.
        was_sent: the request left this machine; False for a refused connection.
        retry_after_s: seconds the server asked us to wait, if it did.
    """

    def __init__(
        self, failure: Failure, *, was_sent: bool = True, retry_after_s: float | None = None
    ) -> None:
        super().__init__(failure.reason)
        self.failure = failure
        self.was_sent = was_sent
        self.retry_after_s = retry_after_s


class ServerHealth:
    """The state of a server as all workers of one call share it.

    Two things end patience. Silence: connections refused or requests timing out for `outage_grace_s`, with no
    reply at all, and the server is given up. Failing: after twenty requests in a row that failed for good with all
    their attempts, each further request gets a single attempt until one succeeds; a block of prompts that a server
    cannot digest is passed quickly, and a broken server does not hold a run for hours.
    """

    def __init__(self, limits: HttpLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._silent_since: float | None = None
        self._silent_attempts = 0
        self._failed_in_a_row = 0
        self.answered_once = False
        self.given_up = False

    @property
    def attempt_timeout_s(self) -> float:
        """Seconds for one attempt now."""
        limits = self._limits
        return limits.attempt_timeout_s if self.answered_once else limits.first_attempt_timeout_s

    def note_reply(self) -> None:
        """Note a complete reply, of any status."""
        self.answered_once = True
        self._silent_since = None
        self._silent_attempts = 0

    def note_silence(self) -> None:
        """Note a refused connection, or an attempt that timed out."""
        now = self._clock()
        if self._silent_since is None:
            self._silent_since = now
        self._silent_attempts += 1
        grace_over = now - self._silent_since >= self._limits.outage_grace_s
        if grace_over and self._silent_attempts >= _SILENT_ATTEMPTS:
            self.given_up = True

    def note_result(self, result: Failure | None) -> None:
        """Note the end of a request, with this failure or (None) with a response."""
        served = result is None or result.reason in (Reason.CONTEXT_LENGTH, Reason.CONTENT_FILTER)
        self._failed_in_a_row = 0 if served else self._failed_in_a_row + 1

    def decide_wait(self, failed: AttemptFailedError, attempts: int) -> float | bool:
        """Decide after a failed attempt: seconds to wait, True for the usual growing wait, False to stop.

        `attempts` counts those of this request that left the machine.
        """
        if self.given_up:
            return False
        if not failed.was_sent:
            longest_wait_s = min(
                2.0, self._limits.outage_grace_s / 15
            )  # fifteen waits fit into the grace time
            return random.uniform(0.5, 1.0) * longest_wait_s  # noqa: S311 - jitter
        max_attempts = self._limits.max_attempts
        if self._failed_in_a_row >= _FAILED_IN_A_ROW:
            max_attempts = 1
        if attempts >= max_attempts:
            return False
        if failed.retry_after_s is None:
            return True
        wait = failed.retry_after_s + random.uniform(0.0, JITTER_S)  # noqa: S311 - jitter
        return min(wait, self._limits.retry_wait_max_s)


def read_retry_after(header: str | None, now: float) -> float | None:
    """Read a `Retry-After` header: seconds, or an HTTP date. None when it is missing or cannot be read.

    Args:
        header: its value.
        now: seconds since 1970, for dates.
    """
    if header is None:
        return None
    text = header[:_MAX_HEADER_LENGTH].strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return None
