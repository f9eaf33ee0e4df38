"""The channels that the settings name, with what is needed to send on each, and the errors of sending."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent.errors import DeliveryError
from agent.site.settings import Settings
from agent.store import AlertCode, Channel

_PORTS: Final = {"starttls": 587, "tls": 465, "none": 25}
_ADVICE: Final = (
    "Correct the settings of alerts in site.yaml, and try them with `intramural alerts test`."
)


class AlertFailedError(DeliveryError):
    """An alert was not delivered.

    Attributes:
        code: the reason in a word or two, without anything that the receiver said.
    """

    advice = _ADVICE

    def __init__(self, code: str, message: str, advice: str | None = None) -> None:
        super().__init__(message, advice)
        self.code = code


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where alerts are posted, and how.

    Attributes:
        url: the receiver's address.
        secret_file: file with the secret of the signature.
        proxy: URL of the outgoing proxy, or None.
        ca_bundle: PEM file, or None for the system's certificate authorities.
    """

    url: str
    secret_file: Path
    proxy: str | None = None
    ca_bundle: Path | None = None


@dataclass(frozen=True, slots=True)
class MailServer:
    """The mail server that takes alerts, and who gets them.

    Attributes:
        host, port: the server.
        security: starttls, tls or none.
        sender, recipients: e-mail addresses.
        user: the account at the server, or None to send without login.
        password_file: file with its password.
        ca_bundle: PEM file, or None for the system's certificate authorities.
    """

    host: str
    port: int
    security: str
    sender: str
    recipients: tuple[str, ...]
    user: str | None = None
    password_file: Path | None = None
    ca_bundle: Path | None = None


@dataclass(frozen=True, slots=True)
class AlertPlan:
    """What is told, to whom, and how often.

    Attributes:
        codes: the events that lead to an alert.
        site_label: the site's public label, or None.
        gap_s: minimum seconds between two messages on a channel.
        patience_s: seconds after which a message is given up.
        webhook, mail: the channels; None if not in use.
    """

    codes: frozenset[AlertCode]
    site_label: str | None
    gap_s: float
    patience_s: float
    webhook: Webhook | None = None
    mail: MailServer | None = None

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Return the channels in use."""
        used = {Channel.WEBHOOK: self.webhook, Channel.MAIL: self.mail}
        return tuple(channel for channel, target in used.items() if target is not None)


def read_plan(settings: Settings) -> AlertPlan:
    """Return what the settings say about alerts. It reads no file."""
    return AlertPlan(
        codes=frozenset(settings.alert_on),
        site_label=settings.alert_site_label,
        gap_s=settings.alert_every_minutes * 60.0,
        patience_s=settings.alert_give_up_hours * 3600.0,
        webhook=_read_webhook(settings),
        mail=_read_mail_server(settings),
    )


def _read_webhook(settings: Settings) -> Webhook | None:
    if settings.alert_webhook_url is None or settings.alert_webhook_secret_file is None:
        return None
    return Webhook(
        settings.alert_webhook_url,
        settings.alert_webhook_secret_file,
        settings.proxy if settings.alert_webhook_uses_proxy else None,
        settings.ca_bundle,
    )


def _read_mail_server(settings: Settings) -> MailServer | None:
    if settings.alert_smtp_host is None or settings.alert_from is None:
        return None
    return MailServer(
        host=settings.alert_smtp_host,
        port=settings.alert_smtp_port or _PORTS[settings.alert_smtp_security],
        security=settings.alert_smtp_security,
        sender=settings.alert_from,
        recipients=settings.alert_to,
        user=settings.alert_smtp_user,
        password_file=settings.alert_smtp_password_file,
        ca_bundle=settings.ca_bundle,
    )
