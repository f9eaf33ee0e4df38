"""Health and metrics routes for operators. A reverse proxy should restrict access to `/readyz` and `/metrics`."""

import asyncio
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Generic, TypeVar

from fastapi import APIRouter
from sqlalchemy import Connection, func, select
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from aggregator.api.documentation import MetricsResponse
from aggregator.api.metrics import Metrics
from aggregator.errors import AggregatorError, StoreError
from aggregator.home import Home, today_day
from aggregator.log import journal
from aggregator.registry import versions
from aggregator.store.schema import enrolment_requests, rekeying_requests

RECENT_S = 1.0
_DAY_S = 86_400

Value = TypeVar("Value")


def make_router(home: Home, metrics: Metrics) -> APIRouter:
    """Return the health and metrics routes."""
    router = APIRouter()
    readiness = _Recent(lambda: check_readiness(home))
    page = _Recent(lambda: metrics.render(read_state(home)))

    @router.get("/healthz")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @router.get(
        "/readyz", responses={HTTPStatus.SERVICE_UNAVAILABLE: {"description": "A check failed."}}
    )
    async def read_readiness() -> Response:
        checks = await readiness.read()
        ready = all(checks.values())
        status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
        words = {name: "ok" if passed else "failed" for name, passed in checks.items()}
        return JSONResponse({"status": "ready" if ready else "not_ready", "checks": words}, status)

    @router.get("/metrics", response_class=MetricsResponse)
    async def read_metrics() -> Response:
        return MetricsResponse(await page.read())

    return router


class _Recent(Generic[Value]):
    """A value computed at most once per second, since no rate limit applies to these routes."""

    def __init__(self, work_out: Callable[[], Value]) -> None:
        self._work_out = work_out
        self._lock = asyncio.Lock()
        self._value: Value | None = None
        self._read_at = 0.0

    async def read(self) -> Value:
        async with self._lock:
            if self._value is None or time.monotonic() - self._read_at > RECENT_S:
                self._value = await run_in_threadpool(self._work_out)
                self._read_at = time.monotonic()
            return self._value


def check_readiness(home: Home) -> dict[str, bool]:
    """Return the result of each readiness check for accepting submissions."""

    def passes(check: Callable[[], bool]) -> bool:
        try:
            return check()
        except AggregatorError:
            return False

    return {
        "database": passes(lambda: can_read(home)),
        "registry": passes(lambda: is_in_force(home)),
        "log_key": passes(lambda: has_log_key(home)),
    }


def can_read(home: Home) -> bool:
    """Return whether the database answers. Raises StoreError."""
    with home.database.reading() as connection:
        return journal.size(connection) >= 0


def is_in_force(home: Home) -> bool:
    """Return whether the newest registry has not expired. Raises StoreError."""
    with home.database.reading() as connection:
        return today_day() < versions.newest_registry(connection).expires_day


def has_log_key(home: Home) -> bool:
    """Return whether the directory contains the log key that the registry names. Raises AggregatorError."""
    with home.database.reading() as connection:
        newest = versions.newest_registry(connection)
    # `home` caches keys. Only a new `Home` notices a directory that has been removed.
    return Home(home.directory).log_signer(newest) is not None


def read_state(home: Home) -> dict[str, float]:
    """Return the values for the metrics page; without those of the database if it is unavailable."""
    return _read_machine(home) | _read_database(home)


def _read_machine(home: Home) -> dict[str, float]:
    values = {"intramural_clock_timestamp_seconds": time.time()}
    with suppress(OSError):  # the directory may have been removed
        room = shutil.disk_usage(home.directory)
        values["intramural_disk_free_bytes"] = room.free
        values["intramural_disk_size_bytes"] = room.total
    return values


def _read_database(home: Home) -> dict[str, float]:
    try:
        with home.database.reading() as connection:
            newest = versions.newest_registry(connection)
            return {
                "intramural_log_entries": journal.size(connection),
                "intramural_registry_version": newest.version,
                "intramural_registry_days_left": max(0, newest.expires_day - today_day()),
                "intramural_registry_expiry_timestamp_seconds": newest.expires_day * _DAY_S,
                "intramural_requests_waiting": _count_waiting(connection),
            }
    except StoreError:
        return {}


def _count_waiting(connection: Connection) -> int:
    tables = (enrolment_requests, rekeying_requests)
    return sum(
        connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables
    )
