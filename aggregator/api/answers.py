"""Parameters, media types and error responses shared by all routes.

A refusal is `{"code": ...}`. If both of the site's keys have signed the refused statement, the
response also contains `"refusal"`, a signed note. Details are only written to the service's log,
which never contains payload content.
"""

import logging
from http import HTTPStatus
from typing import Annotated, TypeVar

from fastapi import FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from aggregator.api.metrics import Metrics
from aggregator.errors import StoreError
from aggregator.refusals import SignedRefusalError
from protocol.errors import Code, ProtocolError

log = logging.getLogger("aggregator.api")

ENVELOPE_MEDIA_TYPE = "application/vnd.dsse.envelope.v1+json"
LINES_MEDIA_TYPE = "application/x-ndjson"

STATUS_OF_CODE = {
    Code.MALFORMED: HTTPStatus.BAD_REQUEST,
    Code.UNKNOWN_KEY: HTTPStatus.FORBIDDEN,
    Code.BAD_SIGNATURE: HTTPStatus.FORBIDDEN,
    Code.FORK: HTTPStatus.CONFLICT,
    Code.SITE_FROZEN: HTTPStatus.CONFLICT,
    Code.WRONG_EPOCH: HTTPStatus.CONFLICT,
    Code.WRONG_SEQ: HTTPStatus.CONFLICT,
    Code.WRONG_PREV: HTTPStatus.CONFLICT,
}
"""HTTP statuses of refused statements, by code. All other codes give 422."""

LogSize = Annotated[int, Query(ge=0, lt=2**31)]
Digest = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]
SiteId = Annotated[str, Path(pattern="^s-[0-9a-z]{8}$")]
Found = TypeVar("Found")


def require_found(found: Found | None) -> Found:
    """Return `found`, or raise a 404 error if it is None."""
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return found


def has_tag(request: Request, tag: str) -> bool:
    """Return whether the request's If-None-Match header contains this entity tag."""
    held = {
        part.strip().removeprefix("W/")
        for part in request.headers.get("if-none-match", "").split(",")
    }
    return tag.removeprefix("W/") in held or "*" in held


def refuse(status: int, code: str, note: str | None = None) -> JSONResponse:
    """Return the response for a refusal: its code and, if there is one, the signed note."""
    body = {"code": code}
    if note is not None:
        body["refusal"] = note
    return JSONResponse(body, status)


def answer_errors_by_code(app: FastAPI, metrics: Metrics) -> None:
    """Register error handlers that answer with codes and log failures without request content."""

    @app.exception_handler(ProtocolError)
    async def answer_refused_statement(request: Request, error: ProtocolError) -> Response:
        log.info("refused: route=%s code=%s", name_route(request.scope), error.code)
        metrics.count_refusal(error.code)
        if error.code is Code.REGISTRY_EXPIRED:
            return refuse(HTTPStatus.SERVICE_UNAVAILABLE, error.code)
        note = error.note if isinstance(error, SignedRefusalError) else None
        return refuse(
            STATUS_OF_CODE.get(error.code, HTTPStatus.UNPROCESSABLE_ENTITY), error.code, note
        )

    @app.exception_handler(RequestValidationError)
    async def answer_bad_parameter(_request: Request, _error: RequestValidationError) -> Response:
        return refuse(HTTPStatus.BAD_REQUEST, Code.MALFORMED)

    @app.exception_handler(HTTPException)
    async def answer_http_error(_request: Request, error: HTTPException) -> Response:
        answer = refuse(error.status_code, HTTPStatus(error.status_code).name.lower())
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(StoreError)
    async def answer_failed_store(request: Request, error: StoreError) -> Response:
        log.error("failed: route=%s %s", name_route(request.scope), error)
        answer = refuse(HTTPStatus.SERVICE_UNAVAILABLE, "unavailable")
        answer.headers["Retry-After"] = "10"
        return answer

    @app.exception_handler(Exception)
    async def answer_unexpected_error(_request: Request, _error: Exception) -> Response:
        return refuse(
            HTTPStatus.INTERNAL_SERVER_ERROR, "internal"
        )  # logged by the middleware `Turnstile`


def name_route(scope: Scope) -> str:
    """Return the method and pattern of the route, never the requested path."""
    route = scope.get("route")
    return f"{scope['method']} {route.path}" if route is not None else "unknown"


def name_place(error: BaseException) -> str:
    """Return the file and line of the error's innermost frame."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (
        f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}"
        if trace
        else "unknown place"
    )
