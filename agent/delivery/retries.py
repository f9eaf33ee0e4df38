"""Trying again without a person: capped, jittered waits between attempts, until there is an answer that counts.

Nothing is remembered between attempts but the files of the outbox, so that a restart loses nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from agent.delivery.receipts import LogError
from agent.delivery.send import OutOfOrderError, SignedRefusalError
from agent.errors import BusyError, DeliveryError

_FINAL = (SignedRefusalError, LogError, OutOfOrderError)
"""Errors that waiting cannot mend: an answer that the aggregator signed, a log that lies, a link before its turn."""


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds between attempts: the first, the longest, and the most that chance adds to each."""

    first_s: float = 2.0
    longest_s: float = 300.0
    jitter_s: float = 10.0


def keep_trying(
    attempt: Callable[[], None], *, say: Callable[[str], None], waits: Waits | None = None
) -> None:
    """Call `attempt` until it returns, or raises what waiting cannot mend.

    Args:
        attempt: one try; it may be repeated at any point.
        say: told, for each failure, why and how long the wait is.
        waits: how long; None means the usual.

    Raises:
        AgentError: whatever `attempt` raises that another attempt would raise again.
    """
    import stamina
    import stamina.instrumentation

    def hook(details: stamina.instrumentation.RetryDetails) -> None:
        say(
            f"attempt {details.retry_num} failed: {details.caused_by}; next in {details.wait_for:.0f} s"
        )

    chosen = waits or Waits()
    before = stamina.instrumentation.get_on_retry_hooks()
    stamina.instrumentation.set_on_retry_hooks([hook])
    try:
        for each in stamina.retry_context(
            on=_is_passing,
            attempts=None,
            timeout=None,
            wait_initial=chosen.first_s,
            wait_max=chosen.longest_s,
            wait_jitter=chosen.jitter_s,
        ):
            with each:
                attempt()
    finally:
        stamina.instrumentation.set_on_retry_hooks(before)


def _is_passing(error: Exception) -> bool:
    return isinstance(error, DeliveryError | BusyError) and not isinstance(error, _FINAL)
