"""Share each server's places among all requests of a command, as many as its controller of concurrency allows."""

import asyncio
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType

from agent.inference.concurrency import ConcurrencyController, ServerReply, measure_work
from agent.inference.endpoint import describe_address
from agent.vocabulary import Response

# Statuses of a server that has too much to do. The last one is not registered, but common.
OVERLOADED_STATUSES = frozenset({429, 503, 529})

_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


class ServerLoad:
    """The requests of this command that one server has, and how many it may have.

    Attributes:
        in_flight: the number of requests now.
    """

    def __init__(self, *, adapts: bool = True) -> None:
        """Begin with an idle server. Unless it `adapts`, it always gets as many requests as are allowed."""
        self.in_flight = 0
        self._full_at = float("-inf")  # when it had as many requests as the limit allows
        self._adapts = adapts
        self._ceilings: list[int] = []  # of the calls that ask the server now
        self._controller: ConcurrencyController | None = None

    @property
    def limit(self) -> int:
        """The maximum number of requests now."""
        assert self._controller is not None
        return self._controller.limit if self._adapts else self._controller.ceiling

    @property
    def has_place(self) -> bool:
        """Whether the server may get one more request."""
        return self.in_flight < self.limit

    @contextmanager
    def allow(self, ceiling: int) -> Iterator[None]:
        """Return a context in which the server is asked with this maximum. The lowest of several applies to all."""
        if self._controller is None:
            self._controller = ConcurrencyController(ceiling)
        elif not self._ceilings:
            self._controller.begin_work()
        self._ceilings.append(ceiling)
        self._controller.change_ceiling(min(self._ceilings))
        try:
            yield
        finally:
            self._ceilings.remove(ceiling)
            if self._ceilings:
                self._controller.change_ceiling(min(self._ceilings))

    def add_request(self) -> None:
        """Record that a request is sent now."""
        self.in_flight += 1
        if self.in_flight >= self.limit:
            self._full_at = time.monotonic()

    def remove_request(self) -> None:
        """Record that a request has ended."""
        if self.in_flight >= self.limit:
            self._full_at = time.monotonic()
        self.in_flight -= 1

    def note_reply(self, result: object, asked_at: float) -> None:
        """Record the reply to a request that was sent at this time by `time.monotonic`."""
        if isinstance(result, Response) and self._controller is not None:
            # Replies may come together, so that the server has few requests for a moment before it gets the next ones.
            is_full = self.in_flight >= self.limit or self._full_at >= asked_at
            work = measure_work(result.prompt_tokens, result.completion_tokens)
            self._controller.note_reply(ServerReply(asked_at, time.monotonic(), work, is_full))

    def note_status(self, status: int, asked_at: float) -> None:
        """Record a reply's status; some tell that the server has too much to do."""
        if status in OVERLOADED_STATUSES and self._controller is not None:
            self._controller.note_overload(asked_at, time.monotonic())


class Places:
    """The places for requests at a deployment's servers: one is taken from the first attempt to the last.

    They are given in the order in which they were asked for. Not bound to an event loop while nobody waits.
    """

    def __init__(self, loads: Sequence[ServerLoad]) -> None:
        self._loads = loads
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def _capacity(self) -> int:
        return sum(load.limit for load in self._loads)

    async def __aenter__(self) -> None:
        """Wait for a place and take it."""
        if not self._waiting and self._taken < self._capacity:
            self._taken += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._waiting.remove(place)
            else:
                self._give_back()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the place back."""
        self._give_back()

    def _give_back(self) -> None:
        self._taken -= 1
        while self._waiting and self._taken < self._capacity:
            place = self._waiting.popleft()
            if not place.done():
                self._taken += 1
                place.set_result(None)


class ServerLoads:
    """The loads of all servers that a command asks."""

    def __init__(self, *, adapts: bool = True) -> None:
        """Begin with idle servers. Unless it `adapts`, each gets as many requests as are allowed from the beginning."""
        self._adapts = adapts
        self._loads: dict[str, ServerLoad] = {}
        self._places: dict[tuple[str, ...], Places] = {}

    def find(self, url: str) -> ServerLoad:
        """Return the load of the server at this address, whichever deployment it belongs to."""
        return self._loads.setdefault(identify_host(url), ServerLoad(adapts=self._adapts))

    def find_places(self, urls: Sequence[str]) -> Places:
        """Return the places at the servers with these addresses; calls with equal addresses share them."""
        hosts = tuple(dict.fromkeys(map(identify_host, urls)))
        if hosts not in self._places:
            self._places[hosts] = Places([self._loads[host] for host in hosts])
        return self._places[hosts]


def identify_host(url: str) -> str:
    """Return host and port of an address, equal for addresses of the same server as far as they show it."""
    address = describe_address(url).lower()
    host, mark, port = address.rpartition(":")
    return f"127.0.0.1:{port}" if mark and host in _LOCAL_NAMES else address
