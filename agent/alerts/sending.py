"""Make messages of events and deliver them, one at a time on each channel, from what the store says alone.

A message that cannot be delivered is tried again, ever more seldom, until it is given up; what happens meanwhile is
summed up in the next one. A service that is killed after the receiver took a message, and before that is stored, sends
it again under the same id.
"""

import secrets
import time
from collections.abc import Callable
from typing import Final

from agent.alerts.channels import AlertFailedError, AlertPlan
from agent.alerts.content import MOST_LISTED, AlertContent, write_json, write_subject, write_text
from agent.alerts.mail import send_mail
from agent.alerts.webhook import post_alert
from agent.errors import AgentError
from agent.monitoring.counters import ALERTS
from agent.monitoring.events import AlertNotSent, AlertSent
from agent.monitoring.log import log_event
from agent.store import AlertMessage, Channel, MessageState, Store

_FIRST_WAIT_S: Final = 30.0
_LONGEST_WAIT_S: Final = 3600.0
_MOST_ATTEMPTS: Final = 200  # a week has fewer

Send = Callable[[AlertPlan, Channel, AlertContent], str]


def send_alert(plan: AlertPlan, channel: Channel, content: AlertContent) -> str:
    """Send an alert on a channel; return what came back, in a word or two.

    Raises:
        AlertFailedError: it was not taken.
        ConfigError: a file that the settings name cannot be read.
    """
    if channel is Channel.WEBHOOK and plan.webhook is not None:
        return post_alert(plan.webhook, content.message_id, write_json(content), time.time())
    if channel is Channel.MAIL and plan.mail is not None:
        return send_mail(
            plan.mail,
            content.message_id,
            write_subject(content),
            write_text(content),
            content.made_at,
        )
    raise AlertFailedError("not set", f"site.yaml names no receiver for the channel {channel}")


def make_test(plan: AlertPlan, now: float) -> AlertContent:
    """Return an alert by which a person tries whether alerts arrive."""
    return AlertContent(secrets.token_hex(16), now, plan.site_label, {}, is_test=True)


def deliver_due(
    store: Store, plan: AlertPlan, channel: Channel, now: float, send: Send = send_alert
) -> None:
    """Deliver the open message of a channel if its time has come, or make one of new events.

    Args:
        store: the site's store; no transaction is open while a receiver is asked.
        plan: what is told, and to whom.
        channel: a channel in use.
        now: the time, in seconds since 1970.
        send: sends an alert.
    """
    message = store.alerts.find_open(channel)
    if message is None:
        message = _open_next(store, plan, channel, now)
    # After the clock was set back, a time that is further away than any wait means now.
    if message is None or 0 < message.next_at - now <= _LONGEST_WAIT_S:
        return
    content = _read_content(store, plan, message)
    try:
        outcome = send(plan, channel, content)
    except AgentError as error:
        _note_failure(store, plan, message, error, now)
        return
    number = sum(content.counts.values())
    with store.transaction():
        store.alerts.end(message.message_id, MessageState.SENT, outcome, now)
        store.audit.record("alert sent", f"{_name(message)} events={number}")
    log_event(AlertSent(message.channel.value, number))
    ALERTS.add(value="sent")


def choose_wait(attempts: int) -> float:
    """Return the seconds to wait after a failed attempt, given the number of those before."""
    return min(_FIRST_WAIT_S * 2.0 ** min(attempts, 20), _LONGEST_WAIT_S)


def _open_next(store: Store, plan: AlertPlan, channel: Channel, now: float) -> AlertMessage | None:
    """Make a message of new events, unless the last one on the channel is too recent."""
    last = store.alerts.find_last(channel)
    if last is not None and 0 <= now - last.made_at < plan.gap_s:
        return None
    return store.alerts.open_message(channel, now)


def _read_content(store: Store, plan: AlertPlan, message: AlertMessage) -> AlertContent:
    return AlertContent(
        message_id=message.message_id,
        made_at=message.made_at,
        site=plan.site_label,
        counts=store.alerts.count_events(message),
        events=store.alerts.read_events(message, MOST_LISTED),
    )


def _note_failure(
    store: Store, plan: AlertPlan, message: AlertMessage, error: AgentError, now: float
) -> None:
    """Plan the next attempt, or give the message up if its time is over."""
    code = error.code if isinstance(error, AlertFailedError) else "settings"
    # A clock that was set back must neither end a message early nor keep it for ever.
    is_kept = now - message.made_at < plan.patience_s and message.attempts < _MOST_ATTEMPTS
    log_event(AlertNotSent(message.channel.value, type(error).__name__, given_up=not is_kept))
    ALERTS.add(value="failed" if is_kept else "given_up")
    if is_kept:
        store.alerts.keep_trying(message.message_id, code, now + choose_wait(message.attempts))
        return
    number = sum(store.alerts.count_events(message).values())
    with store.transaction():
        store.alerts.end(message.message_id, MessageState.GIVEN_UP, code, now)
        attempts = message.attempts + 1
        store.audit.record(
            "alert given up", f"{_name(message)} events={number} attempts={attempts} last={code}"
        )


def _name(message: AlertMessage) -> str:
    return f"channel={message.channel} id={message.message_id}"
