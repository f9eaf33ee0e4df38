"""Automatic retries, with capped and jittered waits, until the aggregator gives a final answer.

The only state between attempts is the outbox, so nothing is lost on a restart.
"""

from collections.abc import Callable
from dataclasses import dataclass

from agent.delivery.receipts import LogError
from agent.delivery.send import OutOfOrderError, SignedRefusalError
from agent.errors import BusyError, DeliveryError

_FINAL = (SignedRefusalError, LogError, OutOfOrderError)
"""Errors that waiting cannot resolve: a signed refusal, a log that contradicts itself, a link sent out of order."""


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds between attempts: the first wait, the longest wait, and the maximum random addition to each."""

    first_s: float = 2.0
    longest_s: float = 300.0
    jitter_s: float = 10.0


def keep_trying(
    attempt: Callable[[], None], *, say: Callable[[str], None], waits: Waits | None = None
) -> None:
    """Call `attempt` until it returns or raises an error that waiting cannot resolve.

    Args:
        attempt: a function that can be repeated after any failure.
        say: called after each failure with its cause and the length of the wait, in words.
        waits: the waits between attempts; None means the defaults of `Waits`.

    Raises:
        AgentError: an error of `attempt` that another attempt would raise again.
    """
    import stamina
    import stamina.instrumentation

    def hook(details: stamina.instrumentation.RetryDetails) -> None:
        say(
            f"attempt {details.retry_num} failed: {details.caused_by}; next attempt in {details.wait_for:.0f} s"
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
