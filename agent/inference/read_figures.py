"""Read the figures of model servers before and after work. A server that has none is not an error."""

import asyncio
from contextlib import suppress

from agent.inference.connection import (
    BrokenError,
    ServerLine,
    TooLongError,
    UnreachableServerError,
)
from agent.inference.endpoint import Endpoint, list_addresses
from agent.inference.limits import HttpLimits
from agent.inference.server_figures import ServerFigures, add_figures, parse_metrics

_METRICS = "../metrics"  # beside /v1
_WAIT_S = 2.0


async def read_figures(deployment: Endpoint, limits: HttpLimits) -> ServerFigures | None:
    """Return the server's own figures; None if it has none or does not answer at once.

    The figures of replicas are added up.

    Raises:
        ConfigError: the address, token file, proxy or CA bundle cannot be used.
    """
    figures: list[ServerFigures | None] = []
    for url in list_addresses(deployment):
        figures.append(await _read_replica(ServerLine(deployment, limits, url)))
    return add_figures(figures)


async def _read_replica(line: ServerLine) -> ServerFigures | None:
    connection = line.open()
    try:
        with suppress(TimeoutError, UnreachableServerError, BrokenError, TooLongError):
            async with asyncio.timeout(_WAIT_S):
                reply = await connection.get(_METRICS)
            if reply.status == 200:
                return parse_metrics(reply.body.decode("utf-8", "replace"))
    finally:
        await connection.close()
    return None
