"""Middleware through which every request passes: rate limit, body, waiting for a turn, response. Handles all errors.

Bodies are read before a request waits for its turn, so that a slow body does not delay other
requests.
"""

import logging
import time
from collections import Counter
from http import HTTPStatus

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aggregator.api.answers import name_place, name_route, refuse
from aggregator.api.body import BodyRefusedError, read_body
from aggregator.api.clients import ClientNamer
from aggregator.api.limits import Gate, OverloadedError, RateLimit, TooOftenError
from aggregator.api.metrics import OVERLOADED, TOO_MANY_REQUESTS, Metrics
from aggregator.settings import Settings
from protocol.envelope import MAX_BYTES, STATEMENT_TYPE
from protocol.errors import Code

log = logging.getLogger("aggregator.api")

WATCHERS_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Routes for operators, answered even when all other requests have to wait."""
METHODS_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
OVERLOAD_REPORT_S = 60.0


class Turnstile:
    """Middleware around all routes. Statements and read requests have separate gates, so neither delays the other."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        """Wrap `app`."""
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._clients = ClientNamer(settings.trusted_proxies, settings.client_header)
        self._rate = RateLimit(settings.requests_per_minute)
        self._statements = self._make_gate()
        self._readings = self._make_gate()
        self._turned_away: Counter[str] = Counter()
        self._reported_at = -OVERLOAD_REPORT_S

    def _make_gate(self) -> Gate:
        return Gate(
            at_once=self._settings.max_in_flight,
            waiting=self._settings.max_waiting,
            waiting_per_client=self._settings.max_waiting_per_client,
            patience_s=self._settings.waiting_timeout_s,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"] in WATCHERS_PATHS and not is_ambiguous(scope):
            await self._answer(scope, receive, send)
            return
        observed = _ObservedSend(send)
        began = time.monotonic()
        try:
            await self._let_in(scope, receive, observed)
        finally:
            self._metrics.count_answer(scope, observed.status, time.monotonic() - began)

    async def _let_in(self, scope: Scope, receive: Receive, send: "_ObservedSend") -> None:
        if is_ambiguous(scope):
            answer = refuse(HTTPStatus.BAD_REQUEST, Code.MALFORMED)
            answer.headers["Connection"] = (
                "close"  # the remaining bytes cannot be assigned to a request
            )
            await answer(scope, receive, send)
            return
        client = self._clients.name(scope)
        try:
            self._rate.count(client)
            if scope["method"] not in METHODS_WITH_BODY:
                async with self._readings.pass_through(client):
                    await self._answer(scope, receive, send)
                return
            body = await read_body(
                Request(scope, receive),
                limit=MAX_BYTES[STATEMENT_TYPE],
                timeout_s=self._settings.arrival_timeout_s,
            )
            async with self._statements.pass_through(client):
                await self._answer(scope, _Replay(body, receive), send)
        except BodyRefusedError:
            log.info("refused: method=%s code=%s", scope["method"], Code.MALFORMED)
            await refuse(HTTPStatus.BAD_REQUEST, Code.MALFORMED)(scope, receive, send)
        except OverloadedError as error:
            await self._turn_away(error, scope, receive, send)

    async def _turn_away(
        self, error: OverloadedError, scope: Scope, receive: Receive, send: Send
    ) -> None:
        too_often = isinstance(error, TooOftenError)
        status = HTTPStatus.TOO_MANY_REQUESTS if too_often else HTTPStatus.SERVICE_UNAVAILABLE
        code = TOO_MANY_REQUESTS if too_often else OVERLOADED
        self._metrics.count_turned_away(code)
        self._report_overload(code)
        answer = refuse(status, code)
        answer.headers["Retry-After"] = str(error.retry_after_s)
        await answer(scope, receive, send)

    def _report_overload(self, code: str) -> None:
        """Log one line per minute. With a line per request, an attacker could fill the disk."""
        self._turned_away[code] += 1
        now = time.monotonic()
        if now - self._reported_at < OVERLOAD_REPORT_S:
            return
        counts = " ".join(f"{code}={count}" for code, count in sorted(self._turned_away.items()))
        log.warning("requests rejected since the last such line: %s", counts)
        self._turned_away.clear()
        self._reported_at = now

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        observed = send if isinstance(send, _ObservedSend) else _ObservedSend(send)
        try:
            await self._app(scope, receive, observed)
        except Exception as error:  # noqa: BLE001 - last resort: every failure must be answered
            # The message may quote request data. Type and location are enough to find the bug.
            route = name_route(scope)
            log.error("failed: route=%s %s at %s", route, type(error).__name__, name_place(error))
            if observed.status == 0:
                await refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "internal")(scope, receive, observed)


def is_ambiguous(scope: Scope) -> bool:
    """Return whether a proxy could see a different end of this request than we do (request smuggling)."""
    names = {name for name, _ in scope["headers"]}
    if scope["http_version"] not in {"1.0", "1.1"}:
        return True
    if b"transfer-encoding" not in names:
        return False
    return b"content-length" in names or scope["http_version"] == "1.0"


class _ObservedSend:
    """A wrapper of `send` that records the response status, or 0 before there is one."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)


class _Replay:
    """A replacement of `receive` that returns the body that was already read."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()  # returns when the client disconnects
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}
