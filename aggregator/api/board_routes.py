"""Routes of the live board under /board/: read-only, without cookies, scripts or external resources."""

from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from aggregator.api.answers import has_tag
from aggregator.board.live import BoardNotReadyError, LiveBoard
from aggregator.board.pages import CONTENT_SECURITY_POLICY, PageNotFoundError
from aggregator.home import Home

MAX_QUERY_LENGTH: Final = 2_000  # characters
_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "atom": "application/atom+xml",
}
_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def make_router(home: Home) -> APIRouter:
    """Return the routes of the live board."""
    router = APIRouter(include_in_schema=False)
    board = LiveBoard(home)

    @router.get("/")
    def lead_visitor_to_board() -> Response:
        return RedirectResponse("board/", HTTPStatus.TEMPORARY_REDIRECT)

    @router.get("/board")
    def lead_to_board() -> Response:
        return RedirectResponse("board/", HTTPStatus.PERMANENT_REDIRECT)

    @router.get("/board/{path:path}")
    def show(path: str, request: Request) -> Response:
        try:
            return _answer(board, path or "index.html", request)
        except BoardNotReadyError:
            words = "The board is being built. Please try again in a few seconds.\n"
            return PlainTextResponse(
                words, HTTPStatus.SERVICE_UNAVAILABLE, {**_HEADERS, "Retry-After": "10"}
            )

    return router


def _answer(board: LiveBoard, path: str, request: Request) -> Response:
    if len(request.url.query) > MAX_QUERY_LENGTH:
        return _say_not_found(board, path)
    try:
        content, tag = board.page(path, dict(request.query_params))
    except PageNotFoundError:
        return _say_not_found(board, path)
    headers = {**_HEADERS, "ETag": tag}
    if has_tag(request, tag):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(content, media_type=_TYPES[path.rpartition(".")[2]], headers=headers)


def _say_not_found(board: LiveBoard, path: str) -> Response:
    content = board.pages().not_found(path)
    return Response(content, HTTPStatus.NOT_FOUND, media_type=_TYPES["html"], headers=_HEADERS)
