"""Addresses in the settings of alerts: the webhook's, the mail server's and those of people."""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from agent.site.service_addresses import is_loopback

_MAILBOX: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,255}")
_VISIBLE: Final = re.compile(r"[\x21-\x7e]+")


def check_webhook(url: str) -> str:
    """Return the URL of a webhook.

    Raises:
        ValueError: it is not an https URL without user name and fragment, or uses plain http for another machine.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("expected a URL") from None
    extras = parts.fragment or parts.username or parts.password
    is_plain = _VISIBLE.fullmatch(url) is not None
    if parts.scheme not in ("https", "http") or not host or extras or not is_plain:
        raise ValueError("expected a URL such as https://HOST/PATH, without user name and password")
    if parts.scheme == "http" and not is_loopback(host):
        raise ValueError("expected https: plain http is allowed only on this machine")
    return url


def check_mailbox(address: str) -> str:
    """Return an e-mail address.

    Raises:
        ValueError: it is not a plain address in ASCII, without a name and without a line break.
    """
    if not _MAILBOX.fullmatch(address):
        raise ValueError("expected an e-mail address such as it@hospital.example, without a name")
    return address


def check_mail_settings(
    host: str | None,
    security: str,
    sender: str | None,
    recipients: Sequence[str],
    has_user: bool,
    has_password: bool,
) -> None:
    """Check that the settings of e-mail are complete and protected.

    Raises:
        ValueError: a setting is missing, or nothing would protect the way to another machine.
    """
    if host is None:
        if sender or recipients or has_user or has_password:
            raise ValueError("alert_smtp_host: is required if other settings of e-mail are set")
        return
    if sender is None or not recipients:
        raise ValueError("alert_from, alert_to: are required if alert_smtp_host is set")
    if has_user != has_password:
        raise ValueError("alert_smtp_user, alert_smtp_password_file: expected both, or neither")
    if security == "none" and not is_loopback(host):
        raise ValueError("alert_smtp_security: none is allowed only for a server on this machine")
