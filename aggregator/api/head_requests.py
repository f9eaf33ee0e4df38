"""HEAD requests: answered as GET is, with the same headers and without a body, on every route that GET has."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadRequests:
    """Middleware that lets routes know GET alone."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
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
                scope["route"] = asked["route"]  # the metrics count answers by it
