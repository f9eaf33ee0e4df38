"""HEAD requests, answered on every GET route with the same headers and no body."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadRequests:
    """Middleware that answers HEAD requests through GET routes."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        asked: Scope = {**scope, "method": "GET"}
        try:
            await self._app(asked, receive, send_without_body)
        finally:
            if "route" in asked:
                scope["route"] = asked["route"]  # the metrics count responses by route
