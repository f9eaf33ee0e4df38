"""Limits on connections: the time allowed for each phase, and which connection is closed when there are too many.

A waiting connection costs only a file descriptor and a few kilobytes, so thousands may be open.
They do not count as requests being processed.
"""

import asyncio
import json
import resource
import time
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from aggregator.errors import SettingsError

SWEEP_S = 0.5  # seconds between checks: a phase may exceed its limit by this much
FILES_OF_OUR_OWN = 128  # database connections, log, libraries


class Phase(Enum):
    """The phase of a connection, by what it waits for."""

    IDLE = "the next request to begin"
    ARRIVING = "the head of a request, or the rest of a refused body"
    WORKING = "the rest of a body, or the response"
    LEAVING = "the client to receive the last bytes"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Maximum seconds in each phase, and the maximum number of open connections.

    Attributes:
        arrival_s: To receive the head of a request.
        keep_alive_s: Between two requests.
        exchange_s: From the head of a request until the client has received the response.
        max_connections: Maximum connections open at once in one process.
    """

    arrival_s: float
    keep_alive_s: float
    exchange_s: float
    max_connections: int

    def allow(self, phase: Phase) -> float:
        """Return the maximum seconds in this phase."""
        match phase:
            case Phase.IDLE:
                return self.keep_alive_s
            case Phase.ARRIVING:
                return self.arrival_s
            case _:
                return self.exchange_s


class LimitedConnection(H11Protocol):
    """A connection with a time limit on every phase. `limits` is set by the subclass that `limit` creates."""

    limits: ConnectionLimits

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Create a connection with the server's own arguments."""
        super().__init__(config, server_state, app_state, _loop)
        self.phase = Phase.ARRIVING
        self.phase_began = time.monotonic()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, and make room for it if there are too many."""
        if len(self.connections) >= self.limits.max_connections:
            self._make_room()
        super().connection_made(transport)
        if len(self.connections) > self.limits.max_connections:
            transport.abort()  # all other connections are processing requests
            return
        self.loop.call_later(SWEEP_S, self._sweep)

    def data_received(self, data: bytes) -> None:
        """Feed bytes to the parser and update the phase."""
        if self.phase is Phase.IDLE:
            self._enter(Phase.ARRIVING)
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._enter(Phase.WORKING)
        self._note_phase()

    def on_response_complete(self) -> None:
        """Wait for the next request. The server calls this when it has sent the last byte of a response."""
        before = self.cycle
        super().on_response_complete()
        if self.cycle is not before:
            self._enter(Phase.WORKING)  # the next request has already arrived
        elif before is not None and before.more_body:
            self._enter(Phase.ARRIVING)
        else:
            self._enter(Phase.IDLE)

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not an HTTP request, in the same format as other refusals."""
        del msg
        body = json.dumps({"code": "malformed"}).encode()
        head = f"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"Connection: close\r\n\r\n" + body)
        self.transport.close()
        self._enter(Phase.LEAVING)

    @property
    def can_make_room(self) -> bool:
        """Whether the connection has no complete request being processed."""
        return self.phase is not Phase.WORKING or self.cycle is None or self.cycle.more_body

    @property
    def address(self) -> str:
        """The address of the peer."""
        return self.client[0] if self.client else ""

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self.phase_began = time.monotonic()

    def _note_phase(self) -> None:
        if self.transport.is_closing() and self.phase is not Phase.LEAVING:
            self._enter(Phase.LEAVING)

    def _sweep(self) -> None:
        """Close the connection if its phase has taken too long, otherwise schedule the next check."""
        if self not in self.connections:
            return
        self._note_phase()
        is_untaken = self.phase is Phase.IDLE and self.transport.get_write_buffer_size() > 0
        allowed_s = self.limits.exchange_s if is_untaken else self.limits.allow(self.phase)
        if time.monotonic() - self.phase_began > allowed_s:
            self.transport.abort()
            return
        self.loop.call_later(SWEEP_S, self._sweep)

    def _make_room(self) -> None:
        """Close the oldest connection without a complete request, from the address with the most such connections."""
        others = [
            other
            for other in self.connections
            if isinstance(other, LimitedConnection) and other.can_make_room
        ]
        if not others:
            return
        counts = Counter(other.address for other in others)
        greediest = max(counts, key=lambda address: counts[address])
        victims = [other for other in others if other.address == greediest]
        oldest = min(victims, key=lambda other: other.phase_began)
        self.connections.discard(oldest)
        oldest.transport.abort()


def limit(limits: ConnectionLimits) -> type[LimitedConnection]:
    """Return the class of connections with these limits."""
    return type("LimitedConnection", (LimitedConnection,), {"limits": limits})


def raise_open_files(connections: int) -> None:
    """Raise this process's limit on open files to what `connections` need.

    Raises:
        SettingsError: the system's hard limit is lower.
    """
    needed = connections + FILES_OF_OUR_OWN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise SettingsError(
            f"max_connections is {connections}, which needs {needed} open files, but the system allows only {hard}",
            f"Raise the limit (systemd: LimitNOFILE={needed}), or lower max_connections in aggregator.yaml to "
            f"{max(1, hard - FILES_OF_OUR_OWN)}.",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
