"""Decide whether and when to retry a request, and when to give up on a server. No requests are sent here."""

import random
import time
from collections.abc import Callable

from agent.inference.limits import HttpLimits
from agent.inference.outage import Outage
from agent.vocabulary import Failure, Reason

RETRIED_STATUSES = frozenset(
    {408, 425, 429, 500, 502, 503, 504, 507, 509, 520, 521, 522, 523, 524, 529}
)
FIRST_WAIT_S = 0.5  # doubled after every attempt
JITTER_S = 1.0

_MAX_HEADER_LENGTH = 100  # characters in Retry-After; a date has 29
_FAILED_IN_A_ROW = 20  # requests; if one prompt in ten fails, the probability of 20 failures in a row is 1 in 10 ** 20


class AttemptFailedError(Exception):
    """An attempt failed, but the request can be retried.

    Attributes:
        failure: the result of the request if no later attempt succeeds.
        was_sent: whether the request was sent; False for a refused connection.
        retry_after_s: the wait in seconds that the server requested, if any.
    """

    def __init__(
        self, failure: Failure, *, was_sent: bool = True, retry_after_s: float | None = None
    ) -> None:
        super().__init__(failure.reason)
        self.failure = failure
        self.was_sent = was_sent
        self.retry_after_s = retry_after_s


class ServerHealth:
    """The health of a deployment's servers, shared by all workers of a call.

    Silence: see `Outage`, which may be shared with other calls.
    Failures: after twenty requests in a row have failed in all their attempts, each further request has a single
    attempt until one succeeds. Thus a series of prompts that the server cannot process takes little time, and a broken
    server does not delay a run for hours.
    """

    def __init__(
        self,
        limits: HttpLimits,
        clock: Callable[[], float] = time.monotonic,
        outage: Outage | None = None,
    ) -> None:
        self._limits = limits
        self._outage = outage or Outage(limits, clock)
        self._failed_in_a_row = 0
        self.answered_once = False

    @property
    def given_up(self) -> bool:
        """Whether the server was silent for too long, so that nothing more is sent to it."""
        return self._outage.given_up

    @property
    def attempt_timeout_s(self) -> float:
        """The current maximum time for one attempt, in seconds."""
        limits = self._limits
        return limits.attempt_timeout_s if self.answered_once else limits.first_attempt_timeout_s

    def note_reply(self) -> None:
        """Record a complete reply with any status."""
        self.answered_once = True
        self._outage.note_reply()

    def note_silence(self, waited_s: float = 0.0, *, refused: bool = True) -> None:
        """Record a refused connection, or an attempt that timed out after `waited_s`."""
        self._outage.note_silence(waited_s, refused=refused)

    def note_result(self, result: Failure | None) -> None:
        """Record the end of a request; `result` is its failure, or None for a response."""
        served = result is None or result.reason in (Reason.CONTEXT_LENGTH, Reason.CONTENT_FILTER)
        self._failed_in_a_row = 0 if served else self._failed_in_a_row + 1

    def decide_wait(self, failed: AttemptFailedError, attempts: int) -> float | bool:
        """Return how to proceed after a failed attempt: seconds to wait, True for the default wait, False to stop.

        `attempts` is the number of attempts of this request that were sent.
        """
        if self.given_up:
            return False
        if not failed.was_sent:
            # At least fifteen waits fit in the grace time.
            longest_wait_s = min(2.0, self._limits.outage_grace_s / 15)
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
    """Return the seconds to wait of a `Retry-After` header, or None if it is missing or invalid.

    Args:
        header: the header's value, a number of seconds or an HTTP date.
        now: the current time in seconds since 1970, for dates.
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
