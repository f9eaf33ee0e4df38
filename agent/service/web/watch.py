"""Watches every request from outside: its route, its status and how long it took, and nothing else of it."""

import time
from typing import Final, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.monitoring.events import RequestAnswered, RequestMethod
from agent.monitoring.log import is_logged, log_event

UNKNOWN_ROUTE: Final = "unknown"
"""Stands for every address that the service does not have; an address may quote anything."""
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "DELETE"})


class Watch:
    """Passes each request on, and notes how it was answered.

    Args:
        app: the application behind.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

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
            _note_answer(scope, status, time.perf_counter() - began)


def _note_answer(scope: Scope, status: int, seconds: float) -> None:
    """Note an answer. Status 0 means that the client went away before there was one."""
    if not is_logged(RequestAnswered.LEVEL):
        return
    method = cast("RequestMethod", scope["method"] if scope["method"] in _METHODS else "other")
    route = getattr(scope.get("route"), "path", UNKNOWN_ROUTE)
    log_event(RequestAnswered(method, route, status, seconds))
