"""Whether alerts arrive: for `intramural doctor` and the page of the site's health."""

import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from agent.alerts.channels import AlertPlan
from agent.alerts.mail import read_mail_password
from agent.alerts.webhook import read_webhook_secret
from agent.store import MessageState, Store

_LOOKED_AT: Final = 200
_LATE_S: Final = 600.0
_WEEK_S: Final = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class AlertStanding:
    """How the delivery of alerts stands.

    Attributes:
        failing: channels whose message could not be delivered yet, with the code of the last attempt, or "not tried" if
            no service has tried for minutes.
        given_up: messages of the last seven days that were given up.
        sent: messages of the last seven days that were delivered.
    """

    failing: dict[str, str]
    given_up: int
    sent: int

    def describe(self) -> str:
        """Return the standing as a clause."""
        words = [f"{self.sent} delivered in the last seven days"]
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
    return AlertStanding(
        failing={
            each.channel.value: each.outcome or "not tried"
            for each in recent
            if each.state is MessageState.OPEN and (each.attempts or each.next_at < now - _LATE_S)
        },
        given_up=sum(each.state is MessageState.GIVEN_UP for each in ended),
        sent=sum(each.state is MessageState.SENT for each in ended),
    )


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
