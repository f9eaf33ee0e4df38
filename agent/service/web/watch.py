"""Watches every request from outside: its route, its status and how long it took, and nothing else of it."""

import time
from collections.abc import Callable
from typing import Final, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.monitoring.events import RequestAnswered, RequestMethod
from agent.monitoring.log import is_logged, log_event

CountAnswer = Callable[[str, str, int, float], object]
UNKNOWN_ROUTE: Final = "unknown"
"""Stands for every address that the service does not have; an address may quote anything."""
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "DELETE"})


class Watch:
    """Passes each request on, and notes how it was answered.

    Args:
        app: the application behind.
        count_answer: counts an answer, given its method, the route's path, its status and the seconds it took.
    """

    def __init__(self, app: ASGIApp, count_answer: CountAnswer) -> None:
        self._app = app
        self._count_answer = count_answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        finally:
            self._note_answer(scope, status, time.perf_counter() - began)

    def _note_answer(self, scope: Scope, status: int, seconds: float) -> None:
        """Note an answer. Status 0 means that the client went away before there was one."""
        method = cast("RequestMethod", scope["method"] if scope["method"] in _METHODS else "other")
        route = getattr(scope.get("route"), "path", UNKNOWN_ROUTE)
        self._count_answer(method, route, status, seconds)
        if is_logged(RequestAnswered.LEVEL):
            log_event(RequestAnswered(method, route, status, seconds))
