"""Reading request bodies from untrusted clients, with limits on size and time."""

import asyncio

from starlette.requests import ClientDisconnect, Request


class BodyRefusedError(Exception):
    """The body is too large, too slow, encoded or incomplete. The client is not told which."""


async def read_body(request: Request, *, limit: int, timeout_s: float) -> bytes:
    """Read at most `limit` bytes within `timeout_s`.

    The declared length is only used to refuse early. The received bytes are counted, so a missing
    or wrong Content-Length has no effect. A compressed body is refused unread.

    Raises:
        BodyRefusedError: the body is too large, too slow, encoded or incomplete.
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
