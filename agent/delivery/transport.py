"""HTTPS requests to the aggregator, limited in time and size, without redirects.

Proxy and certificate authorities come only from the settings, never from the environment. Answers are not trusted:
they may be a login page, a proxy's error or a hundred megabytes, and they are never quoted in an error.
"""

import asyncio
import ipaddress
import json
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from agent.errors import ConfigError, DeliveryError
from agent.io.outgoing_faults import explain_certificate, explain_proxy, find_certificate_error
from agent.io.tls import load_trust
from protocol.errors import Code

if TYPE_CHECKING:
    import httpx

_ADDRESS_ADVICE: Final = (
    "Correct aggregator_url in site.yaml; without that line, the address of the invite is used."
)
_MAX_REFUSAL: Final = 4096  # bytes; maximum size of an answer such as {"code": "..."}
_SUCCESS: Final = 200
_OUT_OF_ORDER: Final = frozenset({Code.WRONG_SEQ, Code.WRONG_PREV})
"""Refusals because the preceding link is missing from the log. Any other payload would be refused as well."""
_NEEDS_RESET: Final = frozenset(
    {Code.FORK, Code.SITE_FROZEN, Code.WRONG_EPOCH, Code.LEDGER_ROLLED_BACK}
)
"""Refusals because the site's history differs from the aggregator's log, for example after restoring a backup."""
_PASSING: Final = frozenset(
    {Code.UNKNOWN_KEY, Code.REGISTRY_EXPIRED, *_OUT_OF_ORDER, *_NEEDS_RESET}
)
"""Refusals because of the present situation, not the submission. They leave the submission's state unchanged."""


@dataclass(frozen=True)
class AggregatorConnection:
    """Address and network settings of the aggregator.

    Attributes:
        url: `https://host[:port]` without a path; plain `http` is allowed only for loopback addresses.
        proxy: URL of the outgoing proxy, or None to connect directly.
        ca_bundle: PEM file, or None to use the system's certificate authorities.
        connect_timeout_s: maximum seconds to open a connection.
        total_timeout_s: maximum seconds for a whole exchange, even if bytes keep arriving.
    """

    url: str
    proxy: str | None = None
    ca_bundle: Path | None = None
    connect_timeout_s: float = 10.0
    total_timeout_s: float = 60.0


class SubmissionRefusedError(DeliveryError):
    """The aggregator, or a server that answered in its place, refused a request.

    `code` is an error code defined by the protocol, or None if the code in the answer is unknown. `note` is the signed
    refusal as received, not yet verified, or "". Only a note that verifies shows that the refusal is the aggregator's.
    """

    def __init__(self, code: Code | None, status: int, note: str = "") -> None:
        reason = code.value if code is not None else "an unknown code"
        super().__init__(f"the aggregator refused (status {status}): {reason}")
        self.code = code
        self.status = status
        self.note = note
        if code in _OUT_OF_ORDER:
            self.advice = (
                "The aggregator lacks the submission before this one. Send all in order: run `intramural submission "
                "send` without --digest. If every earlier submission has a receipt, the log lost an entry: tell the "
                "central team."
            )
        elif code in _NEEDS_RESET:
            self.advice = (
                "The aggregator has a later history of this site than this machine. Either the machine was "
                "restored from a backup or copied, or the site's keys were stolen. `intramural reset show` compares "
                "both and gives advice."
            )
        elif code is Code.WRONG_ROOT:
            self.advice = (
                "The same scores were reported before, possibly by this machine before it was restored from a backup. "
                "Prepare the other models with `intramural submission prepare --model`."
            )
        elif code is Code.WRONG_TOKEN:
            self.advice = (
                "This invite was used before or has expired; ask the central team for a new one."
            )
        elif self.final:
            self.advice = (
                "Fix the problem that the code names, then run `intramural submission prepare`. It replaces the "
                "refused submission, or restores it if nothing has changed."
            )

    @property
    def final(self) -> bool:
        """Whether the code is about the submission itself, so that sending it again unchanged cannot succeed."""
        return self.code is not None and self.code not in _PASSING


