"""Serve the pages read-only on loopback, for this machine only."""

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

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]
"""All HTTP methods, so that this module answers each of them, with a readable page and the headers below."""

_HEADERS = {
    "Content-Security-Policy": f"{CONTENT_SECURITY_POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def build_app(pages: SitePages, port: int, secret: str) -> Starlette:
    """Build the application.

    Args:
        pages: the pages to show. They are rendered in the thread of the event loop, so the store and the redactors
            need no locks.
        port: the port of the server. Requests for another host or port are refused, which prevents DNS rebinding.
        secret: a first path segment that every address must contain, because other accounts of this machine can connect
            to loopback too.
    """
    hosts = {f"{LOOPBACK}:{port}", f"localhost:{port}"}
    prefix = f"/{secret}/"

    async def answer(request: Request) -> Response:
        path = request.url.path
        if request.headers.get("host") not in hosts:
            return _answer_problem(
                pages,
                421,
                title="Wrong address",
                message="This server answers only at its own address.",
                advice="Open the address that the command printed, on this machine.",
            )
        if request.method not in ("GET", "HEAD"):
            return _answer_problem(
                pages,
                405,
                title="Read-only",
                message="These pages can only be read.",
                advice="Use the command line to make changes.",
            )
        if not path.startswith(prefix):
            return _answer_problem(
                pages,
                404,
                title="No such page",
                message="There is no page at this address.",
                advice="Open the address that the command printed.",
            )
        if path == prefix:
            return RedirectResponse(f"{prefix}index.html", 302, _HEADERS)
        return _answer_page(pages, path.removeprefix(prefix))

    return Starlette(routes=[Route("/{path:path}", answer, methods=_METHODS)])


def _answer_page(pages: SitePages, path: str) -> Response:
    """Return the page at a path, or a page that explains why it cannot be shown."""
    try:
        page = pages.draw_page(path)
    except AgentError as error:
        return _answer_problem(
            pages,
            500,
            title="This page cannot be shown",
            message=str(error),
            advice=error.advice,
            path=path,
        )
    except Exception as error:  # noqa: BLE001 - its message may quote a record
        return _answer_problem(
            pages,
            500,
            title="This page cannot be shown",
            message=f"An unexpected error occurred ({type(error).__name__}). No text was shown.",
            advice="Run `intramural doctor`. If it reports no problem, please report this error as a bug.",
            path=path,
        )
    if page is None:
        return _answer_problem(
            pages,
            404,
            title="No such page",
            message="There is no page at this address. The run or suite may have another name.",
            advice="Go back to the list of suites.",
            path=path,
        )
    return Response(page.content, headers=_HEADERS, media_type=page.media_type)


def _answer_problem(
    pages: SitePages, status: int, *, title: str, message: str, advice: str, path: str = ""
) -> Response:
    """Return a page that describes a problem. `path` is empty if the address is not that of a page."""
    headers = dict(_HEADERS)
    if status == 405:
        headers["Allow"] = "GET, HEAD"  # required by HTTP for this status
    return Response(
        pages.draw_problem(title, message, advice, path),
        status,
        headers,
        "text/html; charset=utf-8",
    )


def bind(port: int) -> socket.socket:
    """Bind a loopback port; 0 selects any free port.

    Raises:
        ConfigError: the port is in use or not allowed.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen(64)  # now, because the address may be opened as soon as it is printed
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"port {port} on {LOOPBACK} cannot be used ({error.strerror})",
            "Choose another port with --port; 0 selects a free one.",
        ) from None
    return listener


def new_secret() -> str:
    """Return a random path segment of 128 bits, which cannot be guessed."""
    return secrets.token_hex(16)


def serve(pages: SitePages, listener: socket.socket, secret: str) -> None:
    """Serve until interrupted. Nothing is logged, because addresses and paths could identify runs and readers."""
    port: int = listener.getsockname()[1]
    config = uvicorn.Config(
        build_app(pages, port, secret),
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listener])
