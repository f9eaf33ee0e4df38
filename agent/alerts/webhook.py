"""Post an alert to a webhook: one request, signed, limited in time, without redirects.

The headers follow Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`, which is "v1," and the
base64 of HMAC-SHA-256 over "ID.TIMESTAMP.BODY". Only the status of the answer is read.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
from typing import Final

from agent.access.secret_file import read_secret_file
from agent.alerts.channels import AlertFailedError, Webhook
from agent.errors import ConfigError
from agent.io.outgoing_faults import explain_certificate, explain_proxy, find_certificate_error
from agent.io.tls import load_trust

_CONNECT_S: Final = 10.0
_TOTAL_S: Final = 20.0
_PREFIX: Final = "whsec_"


def post_alert(
    webhook: Webhook, message_id: str, body: bytes, now: float, *, total_s: float = _TOTAL_S
) -> str:
    """Post an alert; return the status that came back, such as `status 204`.

    Args:
        webhook: the receiver.
        message_id: the id of the alert, the same at each repetition.
        body: the alert as JSON.
        now: the time of this attempt, in seconds since 1970.
        total_s: maximum seconds for the whole exchange, even if bytes keep arriving.

    Raises:
        AlertFailedError: the receiver did not take it; nothing that it said is quoted.
        ConfigError: the secret or the certificate authorities cannot be read.
    """
    secret = read_webhook_secret(webhook)
    timestamp = str(int(now))
    headers = {
        "User-Agent": "intramural",
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": sign_alert(secret, message_id, timestamp, body),
    }
    status = asyncio.run(_post(webhook, headers, body, total_s))
    if 200 <= status < 300:
        return f"status {status}"
    if 300 <= status < 400:
        raise AlertFailedError(
            f"status {status}",
            "the webhook's address redirects elsewhere, and redirects are not followed",
            "Set `alert_webhook_url` in site.yaml to the final address.",
        )
    raise AlertFailedError(f"status {status}", f"the webhook answered with status {status}")


def sign_alert(secret: bytes, message_id: str, timestamp: str, body: bytes) -> str:
    """Return the signature of an alert."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(secret, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def read_webhook_secret(webhook: Webhook) -> bytes:
    """Return the secret: the bytes of the file's line, or those behind `whsec_` in base64.

    Raises:
        ConfigError: the file is missing, open to other accounts, or does not hold a secret.
    """
    line = read_secret_file(webhook.secret_file, "alert_webhook_secret_file")
    if not line.startswith(_PREFIX):
        return line.encode()
    try:
        return base64.b64decode(line.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        raise ConfigError(
            "alert_webhook_secret_file: expected base64 after whsec_",
            "Copy the receiver's secret again.",
        ) from None


async def _post(webhook: Webhook, headers: dict[str, str], body: bytes, total_s: float) -> int:
    """Send the request; return the status of the answer, whose body is not read."""
    import httpx

    try:
        async with (
            asyncio.timeout(total_s),
            httpx.AsyncClient(
                trust_env=False,
                proxy=webhook.proxy,
                verify=load_trust(webhook.ca_bundle),
                follow_redirects=False,
                timeout=httpx.Timeout(total_s, connect=_CONNECT_S),
                headers=headers,
            ) as client,
            client.stream("POST", webhook.url, content=body) as response,
        ):
            return response.status_code
    except (TimeoutError, httpx.TimeoutException):
        raise AlertFailedError("timeout", "the webhook did not answer in time") from None
    except httpx.ProxyError as error:
        proxy = explain_proxy(error, webhook.proxy, "the webhook's host and port")
        raise AlertFailedError(
            "proxy",
            f"the webhook could not be reached: the proxy {proxy.problem}",
            f"{proxy.advice} `alert_webhook_uses_proxy: false` connects directly.",
        ) from None
    except httpx.ConnectError as error:
        refused = find_certificate_error(error)
        if refused is not None:
            certificate = explain_certificate(refused)
            raise AlertFailedError(
                "certificate",
                f"the webhook's certificate was not accepted: {certificate.problem}",
                certificate.advice,
            ) from None
        raise AlertFailedError("unreachable", "the webhook could not be reached") from None
    except httpx.HTTPError as error:
        raise AlertFailedError(
            "broken", f"the connection to the webhook broke ({type(error).__name__})"
        ) from None
