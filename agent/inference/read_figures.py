"""Read the figures of model servers before and after work. A server that has none is not an error."""

import asyncio
from contextlib import suppress

from agent.inference.connection import (
    BrokenError,
    ServerLine,
    TooLongError,
    UnreachableServerError,
)
from agent.inference.endpoint import Endpoint
from agent.inference.limits import HttpLimits
from agent.inference.server_figures import ServerFigures, parse_metrics

_METRICS = "../metrics"  # beside /v1
_WAIT_S = 2.0


async def read_figures(deployment: Endpoint, limits: HttpLimits) -> ServerFigures | None:
    """Return the server's own figures; None if it has none or does not answer at once.

    Raises:
        ConfigError: the address, token file, proxy or CA bundle cannot be used.
    """
    connection = ServerLine(deployment, limits).open()
    try:
        with suppress(TimeoutError, UnreachableServerError, BrokenError, TooLongError):
            async with asyncio.timeout(_WAIT_S):
                reply = await connection.get(_METRICS)
            if reply.status == 200:
                return parse_metrics(reply.body.decode("utf-8", "replace"))
    finally:
        await connection.close()
    return None
