"""Routes that serve registry versions, as they were signed."""

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from aggregator.api.answers import ENVELOPE_MEDIA_TYPE, require_found
from aggregator.home import Home
from aggregator.registry import versions


def make_router(home: Home) -> APIRouter:
    """Return the routes that serve registry versions."""
    router = APIRouter()

    @router.get("/v1/registry")
    def registry() -> Response:
        with home.database.reading() as connection:
            return Response(versions.newest_envelope(connection), media_type=ENVELOPE_MEDIA_TYPE)

    @router.get("/v1/registry/{version}")
    def registry_version(version: Annotated[int, Path(ge=1, lt=2**31)]) -> Response:
        with home.database.reading() as connection:
            found = versions.envelope_of(connection, version)
        return Response(require_found(found), media_type=ENVELOPE_MEDIA_TYPE)

    return router
