"""The clock behind sessions and tokens: what has ended stays ended, even if the machine's clock is set back."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from agent.errors import StoreError
from agent.monitoring.events import ClockSetBack
from agent.monitoring.log import log_event
from agent.store import Store

STEP_S: Final = 30
"""Seconds between two writes of the latest time, so that requests seldom wait for the disk."""
_PATIENCE_S: Final = 0.1  # seconds that a request waits until the store can be written
_TOLERATED_S: Final = 120
"""Seconds by which the clock may go back without consequences, as time servers set it."""


def keep_time(store: Store, now: int, idle_s: int, total_s: int) -> None:
    """End sessions and tokens whose time is over, and every session if the clock was set back.

    The service calls this with each request; calling it once a minute besides ends sessions that nobody uses.

    Args:
        store: the site's store.
        now: the time, in seconds since 1970.
        idle_s: seconds without a request after which a session ends.
        total_s: seconds after which a session ends in any case.
    """
    notice_setback(store, now)
    if now < store.sessions.read_latest_time() + STEP_S:
        return
    with skip_if_not_writable(store), store.transaction():
        store.sessions.keep_latest_time(now)
        store.sessions.end_older(opened_by=now - total_s, seen_by=now - idle_s)
        store.api_tokens.end_expired(now)
        store.sign_ins.delete_pending(now)


def notice_setback(store: Store, now: int) -> None:
    """End every session if the clock was set back since the last request.

    Otherwise a session that had ended could be valid again. It is not known how far wrong the clock was or is, so
    everyone signs in again.
    """
    if now >= store.sessions.read_latest_time() - _TOLERATED_S:
        return
    with store.transaction():
        store.sessions.keep_latest_time(now)
        ended = store.sessions.end_everybodys()
        store.sign_ins.move_back(now)
        store.audit.record("sessions ended", f"reason=clock_set_back count={ended}")
    log_event(ClockSetBack(ended))


@contextmanager
def skip_if_not_writable(store: Store) -> Iterator[None]:
    """Return a context that leaves its writes out if the store is locked for long, read-only, or its disk is full.

    Pages stay readable then. It is safe for times of use alone: without them, sessions end earlier, never later.
    """
    with suppress(StoreError), store.database.limit_patience(_PATIENCE_S):
        yield
