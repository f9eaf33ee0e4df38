"""Connections: how long each may take for each step, and which one makes room when there are too many.

A connection that waits costs a file descriptor and a few kilobytes, so thousands may be open. None of them holds a
place among the requests being worked on.
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

SWEEP_S = 0.5  # how far beyond its limit a phase may last
FILES_OF_OUR_OWN = 128  # database connections, log, libraries


class Phase(Enum):
    """What a connection waits for."""

    IDLE = "the next request to begin"
    ARRIVING = "the head of a request, or the rest of a body that was refused"
    WORKING = "the rest of a body, or the answer"
    LEAVING = "the client to take the last bytes"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Seconds a connection may stay in each phase, and how many may be open.

    Attributes:
        arrival_s: for the head of a request.
        keep_alive_s: between two requests.
        exchange_s: from the head of a request until its answer is taken.
        max_connections: open at once in one process.
    """

    arrival_s: float
    keep_alive_s: float
    exchange_s: float
    max_connections: int

    def allow(self, phase: Phase) -> float:
        """Return the seconds that a connection may stay in this phase."""
        match phase:
            case Phase.IDLE:
                return self.keep_alive_s
            case Phase.ARRIVING:
                return self.arrival_s
            case _:
                return self.exchange_s


class LimitedConnection(H11Protocol):
    """A connection with a time limit on every phase. `limits` is set by the subclass that `limit` makes."""

    limits: ConnectionLimits

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Make a connection as the server does."""
        super().__init__(config, server_state, app_state, _loop)
        self.phase = Phase.ARRIVING
        self.phase_began = time.monotonic()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, and make room for it if there are too many."""
        if len(self.connections) >= self.limits.max_connections:
            self._make_room()
        super().connection_made(transport)
        if len(self.connections) > self.limits.max_connections:
            transport.abort()  # every other one is being worked on
            return
        self.loop.call_later(SWEEP_S, self._sweep)

    def data_received(self, data: bytes) -> None:
        """Feed bytes to the parser, and note which phase they belong to."""
        if self.phase is Phase.IDLE:
            self._enter(Phase.ARRIVING)
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._enter(Phase.WORKING)
        self._note_phase()

    def on_response_complete(self) -> None:
        """Wait for the next request; the server calls this when the last byte of an answer was handed over."""
        before = self.cycle
        super().on_response_complete()
        if self.cycle is not before:
            self._enter(Phase.WORKING)  # the next request had arrived already
        elif before is not None and before.more_body:
            self._enter(Phase.ARRIVING)
        else:
            self._enter(Phase.IDLE)

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no HTTP request, in the form of every other refusal."""
        del msg
        body = json.dumps({"code": "malformed"}).encode()
        head = f"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"Connection: close\r\n\r\n" + body)
        self.transport.close()
        self._enter(Phase.LEAVING)

    @property
    def can_make_room(self) -> bool:
        """Whether no complete request of this connection is being worked on."""
        return self.phase is not Phase.WORKING or self.cycle is None or self.cycle.more_body

    @property
    def address(self) -> str:
        """The peer's address."""
        return self.client[0] if self.client else ""

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self.phase_began = time.monotonic()

    def _note_phase(self) -> None:
        if self.transport.is_closing() and self.phase is not Phase.LEAVING:
            self._enter(Phase.LEAVING)

    def _sweep(self) -> None:
        """End the connection if its phase takes too long, else look again."""
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
        """End the oldest connection without a complete request, of the address that has most of them."""
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
    """Let this process open as many files as `connections` need.

    Raises:
        SettingsError: the system's hard limit is lower.
    """
    needed = connections + FILES_OF_OUR_OWN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise SettingsError(
            f"max_connections is {connections}, which needs {needed} open files; the system allows {hard}",
            f"Raise the limit (systemd: LimitNOFILE={needed}), or lower max_connections in aggregator.yaml to "
            f"{max(1, hard - FILES_OF_OUR_OWN)}.",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
