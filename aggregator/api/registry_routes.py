"""Routes for registry versions, as signed."""

from hashlib import sha256
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from aggregator.api.answers import has_tag, require_found
from aggregator.api.documentation import (
    EnvelopeResponse,
    describe_envelope,
    describe_refusals,
    describe_unchanged,
)
from aggregator.home import Home
from aggregator.registry import versions
from protocol.registry import Registry


def make_router(home: Home) -> APIRouter:
    """Return the routes for registry versions."""
    router = APIRouter()
    not_found = describe_refusals(HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)
    newest = _NewestRegistry(home)

    @router.get(
        "/v1/registry",
        response_class=EnvelopeResponse,
        responses=describe_envelope() | describe_unchanged(),
    )
    def registry(request: Request) -> Response:
        tag, envelope = newest.read()
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if has_tag(request, tag):
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        return EnvelopeResponse(envelope, headers=headers)

    @router.get(
        "/v1/registry/{version}",
        response_class=EnvelopeResponse,
        responses=describe_envelope() | not_found,
    )
    def registry_version(version: Annotated[int, Path(ge=1, lt=2**31)]) -> Response:
        with home.database.reading() as connection:
            found = versions.envelope_of(connection, version)
        return EnvelopeResponse(require_found(found))

    return router


class _NewestRegistry:
    """The newest registry as signed, cached in memory, because it can be large and anyone may request it."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._kept: tuple[Registry, str, bytes] | None = None

    def read(self) -> tuple[str, bytes]:
        """Return the registry's entity tag and bytes. Raises AggregatorError."""
        with self._home.database.reading() as connection:
            newest = versions.newest_registry(connection)
            kept = self._kept
            if kept is None or kept[0] is not newest:
                envelope = versions.newest_envelope(connection)
                kept = self._kept = newest, f'"{sha256(envelope).hexdigest()}"', envelope
        return kept[1:]
