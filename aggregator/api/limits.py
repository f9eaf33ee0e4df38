"""Limits on load: concurrent requests, waiting requests and their order, and requests per client.

Connections are limited separately (`connections.py`). This code runs in a single event loop and
needs no locks.
"""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

MAX_REMEMBERED_CLIENTS = 20_000


class OverloadedError(Exception):
    """A request is rejected without being processed.

    Attributes:
        retry_after_s: Whole seconds after which to try again, at least 1.
    """

    def __init__(self, retry_after_s: int) -> None:
        super().__init__()
        self.retry_after_s = max(1, retry_after_s)


class QueueFullError(OverloadedError):
    """Too many requests are waiting, in total or from this client, or this request has waited too long."""


class TooOftenError(OverloadedError):
    """The client has exceeded its rate limit."""


class Gate:
    """A gate that lets a limited number of requests through. The others wait, and clients take turns.

    A client with hundreds of waiting requests therefore delays another client's first request by
    only one turn.
    """

    def __init__(
        self, *, at_once: int, waiting: int, waiting_per_client: int, patience_s: float
    ) -> None:
        """Create a gate.

        Args:
            at_once: Maximum requests let through at once.
            waiting: Maximum waiting requests in total.
            waiting_per_client: Maximum waiting requests per client.
            patience_s: Seconds after which a waiting request is rejected.
        """
        self._free = at_once
        self._at_once = at_once
        self._max_waiting = waiting
        self._max_waiting_per_client = waiting_per_client
        self._patience_s = patience_s
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """The number of waiting requests."""
        return sum(len(queue) for queue in self._queues.values())

    @property
    def working(self) -> int:
        """The number of requests that were let through and are not finished."""
        return self._at_once - self._free

    @asynccontextmanager
    async def pass_through(self, client: str) -> AsyncIterator[None]:
        """Wait for a turn and hold it. Raises QueueFullError."""
        if self._free > 0:
            self._free -= 1
        else:
            await self._wait_for_turn(client)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait_for_turn(self, client: str) -> None:
        queue = self._queues.get(client)
        if self.waiting >= self._max_waiting or len(queue or ()) >= self._max_waiting_per_client:
            raise QueueFullError(2)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if queue is None:
            queue = self._queues[client] = deque()
        queue.append(turn)
        try:
            async with asyncio.timeout(self._patience_s):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self._pass_on()  # the turn was granted at the same moment and must be passed on
            else:
                self._forget(client, turn)
            if isinstance(error, TimeoutError):
                raise QueueFullError(5) from None
            raise

    def _pass_on(self) -> None:
        """Give the turn to the next client's first request, or free it if no request waits."""
        while self._queues:
            client, queue = self._queues.popitem(last=False)
            turn = queue.popleft()
            if queue:
                self._queues[client] = queue  # move to the end: other clients are next
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _forget(self, client: str, turn: asyncio.Future[None]) -> None:
        queue = self._queues.get(client)
        if queue is None or turn not in queue:
            return
        queue.remove(turn)
        if not queue:
            del self._queues[client]


class RateLimit:
    """A limit on requests per client and minute, up to a quarter of which may arrive in one burst."""

    def __init__(
        self, requests_per_minute: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Create a rate limit. 0 requests per minute means no limit."""
        self._per_second = requests_per_minute / 60
        self._burst = max(1.0, requests_per_minute / 4)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, client: str) -> None:
        """Count a request of a client. Raises TooOftenError."""
        if self._per_second == 0:
            return
        now = self._clock()
        left, counted_at = self._buckets.pop(client, (self._burst, now))
        left = min(self._burst, left + (now - counted_at) * self._per_second)
        allowed = left >= 1
        self._buckets[client] = (left - 1 if allowed else left, now)
        while len(self._buckets) > MAX_REMEMBERED_CLIENTS:
            # The client that has been silent longest has most likely recovered its full allowance.
            self._buckets.popitem(last=False)
        if not allowed:
            raise TooOftenError(math.ceil((1 - left) / self._per_second))
