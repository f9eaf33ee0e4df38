"""Bounds on work: how many requests are worked on, how many wait and in which order, how often a client may ask.

Connections are cheap and are bounded elsewhere (`connections.py`). All of this runs in one event loop, without locks.
"""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

MAX_REMEMBERED_CLIENTS = 20_000


class OverloadedError(Exception):
    """A request is turned away without being worked on.

    Attributes:
        retry_after_s: whole seconds after which another try makes sense, at least 1.
    """

    def __init__(self, retry_after_s: int) -> None:
        super().__init__()
        self.retry_after_s = max(1, retry_after_s)


class QueueFullError(OverloadedError):
    """Too many requests wait already, of everybody or of this client, or this one has waited too long."""


class TooOftenError(OverloadedError):
    """The client asks more often than it may."""


class Gate:
    """Lets a number of requests through at once; the others wait, and clients take turns.

    Turns are by client, so a client with hundreds of requests waiting delays another's first one by one turn only.
    """

    def __init__(
        self, *, at_once: int, waiting: int, waiting_per_client: int, patience_s: float
    ) -> None:
        """Make an open gate.

        Args:
            at_once: requests let through at once.
            waiting: requests of everybody that may wait.
            waiting_per_client: requests of one client that may wait.
            patience_s: seconds after which a waiting request is turned away.
        """
        self._free = at_once
        self._at_once = at_once
        self._max_waiting = waiting
        self._max_waiting_per_client = waiting_per_client
        self._patience_s = patience_s
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """The number of requests that wait."""
        return sum(len(queue) for queue in self._queues.values())

    @property
    def working(self) -> int:
        """The number of requests that were let through and are not done."""
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
                self._pass_on()  # the turn came in the same moment and would be lost
            else:
                self._forget(client, turn)
            if isinstance(error, TimeoutError):
                raise QueueFullError(5) from None
            raise

    def _pass_on(self) -> None:
        """Give the turn to the next client's first request, or keep it free."""
        while self._queues:
            client, queue = self._queues.popitem(last=False)
            turn = queue.popleft()
            if queue:
                self._queues[client] = queue  # at the end: other clients come first
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
    """Allows each client a number of requests a minute, a quarter of them at once."""

    def __init__(
        self, requests_per_minute: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Make a limit; 0 requests a minute means none."""
        self._per_second = requests_per_minute / 60
        self._burst = max(1.0, requests_per_minute / 4)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, client: str) -> None:
        """Count one request of a client. Raises TooOftenError."""
        if self._per_second == 0:
            return
        now = self._clock()
        left, counted_at = self._buckets.pop(client, (self._burst, now))
        left = min(self._burst, left + (now - counted_at) * self._per_second)
        allowed = left >= 1
        self._buckets[client] = (left - 1 if allowed else left, now)
        while len(self._buckets) > MAX_REMEMBERED_CLIENTS:
            # The client that has been silent longest has most likely its whole allowance back.
            self._buckets.popitem(last=False)
        if not allowed:
            raise TooOftenError(math.ceil((1 - left) / self._per_second))
