"""One worker's HTTP connection to a model server; no other module of inference uses HTTP.

This module uses httpcore, the connection layer of httpx. A pool that is shared by hundreds of workers searches all its
connections for every request. Here each worker has its own connection and needs no pool. With 256 workers, a request
takes 0.3 ms of CPU time, compared with 9 ms for a shared `httpx.AsyncClient` and 0.9 ms for one client per worker.
"""

import asyncio
import logging
import socket
import ssl
import time
from collections.abc import Iterable
from typing import Any, Literal
from urllib.parse import SplitResult, unquote

import httpcore

from agent.inference.endpoint import Endpoint, open_trust, read_address, read_proxy, read_token
from agent.inference.limits import HttpLimits
from agent.io.outgoing_faults import (
    EARLY_CERTIFICATE,
    EXPIRED_CERTIFICATE,
    OTHER_NAME,
    Obstruction,
    explain_certificate,
    find_certificate_error,
    is_login_refused,
)

# httpcore's debug messages contain hosts and headers, which must not be logged.
logging.getLogger("httpcore").setLevel(logging.WARNING)

# After this time the server may have closed an unused connection, so a new one is opened.
_IDLE_S = 1.0
_BROKEN = (httpcore.NetworkError, httpcore.ProtocolError)


Obstacle = Literal[
    "refused", "timeout", "name", "tls", "expired", "early", "other name", "proxy", "proxy login"
]

_CERTIFICATES: dict[Obstruction, Obstacle] = {
    EXPIRED_CERTIFICATE: "expired",
    EARLY_CERTIFICATE: "early",
    OTHER_NAME: "other name",
}


class UnreachableServerError(Exception):
    """No connection could be opened. The request was not sent, so it can safely be sent again.

    Attributes:
        obstacle: the reason for the failure.
    """

    def __init__(self, obstacle: Obstacle) -> None:
        super().__init__(obstacle)
        self.obstacle = obstacle


class BrokenError(Exception):
    """The connection broke after the request was sent.

    Attributes:
        mid_reply: whether part of the reply had been received.
    """

    def __init__(self, *, mid_reply: bool) -> None:
        super().__init__()
        self.mid_reply = mid_reply


class TooLongError(Exception):
    """The reply is longer than `HttpLimits.max_reply_bytes`."""


