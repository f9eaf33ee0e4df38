"""The HTTP face: takes submissions and requests about keys, gives receipts, heads of sites, the log and the registry.

A refusal is `{"code": ...}`, with `"refusal"`, a note that the log's key signed, where the site's two keys signed what
was refused. Details stay in the log, which never holds payload content. No handler opens a connection, whatever a
payload says.
"""

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response

from aggregator.body import BodyRefusedError, read_body
from aggregator.errors import StoreError
from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.log import journal
from aggregator.log.history import read_site_head
from aggregator.refusals import SignedRefusalError
from aggregator.registry import invites, rekeyings, versions
from protocol.envelope import MAX_BYTES, STATEMENT_TYPE, decode
from protocol.errors import Code, ProtocolError
from protocol.site_head import sign_site_head

log = logging.getLogger("aggregator.app")

MAX_ENTRIES = 256  # of the log, in one answer
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
Found = TypeVar("Found")
Digest = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]
SiteId = Annotated[str, Path(pattern="^s-[0-9a-z]{8}$")]


def make_app(home: Home) -> FastAPI:
    """Make the application for one aggregator's directory."""
    app = FastAPI(title="Intramural aggregator", docs_url=None, redoc_url=None, openapi_url="/v1/openapi.json")
    _answer_errors_by_code(app)

    async def body_of(request: Request) -> bytes:
        return await read_body(request, limit=MAX_BYTES[STATEMENT_TYPE], timeout_s=home.settings.arrival_timeout_s)

    @app.post("/v1/submissions")
    async def submit(request: Request) -> dict[str, str]:
        data = await body_of(request)
        done = await run_in_threadpool(accept, home, data, today_day=today_day())
        return {"digest": done.digest, "receipt": done.receipt}

    @app.post("/v1/enrolments")
    async def ask_to_enrol(request: Request) -> dict[str, str]:
        data = await body_of(request)

        def keep() -> str:
            with home.database.reading() as connection:
                # Strangers are turned away without holding up the one writer.
                invites.open_request(connection, data, today_day=today_day())
            with home.database.writing() as connection:
                asked = invites.open_request(connection, data, today_day=today_day())
                invites.keep_request(connection, asked)
            log.info("enrolment request: site=%s waits for a person", asked.site)
            return asked.enrolment.digest

        return {"digest": await run_in_threadpool(keep)}

    @app.post("/v1/requests")
    async def ask_to_rekey(request: Request) -> dict[str, str]:
        data = await body_of(request)
        return await run_in_threadpool(_keep_rekeying, home, data)

    @app.get("/v1/sites/{site}/head")
    def site_head(site: SiteId) -> Response:
        with home.database.reading() as connection:
            newest = versions.newest_registry(connection)
            head = _or_404(read_site_head(connection, site, newest, journal.size(connection)))
        return PlainTextResponse(sign_site_head(head, newest.log_name, home.log_key))

    @app.get("/v1/receipts/{digest}")
    def receipt(digest: Digest) -> Response:
        with home.database.reading() as connection:
            found = journal.receipt(connection, digest)
        return PlainTextResponse(_or_404(found))

    @app.get("/v1/log/checkpoint")
    def checkpoint() -> Response:
        with home.database.reading() as connection:
            origin = versions.newest_registry(connection).log_name
            return PlainTextResponse(journal.checkpoint(connection, origin=origin, log_key=home.log_key))

    @app.get("/v1/log/entries")
    def entries(start: LogSize = 0, end: LogSize = MAX_ENTRIES) -> Response:
        with home.database.reading() as connection:
            found = journal.read_entries(connection, start, min(end, start + MAX_ENTRIES))
            lines = b"".join(entry.line() + b"\n" for entry in found)
        return Response(lines, media_type=LINES_MEDIA_TYPE)

    @app.get("/v1/log/consistency")
    def consistency(
        old_size: Annotated[int, Query(alias="from", ge=0, lt=2**31)],
        new_size: Annotated[int, Query(alias="to", ge=0, lt=2**31)],
    ) -> dict[str, list[str]]:
        with home.database.reading() as connection:
            try:
                proof = journal.consistency(connection, old_size, new_size)
            except ValueError:
                raise HTTPException(HTTPStatus.NOT_FOUND) from None
        return {"proof": [node.hex() for node in proof]}

    @app.get("/v1/registry")
    def registry() -> Response:
        with home.database.reading() as connection:
            return Response(versions.newest_envelope(connection), media_type=ENVELOPE_MEDIA_TYPE)

    @app.get("/v1/registry/{version}")
    def registry_version(version: Annotated[int, Path(ge=1, lt=2**31)]) -> Response:
        with home.database.reading() as connection:
            found = versions.envelope_of(connection, version)
        return Response(_or_404(found), media_type=ENVELOPE_MEDIA_TYPE)

    @app.get("/healthz")
    def health() -> dict[str, str]:
        with home.database.reading() as connection:
            newest = versions.newest_registry(connection)
        if today_day() >= newest.expires_day:
            raise ProtocolError(Code.REGISTRY_EXPIRED, "sign a new version")
        return {"status": "ok"}

    return app