class Aggregator:
    """A client of one aggregator. Each call is a single exchange that may be repeated."""

    def __init__(self, connection: AggregatorConnection) -> None:
        """Check the address without connecting to it. Raises ConfigError if it is invalid."""
        self._connection = connection
        self._base = check_aggregator_url(connection.url)

    def get(self, path: str, *, limit: int) -> bytes:
        """Return the body of `path`, at most `limit` bytes. Raises DeliveryError."""
        return asyncio.run(self._bounded("GET", path, None, limit))

    def post(self, path: str, body: bytes, *, limit: int) -> bytes:
        """Send `body` to `path` and return the answer, at most `limit` bytes. Raises DeliveryError."""
        return asyncio.run(self._bounded("POST", path, body, limit))

    async def _bounded(self, method: str, path: str, body: bytes | None, limit: int) -> bytes:
        import httpx

        try:
            async with asyncio.timeout(self._connection.total_timeout_s):
                return await self._exchange(method, path, body, limit)
        except TimeoutError:
            raise DeliveryError(
                f"the aggregator at {self._base} did not answer within {self._connection.total_timeout_s:g} seconds"
            ) from None
        except httpx.TimeoutException:
            raise DeliveryError(
                f"the aggregator at {self._base} could not be reached in time"
            ) from None
        except httpx.ProxyError as error:
            proxy = explain_proxy(error, self._connection.proxy, "the aggregator's host and port")
            raise DeliveryError(
                f"the aggregator at {self._base} could not be reached: the proxy {proxy.problem}",
                proxy.advice,
            ) from None
        except httpx.ConnectError as error:
            refused = find_certificate_error(error)
            if refused is not None:
                certificate = explain_certificate(refused)
                raise DeliveryError(
                    f"the aggregator's certificate was not accepted: {certificate.problem} ({self._base})",
                    certificate.advice,
                ) from None
            if _breaks_off_tls(_root_cause(error)):
                raise DeliveryError(
                    f"no secure connection to the aggregator could be negotiated ({self._base})",
                    "The aggregator, or a proxy in front of it, does not support TLS 1.2 or newer. Ask its "
                    "administrators.",
                ) from None
            raise DeliveryError(
                f"the aggregator at {self._base} could not be reached",
                f"{DeliveryError.advice} The address is `aggregator_url` in site.yaml, or else that of the invite.",
            ) from None
        except httpx.HTTPError as error:
            # The message of the error may quote the server's answer, so only its type is shown.
            raise DeliveryError(
                f"the connection to the aggregator broke ({type(error).__name__}, {self._base})"
            ) from None

    async def _exchange(self, method: str, path: str, body: bytes | None, limit: int) -> bytes:
        import httpx

        timeout = httpx.Timeout(
            self._connection.total_timeout_s, connect=self._connection.connect_timeout_s
        )
        headers = {"User-Agent": "intramural", "Accept-Encoding": "identity"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        async with (
            httpx.AsyncClient(
                trust_env=False,
                proxy=self._connection.proxy,
                verify=load_trust(self._connection.ca_bundle),
                follow_redirects=False,
                timeout=timeout,
                headers=headers,
            ) as client,
            client.stream(method, self._base + path, content=body) as response,
        ):
            return await _answer(response, limit)


async def _answer(response: "httpx.Response", limit: int) -> bytes:
    """Return the body, up to `limit` bytes. Raises DeliveryError with an explanation of any other answer."""
    if response.is_redirect:
        raise DeliveryError(
            "the aggregator's address redirects elsewhere, and redirects are not followed",
            "A proxy or login page is in between, or `aggregator_url` in site.yaml is not the final address.",
        )
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise DeliveryError(
            "the aggregator's answer is compressed although compression was not requested"
        )
    succeeded = response.status_code == _SUCCESS
    allowed = limit if succeeded else _MAX_REFUSAL
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > allowed:
            break
    if _is_web_page(response.headers.get("Content-Type", ""), bytes(body[:256])):
        raise DeliveryError(
            "the aggregator answered with a web page: a proxy or login page is in between",
            "Ask the administrators of the proxy to allow the aggregator's host and port, then send again.",
        )
    if len(body) > allowed:
        raise DeliveryError(f"the aggregator's answer is longer than {allowed} bytes")
    if not succeeded:
        raise _refusal(bytes(body), response.status_code)
    return bytes(body)


def _refusal(body: bytes, status: int) -> DeliveryError:
    try:
        answer = json.loads(body)
        code_name, note = answer["code"], answer.get("refusal", "")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return DeliveryError(f"the aggregator answered with status {status} without a reason")
    return SubmissionRefusedError(
        next((code for code in Code if code.value == code_name), None),
        status,
        note if isinstance(note, str) else "",
    )


def _is_web_page(content_type: str, start: bytes) -> bool:
    return content_type.lower().startswith(
        ("text/html", "application/xhtml")
    ) or start.lstrip().startswith(b"<")


def _breaks_off_tls(cause: BaseException) -> bool:
    """Return whether a connection was opened but failed before TLS was established.

    A server that answers TLS with a web page may close the connection at once, and whether the page or the close is
    seen first is a matter of chance. If no connection was opened (it was refused, or the host is unknown), the cause is
    another OSError.
    """
    closed = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
    return isinstance(cause, (ssl.SSLError, *closed)) or not isinstance(cause, OSError)


def _root_cause(error: BaseException) -> BaseException:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error


def check_aggregator_url(url: str) -> str:
    """Return the aggregator's address without a trailing slash.

    Raises:
        ConfigError: the address is not `https://host[:port]`, or uses plain http for another machine.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ConfigError("the aggregator's address is not a URL", _ADDRESS_ADVICE) from None
    extras = (
        parts.path.strip("/") or parts.query or parts.fragment or parts.username or parts.password
    )
    if parts.scheme not in ("https", "http") or not host or extras:
        raise ConfigError(
            "the aggregator's address must have the form https://host[:port], with nothing else",
            _ADDRESS_ADVICE,
        )
    if parts.scheme == "http" and not _is_loopback(host):
        raise ConfigError(
            "the aggregator's address must use https: plain http is allowed only for loopback addresses",
            _ADDRESS_ADVICE,
        )
    return f"{parts.scheme}://{parts.netloc}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
