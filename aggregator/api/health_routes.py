"""Routes for the people who watch over the service."""

from fastapi import APIRouter

from aggregator.home import Home, today_day
from aggregator.registry import versions
from protocol.errors import Code, ProtocolError


def make_router(home: Home) -> APIRouter:
    """Return the routes that say how the service is."""
    router = APIRouter()

    @router.get("/healthz")
    def health() -> dict[str, str]:
        with home.database.reading() as connection:
            newest = versions.newest_registry(connection)
        if today_day() >= newest.expires_day:
            raise ProtocolError(Code.REGISTRY_EXPIRED, "sign a new version")
        return {"status": "ok"}

    return router
