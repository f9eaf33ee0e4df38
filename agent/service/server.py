"""The loopback server of the pages: read-only, for this machine alone."""

import secrets
import socket

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from agent.errors import AgentError, ConfigError
from agent.service.pages import SitePages
from agent.service.render import CONTENT_SECURITY_POLICY

LOOPBACK = "127.0.0.1"

_HEADERS = {
    "Content-Security-Policy": f"{CONTENT_SECURITY_POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def build_app(pages: SitePages, port: int, secret: str | None = None) -> Starlette:
    """Build the application.

    Args:
        pages: what is shown. Drawn in the event loop's own thread: readers and redactors need no locks.
        port: the port it will be reached at; a request that names another host or port is refused, so that a page
            of another site cannot reach this one by renaming itself (DNS rebinding).
        secret: a first path segment without which nothing is shown, for pages with original text: other people of
            this machine can reach loopback too.
    """
    hosts = {f"{LOOPBACK}:{port}", f"localhost:{port}"}
    prefix = "/" if secret is None else f"/{secret}/"

    async def answer(request: Request) -> Response:
        path = request.url.path
        if request.headers.get("host") not in hosts:
            return _problem(
                421, "Wrong address", "This server answers only under its own address.",
                f"Open http://{LOOPBACK}:{port}/ on this machine.",
            )  # fmt: skip
        if request.method not in ("GET", "HEAD"):
            return _problem(405, "Read-only", "These pages can only be read.", "Use the command line to change things.")
        if not path.startswith(prefix):
            return _problem(
                404, "No such page", "There is no page at this address.",
                "Open the address that the command printed.",
            )  # fmt: skip
        if path == prefix:
            return RedirectResponse(f"{prefix}index.html", 302, _HEADERS)
        return show(path.removeprefix(prefix))

    def show(path: str) -> Response:
        try:
            page = pages.page(path)
        except AgentError as error:
            return _problem(500, "This page cannot be shown", str(error), error.advice, path)
        except Exception as error:  # noqa: BLE001 - its message may quote a record
            return _problem(
                500, "This page cannot be shown",
                f"An unexpected error occurred ({type(error).__name__}). No text was shown.",
                "Run `intramural doctor`; if all is well there, report this fault of intramural.", path,
            )  # fmt: skip
        if page is None:
            return _problem(
                404, "No such page", "There is no page at this address: the run or suite may have another name.",
                "Go back to the list of suites.", path,
            )  # fmt: skip
        return Response(page.content, headers=_HEADERS, media_type=page.media_type)

    def _problem(status: int, title: str, message: str, advice: str, path: str = "") -> Response:
        content = pages.problem(title, message, advice, path)
        headers = _HEADERS | ({"Allow": "GET, HEAD"} if status == 405 else {})
        return Response(content, status, headers, "text/html; charset=utf-8")

    methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]
    return Starlette(routes=[Route("/{path:path}", answer, methods=methods)])


def bind(port: int) -> socket.socket:
    """Take a loopback port; 0 takes any that is free.

    Raises:
        ConfigError: the port is taken or not allowed.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen(64)  # at once: the address may be opened as soon as it is printed
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"port {port} on {LOOPBACK} cannot be used ({error.strerror})", "Choose another with --port; 0 takes any."
        ) from None
    return listener


def new_secret() -> str:
    """Return a path segment that nobody guesses: 128 bits."""
    return secrets.token_hex(16)


def serve(pages: SitePages, listener: socket.socket, secret: str | None = None) -> None:
    """Serve until interrupted. Nothing is logged: addresses and paths are nobody's business."""
    port: int = listener.getsockname()[1]
    config = uvicorn.Config(
        build_app(pages, port, secret), log_config=None, log_level="critical", access_log=False, server_header=False,
        lifespan="off", timeout_graceful_shutdown=1,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listener])
