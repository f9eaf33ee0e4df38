"""Say why a certificate or a proxy stands in the way of a connection, and who must act.

What a server or a proxy wrote itself is never quoted, nor is the proxy's address, which may contain a password.
"""

import re
import ssl
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

_EXPIRED: Final = 10
_NOT_YET_VALID: Final = 9
_OTHER_NAME: Final = (62, 64)  # X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH
_LOGIN_REQUIRED: Final = 407
_STATUS_AT_START: Final = re.compile(r"(\d{3})\b")


@dataclass(frozen=True, slots=True)
class Obstruction:
    """What stands in the way.

    Attributes:
        problem: a clause that follows the name of the certificate or the proxy.
        advice: sentences that say who must do what.
    """

    problem: str
    advice: str


EXPIRED_CERTIFICATE: Final = Obstruction(
    "it has expired",
    "Its administrators must renew it. If it is valid, this machine's clock is wrong: set it.",
)
EARLY_CERTIFICATE: Final = Obstruction(
    "it is not valid yet",
    "This machine's clock is probably behind: set it. Otherwise, its administrators must replace it.",
)
OTHER_NAME: Final = Obstruction(
    "it is for another name",
    "Write the name that the certificate is for in the address, or ask its administrators for one with this name.",
)
UNKNOWN_AUTHORITY: Final = Obstruction(
    "its authority is not known here",
    "If a proxy inspects TLS here, or the hospital has a certificate authority of its own, set `ca_bundle` in "
    "site.yaml to it.",
)


def explain_certificate(error: ssl.SSLCertVerificationError) -> Obstruction:
    """Return why a certificate was not accepted."""
    if error.verify_code == _EXPIRED:
        return EXPIRED_CERTIFICATE
    if error.verify_code == _NOT_YET_VALID:
        return EARLY_CERTIFICATE
    if error.verify_code in _OTHER_NAME:
        return OTHER_NAME
    return UNKNOWN_AUTHORITY


def find_certificate_error(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    """Return the refusal of a certificate that led to an error; None if it has another cause."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error
        error = error.__cause__ or error.__context__
    return None


def is_login_refused(error: Exception) -> bool:
    """Return whether a proxy refused to open a tunnel because of its user name and password (status 407)."""
    status = _STATUS_AT_START.match(str(error))
    return status is not None and int(status[1]) == _LOGIN_REQUIRED


def explain_proxy(error: Exception, proxy: str | None, target: str) -> Obstruction:
    """Return why a proxy did not open a tunnel.

    Args:
        error: the error of httpx or httpcore.
        proxy: the proxy's address, with user and password if it has them.
        target: what the tunnel would lead to, such as "the aggregator's host and port".
    """
    if not is_login_refused(error):
        return Obstruction(
            "refused the connection",
            f"Check `proxy` in site.yaml, and that the proxy allows {target}.",
        )
    if proxy is not None and urlsplit(proxy).username is not None:
        return Obstruction(
            "does not accept the user name and password of `proxy`",
            "Correct them in `proxy` of site.yaml, or in the file that INTRAMURAL_PROXY_FILE names. Write special "
            "characters as in a URL: %40 for @, %3A for :, %2F for /.",
        )
    return Obstruction(
        "demands a user name and password",
        "Write `proxy: http://USER:PASSWORD@HOST:PORT` into site.yaml (mode 0600), or into a file that "
        "INTRAMURAL_PROXY_FILE names. Only Basic authentication is supported.",
    )
