"""The one outgoing connection: HTTPS to the aggregator, bounded in time and size, never redirected.

Proxy and certificate authorities come from the settings alone, never from the environment. What a server answers is
not trusted: it may be a login page, a proxy's error or a hundred megabytes, and is never quoted in an error.
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
from agent.io.tls import load_trust
from protocol.errors import Code

if TYPE_CHECKING:
    import httpx

_MAX_REFUSAL: Final = 4096  # bytes of {"code": "..."}
_SUCCESS: Final = 200
_OUT_OF_ORDER: Final = frozenset({Code.WRONG_SEQ, Code.WRONG_PREV})
"""Refusals of a link whose predecessor is not there (yet): another payload would take the same place."""
_NEEDS_RESET: Final = frozenset(
    {Code.FORK, Code.SITE_FROZEN, Code.WRONG_EPOCH, Code.LEDGER_ROLLED_BACK}
)
"""Refusals of a site whose history is not the one that the aggregator knows: a restored machine, or a copy of it."""
_PASSING: Final = frozenset(
    {Code.UNKNOWN_KEY, Code.REGISTRY_EXPIRED, *_OUT_OF_ORDER, *_NEEDS_RESET}
)
"""Refusals that are about the moment, not about the bytes: they change nothing here."""


@dataclass(frozen=True)
class AggregatorConnection:
    """How the aggregator is reached.

    Attributes:
        url: `https://host[:port]`, without path; plain `http` is for loopback alone.
        proxy: URL of the outgoing proxy; None means none.
        ca_bundle: PEM file; None means the system's certificate authorities.
        connect_timeout_s: seconds to open a connection.
        total_timeout_s: seconds for one exchange from start to end, however slowly bytes drip.
    """

    url: str
    proxy: str | None = None
    ca_bundle: Path | None = None
    connect_timeout_s: float = 10.0
    total_timeout_s: float = 60.0


class SubmissionRefusedError(DeliveryError):
    """Somebody who answers for the aggregator refused.

    `code` is one of the protocol's, or None where another word was sent. `note` is the signed refusal as received, not
    verified yet; "" where there is none. Without a note that verifies, nobody knows who refused.
    """

    def __init__(self, code: Code | None, status: int, note: str = "") -> None:
        said = code.value if code is not None else "an unknown code"
        super().__init__(f"the aggregator refused (status {status}): {said}")
        self.code = code
        self.status = status
        self.note = note
        if code in _OUT_OF_ORDER:
            self.advice = (
                "The aggregator lacks the submission before this one. Send in order, with `intramural submission send` "
                "and no --digest. If everything before it has a receipt, its log lost an entry: tell its people."
            )
        elif code in _NEEDS_RESET:
            self.advice = (
                "The aggregator knows a later history of this site than this machine: it was restored from a back-up, "
                "copied, or somebody else holds its keys. `intramural reset show` compares both and says what to do."
            )
        elif code is Code.WRONG_ROOT:
            self.advice = (
                "These very scores were reported before; a machine that was restored may have forgotten it. Prepare "
                "the other models, with `intramural submission prepare --model`."
            )
        elif code is Code.WRONG_TOKEN:
            self.advice = "This invite was used or has expired; ask the central team for a new one."
        elif self.final:
            self.advice = (
                "Mend what the code names, then run `intramural submission prepare`: it puts another submission in "
                "place of the refused one, or the same again where nothing changed."
            )

    @property
    def final(self) -> bool:
        """Whether the code is about the submission, not about the moment: it is not sent again as it is."""
        return self.code is not None and self.code not in _PASSING


class Aggregator:
    """Speaks to one aggregator. Every call is one exchange that may be repeated."""

    def __init__(self, connection: AggregatorConnection) -> None:
        """Check the address; nothing is opened yet. Raises ConfigError."""
        self._connection = connection
        self._base = _checked_url(connection.url)

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
        except httpx.ProxyError:
            raise DeliveryError(
                f"the proxy refused the connection to the aggregator at {self._base}",
                "Check `proxy` in site.yaml, and that the proxy lets the aggregator's host and port through.",
            ) from None
        except httpx.ConnectError as error:
            cause = _root_cause(error)
            if isinstance(cause, ssl.SSLCertVerificationError):
                raise DeliveryError(
                    f"the aggregator's certificate was not accepted ({self._base})",
                    "If a proxy inspects TLS here, name its authority with `ca_bundle` in site.yaml.",
                ) from None
            if _breaks_off_tls(cause):
                raise DeliveryError(
                    f"no secure connection to the aggregator could be agreed ({self._base})",
                    "The aggregator, or a proxy before it, speaks no TLS 1.2 or newer. Ask whoever runs it.",
                ) from None
            raise DeliveryError(
                f"the aggregator at {self._base} could not be reached",
                f"{DeliveryError.advice} The address is `aggregator_url` of site.yaml, else the invite's.",
            ) from None
        except httpx.HTTPError as error:
            # Its message may quote what the server sent, so only its kind is told.
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
    """Read the body within bounds and say in plain words what came instead of what was asked for."""
    if response.is_redirect:
        raise DeliveryError(
            "the aggregator's address redirects elsewhere, which is never followed",
            "A proxy or login page is in between, or `aggregator_url` in site.yaml is not the address itself.",
        )
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise DeliveryError("the aggregator's answer is compressed although that was not asked for")
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
            "Ask whoever runs the proxy to let the aggregator's host and port through, then send again.",
        )
    if len(body) > allowed:
        raise DeliveryError(f"the aggregator's answer is longer than {allowed} bytes")
    if not succeeded:
        raise _refusal(bytes(body), response.status_code)
    return bytes(body)


def _refusal(body: bytes, status: int) -> DeliveryError:
    try:
        answer = json.loads(body)
        said, note = answer["code"], answer.get("refusal", "")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return DeliveryError(f"the aggregator answered with status {status} and without a reason")
    return SubmissionRefusedError(
        next((code for code in Code if code.value == said), None),
        status,
        note if isinstance(note, str) else "",
    )


def _is_web_page(content_type: str, start: bytes) -> bool:
    return content_type.lower().startswith(
        ("text/html", "application/xhtml")
    ) or start.lstrip().startswith(b"<")


def _breaks_off_tls(cause: BaseException) -> bool:
    """Return whether a connection was opened and then failed before it was a secure one.

    Whoever answers a page where TLS is expected may close at once: whether the page or the close is seen first is
    chance. What never opened is an error of the operating system: a refused connection, an unknown host.
    """
    closed = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
    return isinstance(cause, (ssl.SSLError, *closed)) or not isinstance(cause, OSError)


def _root_cause(error: BaseException) -> BaseException:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error


def _checked_url(url: str) -> str:
    """Return the address without a trailing slash.

    Raises:
        ConfigError: not `https://host[:port]`, or plain http to another machine.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ConfigError("the aggregator's address is not a URL") from None
    extras = (
        parts.path.strip("/") or parts.query or parts.fragment or parts.username or parts.password
    )
    if parts.scheme not in ("https", "http") or not host or extras:
        raise ConfigError("the aggregator's address must be https://host[:port] and nothing more")
    if parts.scheme == "http" and not _is_loopback(host):
        raise ConfigError(
            "the aggregator's address must be https: plain http is for loopback alone"
        )
    return f"{parts.scheme}://{parts.netloc}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
