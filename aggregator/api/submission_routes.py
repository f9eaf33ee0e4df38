"""Routes that accept statements: submissions, enrolments, and requests concerning keys."""

import logging
from http import HTTPStatus

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from aggregator.allowance import Allowance, AllowanceSpentError
from aggregator.api.answers import ENVELOPE_MEDIA_TYPE
from aggregator.api.documentation import describe_body, describe_refusals
from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.log import journal
from aggregator.registry import invites, rekeyings
from protocol.envelope import decode

log = logging.getLogger("aggregator.api")


def make_router(home: Home) -> APIRouter:
    """Return the routes that accept statements."""
    router = APIRouter()
    refusals = describe_refusals(statement=True)
    body = describe_body(ENVELOPE_MEDIA_TYPE, "A statement in its DSSE envelope.")
    allowance = Allowance(
        payloads=home.settings.payloads_per_site_day,
        size=home.settings.megabytes_per_site_day * 1_000_000,
    )

    @router.post("/v1/submissions", responses=refusals, openapi_extra=body)
    async def submit(request: Request) -> dict[str, str]:
        data = await request.body()
        try:
            done = await run_in_threadpool(
                accept, home, data, today_day=today_day(), allowance=allowance
            )
        except AllowanceSpentError as error:
            headers = {"Retry-After": str(error.retry_after_s)}
            raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, headers=headers) from None
        return {"digest": done.digest, "receipt": done.receipt}

    @router.post("/v1/enrolments", responses=refusals, openapi_extra=body)
    async def ask_to_enrol(request: Request) -> dict[str, str]:
        data = await request.body()
        return await run_in_threadpool(keep_enrolment, home, data)

    @router.post("/v1/requests", responses=refusals, openapi_extra=body)
    async def ask_to_rekey(request: Request) -> dict[str, str]:
        data = await request.body()
        return await run_in_threadpool(keep_rekeying, home, data)

    return router


def keep_enrolment(home: Home, data: bytes) -> dict[str, str]:
    """Store an enrolment until an operator decides on it."""
    with home.database.reading() as connection:
        # Reject unknown signers without occupying the single writer.
        invites.open_request(connection, data, today_day=today_day())
    with home.database.writing() as connection:
        asked = invites.open_request(connection, data, today_day=today_day())
        invites.keep_request(connection, asked)
    log.info("enrolment request: site=%s awaits approval", asked.site)
    return {"digest": asked.enrolment.digest}


def keep_rekeying(home: Home, data: bytes) -> dict[str, str]:
    """Store a reset or rotation until an operator decides on it. Return the receipt if it is already in force."""
    digest = decode(data).digest
    try:
        with home.database.reading() as connection:
            receipt = journal.receipt(connection, digest)
            if receipt is not None:
                return {"digest": digest, "receipt": receipt}
            # Reject unknown signers without occupying the single writer.
            asked = rekeyings.receive_request(connection, data)
            if rekeyings.is_kept(connection, digest):
                return {"digest": digest}
            rekeyings.check_room(connection, asked)
        with home.database.writing() as connection:
            asked = rekeyings.receive_request(connection, data)
            rekeyings.keep_request(connection, asked)
    except rekeyings.TooManyRequestsError:
        raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS) from None
    log.info("request: site=%s kind=%s awaits approval", asked.site_id, asked.kind)
    return {"digest": digest}
