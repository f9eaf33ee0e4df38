"""Reading a request body from someone who may mean harm: counted while it arrives, and never waited for long."""

import asyncio

from starlette.requests import ClientDisconnect, Request


class BodyRefusedError(Exception):
    """The body is too large, too slow, encoded or cut off. Nothing more is said to the client."""


async def read_body(request: Request, *, limit: int, timeout_s: float) -> bytes:
    """Read at most `limit` bytes within `timeout_s`.

    The declared length is only used to refuse early; what arrives is counted, so an absent or lying
    Content-Length changes nothing. A compressed body is refused unread.

    Raises:
        BodyRefusedError: as its name says.
    """
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise BodyRefusedError
    declared = request.headers.get("content-length", "0")
    if (
        not (declared.isascii() and declared.isdigit())
        or len(declared) > 9
        or int(declared) > limit
    ):
        raise BodyRefusedError
    body = bytearray()
    try:
        async with asyncio.timeout(timeout_s):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise BodyRefusedError
    except (TimeoutError, ClientDisconnect):
        raise BodyRefusedError from None
    return bytes(body)
