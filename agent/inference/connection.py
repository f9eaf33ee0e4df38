"""One worker's connection to a model server: the only module that speaks HTTP.

Built on httpcore, the connection layer of httpx. A pool shared by some hundred workers searches all its
connections for every request; a worker that keeps one connection of its own needs no pool, and measured at 256
workers spends 0.3 ms of CPU on a request where a shared `httpx.AsyncClient` spends 9 ms and one client a worker
0.9 ms.
"""

import asyncio
import logging
import socket
import ssl
import time
from collections.abc import Iterable
from typing import Any, Literal
from urllib.parse import SplitResult

import httpcore

from agent.inference.endpoint import Endpoint, open_trust, read_address, read_proxy, read_token
from agent.inference.limits import HttpLimits

# httpcore's debug lines name hosts and headers; neither belongs in a log.
logging.getLogger("httpcore").setLevel(logging.WARNING)

_IDLE_S = 1.0  # a connection unused for longer may have been closed by the server: open a new one
_BROKEN = (httpcore.NetworkError, httpcore.ProtocolError)


Obstacle = Literal["refused", "timeout", "name", "tls", "proxy"]


class UnreachableServerError(Exception):
    """No connection came about: the request never left, so asking again repeats nothing.

    Attributes:
        obstacle: the step that failed.
    """

    def __init__(self, obstacle: Obstacle) -> None:
        super().__init__(obstacle)
        self.obstacle = obstacle


class BrokenError(Exception):
    """The connection broke after the request was sent.

    Attributes:
        mid_reply: the reply had begun.
    """

    def __init__(self, *, mid_reply: bool) -> None:
        super().__init__()
        self.mid_reply = mid_reply


class TooLongError(Exception):
    """The reply is longer than `HttpLimits.max_reply_bytes`."""


class Reply:
    """A complete HTTP reply. Its body may hold patient text: it goes to the parser and nowhere else."""

    __slots__ = ("_headers", "body", "status")

    def __init__(self, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> None:
        self.status = status
        self._headers = headers
        self.body = body

    def header(self, name: bytes) -> str | None:
        """Return the first header of that lower-case name, as text."""
        for key, value in self._headers:
            if key.lower() == name:
                return value.decode("latin-1")
        return None


class ServerLine:
    """Everything that requests to a deployment share: address, headers, token and trust, read once for all workers."""

    def __init__(self, endpoint: Endpoint, limits: HttpLimits) -> None:
        """Read the token and the certificate authorities.

        Raises:
            ConfigError: the address, token file, proxy or CA bundle cannot be used.
        """
        base = read_address(endpoint)
        self._limits = limits
        self._tls = open_trust(endpoint)
        self._proxy = read_proxy(endpoint)
        self._extensions: dict[str, Any] = {"timeout": {"connect": limits.connect_timeout_s}}
        self._base = httpcore.URL(base.geturl() or "/")
        self._urls: dict[str, httpcore.URL] = {}  # by path
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
        """Return a connection of one worker's own; it connects when first used."""
        return ServerConnection(self)

    def build_request(self, method: bytes, path: str, body: bytes) -> httpcore.Request:
        """Build a request for `path` below the base address, or beside its last part where it begins with "../"."""
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
        """Return an unconnected HTTP connection, direct or by the proxy."""
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
            login = (proxy.username, proxy.password or "")
        return httpcore.AsyncHTTPProxy(
            f"{proxy.scheme}://{host}{port}", proxy_auth=login, ssl_context=self._tls
        )

    @property
    def max_reply_bytes(self) -> int:
        """Bytes of one reply."""
        return self._limits.max_reply_bytes


class ServerConnection:
    """One HTTP connection, kept open between requests and opened again when it broke."""

    def __init__(self, line: ServerLine) -> None:
        self._line = line
        self._http: httpcore.AsyncConnectionInterface | None = None
        self._last_used = 0.0

    async def post(self, path: str, body: bytes) -> Reply:
        """Send a JSON body and return the whole reply. The caller limits the time.

        Raises:
            UnreachableServerError: no connection came about.
            BrokenError: the connection broke; one that had gone stale was opened again first.
            TooLongError: the reply exceeds the limit of bytes.
        """
        return await self._send(b"POST", path, body)

    async def get(self, path: str) -> Reply:
        """Fetch `path`; otherwise like `post`."""
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
            # The server may close a kept connection at the moment we use it; that tells nothing about the request.
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
            # A connection with half a reply in it would give that half to the next request.
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
        return "proxy"
    if isinstance(error, httpcore.ConnectTimeout):
        return "timeout"
    if isinstance(error.__cause__, ssl.SSLError):
        return "tls"
    if isinstance(error.__cause__, socket.gaierror):
        return "name"
    return "refused"


class _Streams(httpcore.AsyncNetworkBackend):
    """Direct connections on asyncio's own streams, which cost a third less than httpcore's default backend."""

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self._tls = tls

    async def connect_tcp(  # the timeout is httpcore's own parameter
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
    """An asyncio stream pair as httpcore expects it. The caller limits the time of an attempt."""

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
        """TLS was set up while connecting; anything else is refused rather than sent in the clear."""
        if self._writer.get_extra_info("ssl_object") is None:
            raise httpcore.ConnectError
        return self

    def get_extra_info(self, info: str) -> Any:
        return self._writer.get_extra_info(info)
