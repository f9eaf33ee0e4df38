"""Answers to those who watch over the service: is it alive, is it ready, and how much does it do."""

from http import HTTPStatus
from typing import Final

from starlette.responses import JSONResponse, Response

from agent.service.web.call import Call
from agent.service.web.service import Desk, Service

_METRICS: Final = "text/plain; version=0.0.4; charset=utf-8"


def show_life(service: Service) -> Response:
    """Answer that the process runs."""
    del service
    return JSONResponse({"status": "ok"})


def show_readiness(service: Service) -> Response:
    """Answer whether pages can be shown and jobs are worked off, and which of the checks failed."""
    checks = service.readiness.check()
    is_ready = all(checks.values())
    words = {name: "ok" if passed else "failed" for name, passed in checks.items()}
    status = HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
    return JSONResponse({"status": "ready" if is_ready else "not_ready", "checks": words}, status)


def show_metrics(desk: Desk, call: Call) -> Response:
    """Answer with the state of the site and what was counted, in the text format of Prometheus."""
    del call
    return Response(desk.service.metrics.render(desk.store), media_type=_METRICS)
