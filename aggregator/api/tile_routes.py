"""Routes for mirrors: the log as tiles (c2sp.org/tlog-tiles) under `/v1/log`, next to `/v1/log/checkpoint`.

Bundles of entries are JSON lines, as in a published board, since only the leaf hashes of a pooled
site's statements are public.
"""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.exceptions import HTTPException
from starlette.responses import Response

from aggregator.api.answers import require_found
from aggregator.api.documentation import LinesResponse, describe_refusals
from aggregator.home import Home
from aggregator.log import journal
from aggregator.log.publication import read_public
from aggregator.log.tiles import MAX_TILE_LEVEL, WIDTH, TileName, parse_tile_name, read_tile

NEVER_CHANGES = {"Cache-Control": "public, max-age=31536000, immutable"}
MAX_LOG = 2**31 // WIDTH  # maximum number of tiles of leaf hashes in a log

TileLevel = Annotated[int, Path(ge=0, le=MAX_TILE_LEVEL)]


class TileResponse(Response):
    """Concatenated hashes of 32 bytes each."""

    media_type = "application/octet-stream"


def make_router(home: Home) -> APIRouter:
    """Return the routes for mirrors."""
    router = APIRouter()
    refusals = describe_refusals(HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)

    @router.get(
        "/v1/log/tile/entries/{name:path}", response_class=LinesResponse, responses=refusals
    )
    def entries(name: str) -> Response:
        tile = _parse_or_404(name)
        start = tile.number * WIDTH
        end = start + tile.width
        with home.database.reading() as connection:
            if journal.size(connection) < end:
                raise HTTPException(HTTPStatus.NOT_FOUND)
            lines = b"".join(entry.line() + b"\n" for entry in read_public(connection, start, end))
        return LinesResponse(lines, headers=NEVER_CHANGES)

    @router.get("/v1/log/tile/{level}/{name:path}", response_class=TileResponse, responses=refusals)
    def hashes(level: TileLevel, name: str) -> Response:
        tile = _parse_or_404(name)
        with home.database.reading() as connection:
            content = require_found(read_tile(connection, level, tile))
        return TileResponse(content, headers=NEVER_CHANGES)

    return router


def _parse_or_404(name: str) -> TileName:
    tile = require_found(parse_tile_name(name))
    if tile.number >= MAX_LOG:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return tile
