"""Routes for reading the log: site heads, receipts, checkpoint, entries and proofs."""

import time
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from aggregator.api.answers import ENVELOPE_MEDIA_TYPE, Digest, LogSize, SiteId, require_found
from aggregator.api.documentation import LinesResponse, describe_body, describe_refusals
from aggregator.home import Home
from aggregator.log import journal
from aggregator.log.cosignatures import check_cosignatures, keep_cosignatures, with_cosignatures
from aggregator.log.history import read_site_head
from aggregator.log.publication import read_public
from aggregator.registry import versions
from protocol.checkpoint import verify_checkpoint
from protocol.errors import Code, ProtocolError
from protocol.head_request import check_head_request
from protocol.site_head import sign_site_head

MAX_ENTRIES = 256  # maximum per response


def make_router(home: Home) -> APIRouter:
    """Return the routes for reading the log."""
    router = APIRouter()
    not_found = describe_refusals(HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)
    asked_by_agent = describe_body(
        ENVELOPE_MEDIA_TYPE, "A request for the head, freshly signed by the site's agent."
    )
    note = describe_body("text/plain", "A checkpoint of this log with the signatures of witnesses.")

    @router.post(
        "/v1/sites/{site}/head",
        response_class=PlainTextResponse,
        responses=describe_refusals(HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN),
        openapi_extra=asked_by_agent,
    )
    async def site_head(site: SiteId, request: Request) -> Response:
        data = await request.body()
        return PlainTextResponse(await run_in_threadpool(_tell_head, home, site, data))

    @router.post(
        "/v1/sites/{site}/receipts/{digest}",
        response_class=PlainTextResponse,
        responses=not_found | describe_refusals(HTTPStatus.FORBIDDEN),
        openapi_extra=asked_by_agent,
    )
    async def receipt(site: SiteId, digest: Digest, request: Request) -> Response:
        data = await request.body()
        found = await run_in_threadpool(_find_receipt, home, site, digest, data)
        return PlainTextResponse(require_found(found))

    @router.get("/v1/log/checkpoint", response_class=PlainTextResponse)
    def checkpoint() -> Response:
        with home.database.reading() as connection:
            newest = versions.newest_registry(connection)
            signer = home.log_signer(newest)
            note = journal.checkpoint(connection, origin=newest.log_name, log_key=signer)
            return PlainTextResponse(with_cosignatures(connection, note, newest))

    @router.post(
        "/v1/log/cosignatures", responses=describe_refusals(statement=True), openapi_extra=note
    )
    async def cosignatures(request: Request) -> dict[str, list[str]]:
        data = await request.body()
        return {"witnesses": await run_in_threadpool(_keep_cosignatures, home, data)}

    @router.get("/v1/log/entries", response_class=LinesResponse)
    def entries(start: LogSize = 0, end: LogSize = MAX_ENTRIES) -> Response:
        with home.database.reading() as connection:
            found = read_public(connection, start, min(end, start + MAX_ENTRIES))
            lines = b"".join(entry.line() + b"\n" for entry in found)
        return LinesResponse(lines)

    @router.get("/v1/log/consistency", responses=not_found)
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

    return router


def _tell_head(home: Home, site: str, data: bytes) -> str:
    """Return the signed head of a site to the site itself.

    No data of the site is read before the requester has proven to be the site, so that neither the
    response nor its timing reveals to others whether the site's head has changed.

    Raises:
        ProtocolError: as for `check_head_request`.
    """
    with home.database.reading() as connection:
        newest, size = versions.newest_registry(connection), journal.size(connection)
        check_head_request(data, site, newest, log_size=size, now_s=int(time.time()))
        head = read_site_head(connection, site, newest, size)
    assert head is not None, "a key of the site has signed"
    return sign_site_head(head, newest.log_name, home.receipt_signer(newest))


def _find_receipt(home: Home, site: str, digest: str, data: bytes) -> str | None:
    """Return the receipt of a site's entry to the site itself; None if it has no such entry.

    Public statements may name earlier hidden ones by digest. The receipt of a hidden statement
    would reveal which log entry is the site's, so others must not get it.

    Raises:
        ProtocolError: as for `check_head_request`.
    """
    with home.database.reading() as connection:
        newest, size = versions.newest_registry(connection), journal.size(connection)
        check_head_request(data, site, newest, log_size=size, now_s=int(time.time()))
        return journal.receipt(connection, digest, site=site)


def _keep_cosignatures(home: Home, data: bytes) -> list[str]:
    """Store the signatures of witnesses on a checkpoint of this log. Return the names of the witnesses."""
    try:
        note = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ProtocolError(Code.BAD_CHECKPOINT, "not UTF-8 text") from None
    with home.database.reading() as connection:
        # Reject unknown signers without occupying the single writer.
        registry = versions.newest_registry(connection)
        signer = home.log_signer(registry)
        newest = journal.checkpoint(connection, origin=registry.log_name, log_key=signer)
        head = verify_checkpoint(newest, registry.log_keys, registry.log_name)
        lines = check_cosignatures(connection, note, registry, head)
    with home.database.writing() as connection:
        keep_cosignatures(
            connection, verify_checkpoint(note, registry.log_keys, registry.log_name).size, lines
        )
    return sorted(lines)
