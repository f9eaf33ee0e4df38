"""What every request must satisfy before anything else is looked at: address, origin and size."""

from collections.abc import Callable, Collection, Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.service.web.forms import is_multipart

SAFE_METHODS = frozenset({"GET", "HEAD"})
LARGEST_BODY = 2 * 1024 * 1024  # bytes; a signed payload and every form are much smaller
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_MISDIRECTED = 421
_NOT_THE_ADDRESS = "This service answers only at its own address, service_origin in site.yaml."
_FORBIDDEN = 403
_TOO_LARGE = 413


class Guard:
    """Refuses requests for another host, from another origin, or with too large a body; adds the safety headers.

    A request that changes something must name its origin, as every browser does; a request with an API token need not,
    because no browser sends the token by itself.

    Args:
        app: the application behind the guard.
        origins: the addresses at which people open the service, such as "https://eval.example.org".
        takes_upload: whether a path accepts a large file. Its body is passed on as it arrives, for the application to
            limit it.
        probes: paths that are answered under any name, because supervisors ask for them by an IP address.
        for_programs: paths that are answered under any name to a program with an API token. A browser never sends one
            by itself, so that a page elsewhere that reaches the service under a name of its own gains nothing.
    """

    def __init__(
        self,
        app: ASGIApp,
        origins: Iterable[str],
        takes_upload: Callable[[str], bool] = lambda _: False,
        probes: Collection[str] = (),
        for_programs: Collection[str] = (),
    ) -> None:
        self._app = app
        self._takes_upload = takes_upload
        self._probes = frozenset(probes)
        self._for_programs = frozenset(for_programs)
        self._origins = frozenset(origins)
        self._hosts = frozenset(origin.partition("://")[2] for origin in self._origins)
        self._is_secure = all(origin.startswith("https://") for origin in self._origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = self._add_headers(send)
        headers = Headers(scope=scope)
        is_upload = is_multipart(headers.get("content-type", "")) and self._takes_upload(
            scope["path"]
        )
        refusal = (
            None
            if self._is_open(scope["path"], scope["method"], headers)
            else self._find_fault(scope["method"], headers, is_upload=is_upload)
        )
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        if is_upload:
            await self._app(scope, receive, send)
            return
        body = await _read_body(receive)
        if body is None:
            await _refuse(_TOO_LARGE, _describe_size())(scope, receive, send)
            return
        await self._app(scope, _repeat_body(body, receive), send)

    def _is_open(self, path: str, method: str, headers: Headers) -> bool:
        """Return whether a request is answered under any name of the machine."""
        if method not in SAFE_METHODS:
            return False
        return path in self._probes or (path in self._for_programs and _has_token(headers))

    def _find_fault(self, method: str, headers: Headers, *, is_upload: bool) -> Response | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return _refuse(_MISDIRECTED, _NOT_THE_ADDRESS)
        if not is_upload and _read_length(headers) > LARGEST_BODY:
            return _refuse(_TOO_LARGE, _describe_size())
        if method in SAFE_METHODS or _has_token(headers):
            return None
        if headers.get("origin") not in self._origins:
            return _refuse(_FORBIDDEN, "This request came from a page of another address.")
        return None

    def _add_headers(self, send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if self._is_secure:
                    headers.setdefault("Strict-Transport-Security", "max-age=31536000")
            await send(message)

        return send_with_headers


async def _read_body(receive: Receive) -> bytes | None:
    """Return the whole body, or None if it is larger than accepted, whatever length was declared."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if size > LARGEST_BODY:
            return None
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _repeat_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that hands out the body, and then whatever the connection still has to say."""
    waiting = [body]

    async def receive_again() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return receive_again


def _has_token(headers: Headers) -> bool:
    return headers.get("authorization", "").lower().startswith("bearer ")


def _read_length(headers: Headers) -> int:
    declared = headers.get("content-length", "0")
    return int(declared[:19]) if declared.isascii() and declared.isdigit() else 0


def _describe_size() -> str:
    return f"At most {LARGEST_BODY // (1024 * 1024)} MB can be sent at once."


def _refuse(status: int, sentence: str) -> Response:
    return Response(f"{sentence}\n", status, media_type="text/plain; charset=utf-8")