class Reply:
    """A complete HTTP reply. Its body may contain patient text and must only be passed to the parser."""

    __slots__ = ("_headers", "body", "status")

    def __init__(self, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> None:
        self.status = status
        self._headers = headers
        self.body = body

    def header(self, name: bytes) -> str | None:
        """Return the value of the first header with this lower-case name."""
        for key, value in self._headers:
            if key.lower() == name:
                return value.decode("latin-1")
        return None


class ServerLine:
    """The address, headers, token and TLS settings of a deployment's server, read once for all workers."""

    def __init__(self, endpoint: Endpoint, limits: HttpLimits, url: str = "") -> None:
        """Read the token and the certificate authorities.

        Args:
            endpoint: the deployment.
            limits: limits of time and size.
            url: the address of one of the deployment's replicas; if empty, `base_url`.

        Raises:
            ConfigError: the address, token file, proxy or CA bundle cannot be used.
        """
        base = read_address(endpoint, url)
        self._limits = limits
        self._tls = open_trust(endpoint, url)
        self._proxy = read_proxy(endpoint)
        self._extensions: dict[str, Any] = {"timeout": {"connect": limits.connect_timeout_s}}
        self._base = httpcore.URL(base.geturl() or "/")
        self._urls: dict[str, httpcore.URL] = {}  # path -> URL
        self._headers = [
            (b"host", base.netloc.lower().encode("ascii")),
            (b"accept", b"application/json"),
            (b"accept-encoding", b"identity"),
            (b"user-agent", b"intramural"),
        ]
        token = read_token(endpoint)
        if token is not None:
            self._headers.append((b"authorization", b"Bearer " + token.encode("ascii")))

    def open(self) -> "ServerConnection":
        """Return a new connection for one worker, which connects when it is first used."""
        return ServerConnection(self)

    def build_request(self, method: bytes, path: str, body: bytes) -> httpcore.Request:
        """Build a request for `path` below the base address, or relative to its parent if it begins with "../"."""
        url = self._urls.get(path)
        if url is None:
            url = self._urls[path] = self._build_url(path)
        headers = self._headers
        if body:
            headers = [
                *headers,
                (b"content-type", b"application/json"),
                (b"content-length", b"%d" % len(body)),
            ]
        return httpcore.Request(
            method, url, headers=headers, content=body, extensions=self._extensions
        )

    def _build_url(self, path: str) -> httpcore.URL:
        base = self._base
        target = base.target.rstrip(b"/")
        if path.startswith("../"):
            path = path.removeprefix("..")
            target = target.rpartition(b"/")[0]
        return httpcore.URL(
            scheme=base.scheme, host=base.host, port=base.port, target=target + path.encode()
        )

    def dial(self) -> httpcore.AsyncConnectionInterface:
        """Return an unconnected HTTP connection, direct or through the proxy."""
        if self._proxy is None:
            return httpcore.AsyncHTTPConnection(
                self._base.origin, ssl_context=self._tls, network_backend=_Streams(self._tls)
            )
        return self._open_proxy(self._proxy).create_connection(self._base.origin)

    def _open_proxy(self, proxy: SplitResult) -> httpcore.AsyncHTTPProxy:
        host = proxy.hostname or ""
        if ":" in host:
            host = f"[{host}]"  # an IPv6 address
        port = f":{proxy.port}" if proxy.port else ""
        login = None
        if proxy.username is not None:
            login = (unquote(proxy.username), unquote(proxy.password or ""))
        return httpcore.AsyncHTTPProxy(
            f"{proxy.scheme}://{host}{port}", proxy_auth=login, ssl_context=self._tls
        )

    @property
    def max_reply_bytes(self) -> int:
        """The maximum size of a reply in bytes."""
        return self._limits.max_reply_bytes


class ServerConnection:
    """An HTTP connection that is kept open between requests and reopened if it breaks."""

    def __init__(self, line: ServerLine) -> None:
        self._line = line
        self._http: httpcore.AsyncConnectionInterface | None = None
        self._last_used = 0.0

    async def post(self, path: str, body: bytes) -> Reply:
        """Send a JSON body and return the complete reply. The caller is responsible for a timeout.

        Raises:
            UnreachableServerError: no connection could be opened.
            BrokenError: the connection broke. If a reused connection had gone stale, a new one was tried first.
            TooLongError: the reply exceeds the maximum size.
        """
        return await self._send(b"POST", path, body)

    async def get(self, path: str) -> Reply:
        """Send a GET request; see `post`."""
        return await self._send(b"GET", path, b"")

    async def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        if self._http is not None:
            http, self._http = self._http, None
            await http.aclose()

    async def _send(self, method: bytes, path: str, body: bytes) -> Reply:
        http = self._http
        if http is not None and (http.is_closed() or time.monotonic() - self._last_used > _IDLE_S):
            await self.close()
        reused = self._http is not None
        try:
            return await self._exchange(method, path, body)
        except BrokenError as broken:
            # The server may close a kept connection at the moment when it is reused, so try a new one.
            if not reused or broken.mid_reply:
                raise
            return await self._exchange(method, path, body)

    async def _exchange(self, method: bytes, path: str, body: bytes) -> Reply:
        if self._http is None:
            self._http = self._line.dial()
        mid_reply = False
        is_complete = False
        try:
            reply = await self._http.handle_async_request(
                self._line.build_request(method, path, body)
            )
            mid_reply = True
            content = await self._read_content(reply)
            await reply.aclose()
            is_complete = True
        except (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.ProxyError) as error:
            raise UnreachableServerError(_name_obstacle(error)) from None
        except _BROKEN:
            raise BrokenError(mid_reply=mid_reply) from None
        finally:
            # The unread rest of an incomplete reply would be read as the next request's reply.
            if not is_complete:
                await self.close()
        self._last_used = time.monotonic()
        return Reply(reply.status, reply.headers, content)

    async def _read_content(self, reply: httpcore.Response) -> bytes:
        parts = []
        size = 0
        async for part in reply.aiter_stream():
            parts.append(part)
            size += len(part)
            if size > self._line.max_reply_bytes:
                raise TooLongError
        return b"".join(parts)


def _name_obstacle(error: Exception) -> Obstacle:
    if isinstance(error, httpcore.ProxyError):
        return "proxy login" if is_login_refused(error) else "proxy"
    if isinstance(error, httpcore.ConnectTimeout):
        return "timeout"
    refused = find_certificate_error(error)
    if refused is not None:
        return _CERTIFICATES.get(explain_certificate(refused), "tls")
    if isinstance(error.__cause__, ssl.SSLError):
        return "tls"
    if isinstance(error.__cause__, socket.gaierror):
        return "name"
    return "refused"


class _Streams(httpcore.AsyncNetworkBackend):
    """Direct connections with asyncio's own streams, which need a third less CPU than httpcore's default backend."""

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self._tls = tls

    async def connect_tcp(  # httpcore defines the timeout parameter
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                reader, writer = await asyncio.open_connection(host, port, ssl=self._tls)
                return _Stream(reader, writer)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout from error
        except (OSError, ssl.SSLError, UnicodeError) as error:
            raise httpcore.ConnectError from error


class _Stream(httpcore.AsyncNetworkStream):
    """An asyncio stream pair with httpcore's interface. The caller is responsible for timeouts."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002, ASYNC109
        try:
            return await self._reader.read(max_bytes)
        except OSError as error:
            raise httpcore.ReadError from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002, ASYNC109
        if not buffer:
            return
        try:
            self._writer.write(buffer)
            await self._writer.drain()
        except OSError as error:
            raise httpcore.WriteError from error

    async def aclose(self) -> None:
        self._writer.close()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,  # noqa: ARG002
        server_hostname: str | None = None,  # noqa: ARG002
        timeout: float | None = None,  # noqa: ARG002, ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        """Return this stream if TLS was set up while connecting, or else refuse to send data unencrypted."""
        if self._writer.get_extra_info("ssl_object") is None:
            raise httpcore.ConnectError
        return self

    def get_extra_info(self, info: str) -> Any:
        return self._writer.get_extra_info(info)
