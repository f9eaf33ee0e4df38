"""The web application with all routes of an aggregator.

To add a group of routes, create a module `*_routes.py` with `make_router(home)` and list it in
ROUTERS. No handler makes outgoing connections, whatever the content of a payload.
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
    """Return the application for an aggregator's directory, with all limits applied."""
    metrics = Metrics()
    return Turnstile(HeadRequests(make_routes(home, metrics)), home.settings, metrics)


def make_routes(home: Home, metrics: Metrics) -> FastAPI:
    """Return the routes without limits."""
    app = FastAPI(
        title="Intramural aggregator",
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        redirect_slashes=False,  # the redirect would use the untrusted Host header
    )
    answer_errors_by_code(app, metrics)
    for make_router in ROUTERS:
        app.include_router(make_router(home), responses=describe_everywhere())
    app.include_router(health_routes.make_router(home, metrics))
    correct_openapi(app)
    return app
