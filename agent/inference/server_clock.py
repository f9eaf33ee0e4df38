"""Read the time of a server from the `Date` header of a reply."""

import asyncio
from email.utils import parsedate_to_datetime

from agent.inference.connection import (
    BrokenError,
    ServerLine,
    TooLongError,
    UnreachableServerError,
)
from agent.inference.endpoint import Endpoint
from agent.inference.limits import HttpLimits

_MAX_DATE_LENGTH = 100  # characters; an HTTP date has 29


async def read_server_time(endpoint: Endpoint, url: str, limits: HttpLimits) -> float | None:
    """Return a server's time in seconds since 1970; None if it does not reply or states no valid date.

    Args:
        endpoint: the deployment.
        url: the address of one of its servers.
        limits: limits of time and size.

    Raises:
        ConfigError: the address, token file, proxy or CA bundle cannot be used.
    """
    connection = ServerLine(endpoint, limits, url).open()
    try:
        async with asyncio.timeout(limits.connect_timeout_s):
            reply = await connection.get("/models")
    except (UnreachableServerError, BrokenError, TooLongError, TimeoutError):
        return None
    finally:
        await connection.close()
    date = (reply.header(b"date") or "")[:_MAX_DATE_LENGTH]
    try:
        return parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
