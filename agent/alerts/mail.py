"""Send an alert by e-mail: encrypted by default, limited in time, and without the name of this machine.

Python's client would greet the server with this machine's name and make the message's id of it; both are set here.
"""

import smtplib
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Final

from agent.access.secret_file import read_secret_file
from agent.alerts.channels import AlertFailedError, MailServer
from agent.errors import ConfigError
from agent.io.outgoing_faults import explain_certificate
from agent.io.tls import load_trust

_STEP_S: Final = 10.0
_TOTAL_S: Final = 30.0
_LOOK_S: Final = 0.2
_GREETING: Final = "[127.0.0.1]"
_NO_HOST: Final = "intramural.invalid"


def send_mail(
    server: MailServer,
    message_id: str,
    subject: str,
    text: str,
    made_at: float,
    *,
    total_s: float = _TOTAL_S,
) -> str:
    """Hand an alert to the mail server; return the code that came back, such as `reply 250`.

    Args:
        server: the mail server, and who gets the alert.
        message_id: the id of the alert, the same at each repetition.
        subject, text: the content, in ASCII.
        made_at: the time of the alert, in seconds since 1970.
        total_s: maximum seconds for the whole exchange, even if bytes keep arriving.

    Raises:
        AlertFailedError: the server did not take it for any recipient; nothing that it said is quoted.
        ConfigError: the password or the certificate authorities cannot be read.
    """
    message = _compose(server, message_id, subject, text, made_at)
    password = read_mail_password(server)
    trust = None if server.security == "none" else load_trust(server.ca_bundle)
    client = _TlsClient(trust) if server.security == "tls" and trust else _Client()
    try:
        with closing(client), _limit_time(client, total_s):
            return _exchange(client, server, trust, password, message)
    except smtplib.SMTPAuthenticationError as error:
        raise AlertFailedError(
            f"login {error.smtp_code}", "the mail server refused the login"
        ) from None
    except smtplib.SMTPRecipientsRefused:
        raise AlertFailedError(
            "recipients", "the mail server refused all recipients in alert_to"
        ) from None
    except smtplib.SMTPResponseException as error:
        code = error.smtp_code if 0 < error.smtp_code < 1000 else 0
        raise AlertFailedError(
            f"reply {code}", f"the mail server refused the alert with code {code}"
        ) from None
    except smtplib.SMTPServerDisconnected:
        raise AlertFailedError("broken", "the mail server broke off, or was too slow") from None
    except smtplib.SMTPException as error:
        raise AlertFailedError(
            "refused", f"the mail server cannot be used ({type(error).__name__})"
        ) from None
    except ssl.SSLCertVerificationError as error:
        certificate = explain_certificate(error)
        raise AlertFailedError(
            "certificate",
            f"the mail server's certificate was not accepted: {certificate.problem}",
            certificate.advice,
        ) from None
    except (ssl.SSLError, TimeoutError, ValueError):
        # ValueError: the socket was closed because the time was over.
        raise AlertFailedError("broken", "the mail server broke off, or was too slow") from None
    except OSError:
        raise AlertFailedError("unreachable", "the mail server could not be reached") from None


def read_mail_password(server: MailServer) -> str | None:
    """Return the password of the account at the mail server; None to send without login. Raises ConfigError."""
    if server.user is None or server.password_file is None:
        return None
    return read_secret_file(server.password_file, "alert_smtp_password_file")


class _Client(smtplib.SMTP):
    """A client that greets without this machine's name."""

    def __init__(self) -> None:
        super().__init__(local_hostname=_GREETING, timeout=_STEP_S)


class _TlsClient(smtplib.SMTP_SSL):
    """The same, with TLS from the first byte."""

    def __init__(self, trust: ssl.SSLContext) -> None:
        super().__init__(local_hostname=_GREETING, timeout=_STEP_S, context=trust)


def _exchange(
    client: smtplib.SMTP,
    server: MailServer,
    trust: ssl.SSLContext | None,
    password: str | None,
    message: EmailMessage,
) -> str:
    client._host = server.host  # type: ignore[attr-defined]  # the name that its certificate is checked for
    code, _ = client.connect(server.host, server.port)
    if code != 220:
        raise smtplib.SMTPConnectError(code, "")
    client.ehlo_or_helo_if_needed()
    if server.security == "starttls":
        if not client.has_extn("starttls"):
            raise AlertFailedError(
                "no starttls",
                "the mail server offers no encryption (STARTTLS), so nothing was sent",
                "Set `alert_smtp_security: tls` in site.yaml if it encrypts from the first byte on another port.",
            )
        code, _ = client.starttls(context=trust)
        if code != 220:
            raise smtplib.SMTPResponseException(code, "")
        client.ehlo_or_helo_if_needed()
    if server.user is not None and password is not None:
        client.login(server.user, password)
    refused = client.send_message(message, server.sender, list(server.recipients))
    with suppress(smtplib.SMTPException, OSError):
        client.quit()
    # Sending it again would repeat it to everyone else.
    return f"reply 250, {len(refused)} recipients refused" if refused else "reply 250"


def _compose(
    server: MailServer, message_id: str, subject: str, text: str, made_at: float
) -> EmailMessage:
    message = EmailMessage()
    message["From"] = server.sender
    message["To"] = ", ".join(server.recipients)
    message["Subject"] = subject
    message["Date"] = format_datetime(datetime.fromtimestamp(int(made_at), UTC))
    message["Message-ID"] = f"<{message_id}@{_NO_HOST}>"
    message["Auto-Submitted"] = "auto-generated"
    try:
        message.set_content(text, charset="us-ascii")
    except UnicodeError:
        raise ConfigError("an alert is written in ASCII") from None
    return message


@contextmanager
def _limit_time(client: smtplib.SMTP, seconds: float) -> Iterator[None]:
    """Return a context after whose time the connection is broken off, as a server may send a byte at a time."""
    ended = threading.Event()
    watch = threading.Thread(target=_break_off, args=(client, seconds, ended), daemon=True)
    watch.start()
    try:
        yield
    finally:
        ended.set()


def _break_off(client: smtplib.SMTP, seconds: float, ended: threading.Event) -> None:
    """Close the client's connection once its time is over, however late it is opened."""
    if ended.wait(seconds):
        return
    while not ended.wait(_LOOK_S):
        connection = client.sock
        if connection is not None:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
