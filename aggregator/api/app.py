"""The application: every route of an aggregator in one place.

A new group of routes is a module `*_routes.py` with `make_router(home)`, and a line in ROUTERS.
No handler opens a connection, whatever a payload says.
"""

from fastapi import FastAPI
from starlette.types import ASGIApp

from aggregator.api import (
    board_routes,
    health_routes,
    log_routes,
    registry_routes,
    submission_routes,
    tile_routes,
)
from aggregator.api.answers import answer_errors_by_code
from aggregator.api.documentation import correct_openapi, describe_everywhere
from aggregator.api.head_requests import HeadRequests
from aggregator.api.metrics import Metrics
from aggregator.api.turnstile import Turnstile
from aggregator.home import Home

ROUTERS = (
    submission_routes.make_router,
    log_routes.make_router,
    tile_routes.make_router,
    registry_routes.make_router,
    board_routes.make_router,
)


def make_app(home: Home) -> ASGIApp:
    """Return the application for one aggregator's directory, with its limits around it."""
    metrics = Metrics()
    return Turnstile(HeadRequests(make_routes(home, metrics)), home.settings, metrics)


def make_routes(home: Home, metrics: Metrics) -> FastAPI:
    """Return the routes alone."""
    app = FastAPI(
        title="Intramural aggregator",
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        redirect_slashes=False,  # the address would be made of the Host header, which is anybody's
    )
    answer_errors_by_code(app, metrics)
    for make_router in ROUTERS:
        app.include_router(make_router(home), responses=describe_everywhere())
    app.include_router(health_routes.make_router(home, metrics))
    correct_openapi(app)
    return app
