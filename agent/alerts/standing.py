"""Whether alerts arrive: for `intramural doctor` and the page of the site's health."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from agent.alerts.channels import AlertPlan
from agent.alerts.mail import read_mail_password
from agent.alerts.webhook import read_webhook_secret
from agent.store import AlertMessage, MessageState, Store

_LOOKED_AT: Final = 200
_LATE_S: Final = 600.0
_WEEK_S: Final = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class AlertStanding:
    """How the delivery of alerts stands.

    Attributes:
        failing: channels whose message could not be delivered yet, or whose last test failed, with the code of the last
            attempt, or "not tried" if no service has tried for minutes.
        given_up: messages of the last seven days that were given up.
        sent: messages of the last seven days that were delivered.
        tests: tests of the last seven days that were delivered.
    """

    failing: dict[str, str]
    given_up: int
    sent: int
    tests: int

    def describe(self) -> str:
        """Return the standing as a clause."""
        tests = f" and {self.tests} {'test' if self.tests == 1 else 'tests'}" if self.tests else ""
        words = [f"{self.sent}{tests} delivered in the last seven days"]
        if self.given_up:
            words.append(f"{self.given_up} given up")
        words += [
            f"{channel} does not get through ({code})" for channel, code in self.failing.items()
        ]
        return "; ".join(words)


def read_standing(store: Store, now: float | None = None) -> AlertStanding:
    """Return how the delivery of alerts stands."""
    now = time.time() if now is None else now
    since = now - _WEEK_S
    recent = store.alerts.list_recent(_LOOKED_AT)
    ended = [each for each in recent if each.ended_at is not None and each.ended_at >= since]
    told = [each for each in ended if not each.is_test]
    return AlertStanding(
        failing=_find_failing(recent, now),
        given_up=sum(each.state is MessageState.GIVEN_UP for each in told),
        sent=sum(each.state is MessageState.SENT for each in told),
        tests=sum(each.state is MessageState.SENT for each in ended if each.is_test),
    )


def _find_failing(recent: Sequence[AlertMessage], now: float) -> dict[str, str]:
    """Return the channels that do not get through, with the code of the last attempt, from messages, newest first."""
    failing: dict[str, str] = {}
    ended: set[str] = set()
    for message in recent:
        channel = message.channel.value
        if message.state is MessageState.OPEN:
            if message.attempts or message.next_at < now - _LATE_S:
                failing[channel] = message.outcome or "not tried"
        elif channel not in ended:
            ended.add(channel)
            if message.is_test and message.state is MessageState.GIVEN_UP:
                failing.setdefault(channel, message.outcome)
    return failing


def describe_receivers(plan: AlertPlan) -> str:
    """Return where alerts go, for people of the site; empty if alerts are off."""
    receivers = []
    if plan.webhook is not None:
        way = " through the proxy" if plan.webhook.proxy else ""
        receivers.append(f"a webhook at {urlsplit(plan.webhook.url).hostname}{way}")
    if plan.mail is not None:
        count = len(plan.mail.recipients)
        receivers.append(f"{count} e-mail address{'' if count == 1 else 'es'} by {plan.mail.host}")
    return " and ".join(receivers)


def check_files(plan: AlertPlan) -> None:
    """Read the files of secrets that alerts need. Raises ConfigError if one is missing or open to others."""
    if plan.webhook is not None:
        read_webhook_secret(plan.webhook)
    if plan.mail is not None:
        read_mail_password(plan.mail)