def _keep_rekeying(home: Home, data: bytes) -> dict[str, str]:
    """Keep a reset or rotation for a person; give the receipt of one that is in force already."""
    digest = decode(data).digest
    with home.database.reading() as connection:
        receipt = journal.receipt(connection, digest)
        if receipt is not None:
            return {"digest": digest, "receipt": receipt}
        # Strangers are turned away without holding up the one writer.
        rekeyings.open_request(connection, data)
    with home.database.writing() as connection:
        try:
            asked = rekeyings.open_request(connection, data)
            rekeyings.keep_request(connection, asked)
        except rekeyings.TooManyRequestsError:
            raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS) from None
    log.info("request: site=%s kind=%s waits for a person", asked.site_id, asked.kind)
    return {"digest": digest}


def _or_404(found: Found | None) -> Found:
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return found


def _answer_errors_by_code(app: FastAPI) -> None:
    """Turn every failure into its code, and write what happened to the log without what was sent."""

    def refusal(status: int, code: str, note: str | None = None) -> JSONResponse:
        return JSONResponse({"code": code} if note is None else {"code": code, "refusal": note}, status)

    @app.exception_handler(ProtocolError)
    async def refused(request: Request, error: ProtocolError) -> Response:
        log.info("refused: route=%s code=%s", _route(request), error.code)
        if error.code is Code.REGISTRY_EXPIRED:
            return refusal(HTTPStatus.SERVICE_UNAVAILABLE, error.code)
        note = error.note if isinstance(error, SignedRefusalError) else None
        return refusal(_STATUS.get(error.code, HTTPStatus.UNPROCESSABLE_ENTITY), error.code, note)

    @app.exception_handler(BodyRefusedError)
    async def body_refused(request: Request, _error: BodyRefusedError) -> Response:
        log.info("refused: route=%s code=%s", _route(request), Code.MALFORMED)
        return refusal(HTTPStatus.BAD_REQUEST, Code.MALFORMED)

    @app.exception_handler(RequestValidationError)
    async def bad_parameter(_request: Request, _error: RequestValidationError) -> Response:
        return refusal(HTTPStatus.BAD_REQUEST, Code.MALFORMED)

    @app.exception_handler(HTTPException)
    async def no_such_thing(_request: Request, error: HTTPException) -> Response:
        return refusal(error.status_code, HTTPStatus(error.status_code).name.lower())

    @app.exception_handler(StoreError)
    async def store_failed(request: Request, error: StoreError) -> Response:
        log.error("failed: route=%s %s", _route(request), error)
        return refusal(HTTPStatus.SERVICE_UNAVAILABLE, "unavailable")

    @app.middleware("http")
    async def last_resort(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        try:
            return await answer(request)
        except Exception as error:  # noqa: BLE001 - the one place that must answer whatever happened
            # The message may quote what was sent; its kind and place are enough to find the fault.
            log.error("failed: route=%s %s at %s", _route(request), type(error).__name__, _place(error))
            return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "internal")


def _route(request: Request) -> str:
    """Name the route, never the path that was asked for."""
    route: Any = request.scope.get("route")
    return f"{request.method} {route.path}" if route is not None else "unknown"


def _place(error: BaseException) -> str:
    """Return file and line of the innermost frame."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}" if trace else "unknown place"
