"""Answers that every route shares: parameters, media types, and failures turned into their codes.

A refusal is `{"code": ...}`, with `"refusal"`, a note that the log's key signed, where the site's two keys signed the
refused statement. Details stay in the log, which never holds payload content.
"""

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from aggregator.api.body import BodyRefusedError
from aggregator.errors import StoreError
from aggregator.refusals import SignedRefusalError
from protocol.errors import Code, ProtocolError

log = logging.getLogger("aggregator.api")

ENVELOPE_MEDIA_TYPE = "application/vnd.dsse.envelope.v1+json"
LINES_MEDIA_TYPE = "application/x-ndjson"

_STATUS = {
    Code.MALFORMED: HTTPStatus.BAD_REQUEST,
    Code.UNKNOWN_KEY: HTTPStatus.FORBIDDEN,
    Code.BAD_SIGNATURE: HTTPStatus.FORBIDDEN,
    Code.FORK: HTTPStatus.CONFLICT,
    Code.SITE_FROZEN: HTTPStatus.CONFLICT,
    Code.WRONG_EPOCH: HTTPStatus.CONFLICT,
    Code.WRONG_SEQ: HTTPStatus.CONFLICT,
    Code.WRONG_PREV: HTTPStatus.CONFLICT,
}
"""Of refused statements; every other code is 422."""

LogSize = Annotated[int, Query(ge=0, lt=2**31)]
Digest = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]
SiteId = Annotated[str, Path(pattern="^s-[0-9a-z]{8}$")]
Found = TypeVar("Found")


def require_found(found: Found | None) -> Found:
    """Return `found`, or answer 404 where it is None."""
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return found


def refuse(status: int, code: str, note: str | None = None) -> JSONResponse:
    """Return the answer for a refusal: its code, and the log's signed note where there is one."""
    body = {"code": code}
    if note is not None:
        body["refusal"] = note
    return JSONResponse(body, status)


def answer_errors_by_code(app: FastAPI) -> None:
    """Turn every failure into its code, and write what happened to the log without what was sent."""

    @app.exception_handler(ProtocolError)
    async def answer_refused_statement(request: Request, error: ProtocolError) -> Response:
        log.info("refused: route=%s code=%s", name_route(request), error.code)
        if error.code is Code.REGISTRY_EXPIRED:
            return refuse(HTTPStatus.SERVICE_UNAVAILABLE, error.code)
        note = error.note if isinstance(error, SignedRefusalError) else None
        return refuse(_STATUS.get(error.code, HTTPStatus.UNPROCESSABLE_ENTITY), error.code, note)

    @app.exception_handler(BodyRefusedError)
    async def answer_refused_body(request: Request, _error: BodyRefusedError) -> Response:
        log.info("refused: route=%s code=%s", name_route(request), Code.MALFORMED)
        return refuse(HTTPStatus.BAD_REQUEST, Code.MALFORMED)

    @app.exception_handler(RequestValidationError)
    async def answer_bad_parameter(_request: Request, _error: RequestValidationError) -> Response:
        return refuse(HTTPStatus.BAD_REQUEST, Code.MALFORMED)

    @app.exception_handler(HTTPException)
    async def answer_http_error(_request: Request, error: HTTPException) -> Response:
        return refuse(error.status_code, HTTPStatus(error.status_code).name.lower())

    @app.exception_handler(StoreError)
    async def answer_failed_store(request: Request, error: StoreError) -> Response:
        log.error("failed: route=%s %s", name_route(request), error)
        return refuse(HTTPStatus.SERVICE_UNAVAILABLE, "unavailable")

    @app.middleware("http")
    async def answer_unexpected_error(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        try:
            return await answer(request)
        except Exception as error:  # noqa: BLE001 - the last resort must answer after any failure
            # The message may quote what was sent; its kind and place are enough to find the fault.
            log.error("failed: route=%s %s at %s", name_route(request), type(error).__name__, _name_place(error))
            return refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "internal")


def name_route(request: Request) -> str:
    """Return the route's method and pattern, never the path that was asked for."""
    route: Any = request.scope.get("route")
    return f"{request.method} {route.path}" if route is not None else "unknown"


def _name_place(error: BaseException) -> str:
    """Return file and line of the innermost frame."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}" if trace else "unknown place"
