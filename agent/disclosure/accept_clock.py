"""Declare this machine's clock right after it was wrong: in the store, in the ledger of releases and the audit log."""

from dataclasses import dataclass

from agent.delivery.outbox import Outbox
from agent.disclosure.ledger import ClockEntry, append_entry, derive_ledger_key, read_ledger
from agent.errors import ConfigError
from agent.site.directory import Site
from agent.store import AcceptedTime, Store, format_time
from agent.store.clock import DAY_S


@dataclass(frozen=True, slots=True)
class AcceptedClock:
    """What accepting the machine's clock changed.

    Attributes:
        time: the changes in the store.
        wrong_until: the last day of ledger entries that are declared wrong; None if there are none.
    """

    time: AcceptedTime
    wrong_until: int | None


def accept_clock(
    site: Site, store: Store, today_day: int, *, wrong_since: int | None = None
) -> AcceptedClock:
    """Believe this machine's clock from now on, for which a person vouches.

    Repeating this after a crash ends in the same state.

    Args:
        site: the site.
        store: its store.
        today_day: today's date as that person knows it, in days since 1970-01-01.
        wrong_since: texts stored at this time or later, in seconds since 1970, count as stored now, because the clock
            was behind when they were stored.

    Raises:
        ConfigError: the machine's clock says another day; nothing was changed.
        DisclosureError: the ledger cannot be read; nothing was changed.
        StoreError: a file cannot be written.
    """
    now_day = store.clock.read().now // DAY_S
    if (
        abs(now_day - today_day) > 1
    ):  # the person may have named the local date, but clocks are compared in UTC
        raise ConfigError(
            f"this machine's clock says {format_time(store.clock.read().now)}, which is another day",
            "Nothing was changed. Set the machine's clock first; then give the same date here.",
        )
    outbox, key = Outbox(site.submissions), derive_ledger_key(site.seal_key())
    with outbox.held():
        ledger = read_ledger(outbox.ledger, key)
        wrong_until = ledger.latest_day if ledger.latest_day > now_day + 1 else None
        if wrong_until is not None:
            append_entry(outbox.ledger, ledger.followed_by(ClockEntry(wrong_until), now_day), key)
    with store.transaction():
        time = store.clock.accept(wrong_since)
        detail = f"before={time.before} now={time.now} restamped={time.restamped}"
        if wrong_since is not None:
            detail += f" wrong_since={wrong_since}"
        if time.ended_tokens:
            detail += f" tokens_revoked={time.ended_tokens}"
        if wrong_until is not None:
            detail += f" ledger_days_wrong_until={wrong_until}"
        store.audit.record("clock accepted", detail)
    return AcceptedClock(time, wrong_until)
