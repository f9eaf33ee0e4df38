"""Routes that serve registry versions, as they were signed."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from aggregator.api.answers import require_found
from aggregator.api.documentation import EnvelopeResponse, describe_envelope, describe_refusals
from aggregator.home import Home
from aggregator.registry import versions


def make_router(home: Home) -> APIRouter:
    """Return the routes that serve registry versions."""
    router = APIRouter()
    not_found = describe_refusals(HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)

    @router.get("/v1/registry", response_class=EnvelopeResponse, responses=describe_envelope())
    def registry() -> Response:
        with home.database.reading() as connection:
            return EnvelopeResponse(versions.newest_envelope(connection))

    @router.get("/v1/registry/{version}", response_class=EnvelopeResponse, responses=describe_envelope() | not_found)
    def registry_version(version: Annotated[int, Path(ge=1, lt=2**31)]) -> Response:
        with home.database.reading() as connection:
            found = versions.envelope_of(connection, version)
        return EnvelopeResponse(require_found(found))

    return router
