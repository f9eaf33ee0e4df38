"""Passes TCP connections on to one address and to nothing else: the doors between the networks of compose.yaml.

    python -I forward.py PORT HOST:PORT

Bytes are passed on as they are, so that TLS ends at the two ends. Nothing is logged.
"""

import asyncio
import sys
from contextlib import suppress

_CONNECTIONS = 256  # at a time; further ones wait
_CONNECT_S = 10.0
_PIECE = 65_536  # bytes


class Door:
    """Passes connections on to one address.

    Args:
        host: its host.
        port: its port.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._room = asyncio.Semaphore(_CONNECTIONS)

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one connection on, until both ends are done or one of them breaks off."""
        async with self._room:
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(_CONNECT_S):
                    far_reader, far_writer = await asyncio.open_connection(self._host, self._port)
                try:
                    async with asyncio.TaskGroup() as group:
                        group.create_task(copy(reader, far_writer))
                        group.create_task(copy(far_reader, writer))
                except* OSError:
                    pass
                finally:
                    await close(far_writer)
            await close(writer)


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass bytes on in one direction, and its end."""
    while piece := await reader.read(_PIECE):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def close(writer: asyncio.StreamWriter) -> None:
    """Close a connection, broken or not."""
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of HOST:PORT; an IPv6 address stands in brackets.

    Raises:
        ValueError: it is anything else.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal():
        raise ValueError("expected HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


async def serve(port: int, target: tuple[str, int]) -> None:
    """Listen on all addresses of this container until the process is ended."""
    server = await asyncio.start_server(Door(*target).pass_on, "0.0.0.0", port)  # noqa: S104 (a container's own network)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(int(sys.argv[1]), parse_address(sys.argv[2])))
