"""Send each request to the replica with the fewest requests in flight, and leave out replicas that do not answer.

A deployment with one server has one replica, which is never left out. Concurrency is limited per replica, see
`agent.inference.concurrency`.
"""

import asyncio
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager

from agent.inference.connection import (
    BrokenError,
    ServerConnection,
    ServerLine,
    TooLongError,
    UnreachableServerError,
)
from agent.inference.endpoint import Endpoint, list_addresses
from agent.inference.limits import HttpLimits
from agent.inference.outage import Outage, ReplicaHealth
from agent.inference.server_load import Places, ServerLoad, ServerLoads

_ANSWERS_WITHIN_S = 3.0  # for a server that was given up; each run of a command waits for this time
_LOOK_AGAIN_S = 0.5  # maximum wait for a free place before the replicas are looked at again


class Replica:
    """One of the servers of a deployment, with the connections that no request uses now."""

    def __init__(self, url: str, line: ServerLine, health: ReplicaHealth, load: ServerLoad) -> None:
        self.url = url
        self.health = health
        self.load = load
        self._line = line
        self._idle: list[ServerConnection] = []

    def take_connection(self) -> ServerConnection:
        """Return the connection that was used last, which is the likeliest to be still open, or a new one."""
        return self._idle.pop() if self._idle else self._line.open()

    def keep_connection(self, connection: ServerConnection) -> None:
        """Keep a connection for the next request."""
        self._idle.append(connection)

    async def answers_now(self) -> bool:
        """Return whether the server replies with any status when its models are listed."""
        connection = self.take_connection()
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN_S):
                await connection.get("/models")
        except (UnreachableServerError, BrokenError, TooLongError, TimeoutError):
            return False
        finally:
            self.keep_connection(connection)
        return True

    async def close(self) -> None:
        """Close all connections that no request uses."""
        while self._idle:
            await self._idle.pop().close()


class ReplicaPool:
    """The replicas of a deployment, shared by all workers of a call.

    Attributes:
        deployment: the deployment's name.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        limits: HttpLimits,
        outage: Outage,
        *,
        max_in_flight: int,
        loads: ServerLoads,
        left_out: Collection[str] = (),
        tried_again: Collection[str] = (),
    ) -> None:
        """Read the settings of all replicas.

        Args:
            endpoint: the deployment.
            limits: limits of time and size.
            outage: the health of the replicas, shared with other calls.
            max_in_flight: maximum number of requests in flight at each replica.
            loads: the loads of the replicas, shared with other calls.
            left_out: the addresses that the probe found unusable.
            tried_again: those of them that get requests as soon as another probe finds them usable.

        Raises:
            ConfigError: an address, the token file, proxy or CA bundle cannot be used.
        """
        self.deployment = endpoint.name
        self._max_in_flight = max_in_flight
        self._loads = loads
        self._freed = asyncio.Condition()
        self._waiting = 0  # requests that wait for a replica with a free place
        self._replicas = []
        for url in list_addresses(endpoint):
            if url in left_out and url not in tried_again:
                continue
            health = outage.find_replica(endpoint, url)
            if url in tried_again:
                health.leave_out_until_probed()
            line = ServerLine(endpoint, limits, url)
            self._replicas.append(Replica(url, line, health, loads.find(url)))

    @property
    def size(self) -> int:
        """The number of replicas, with those that must be probed first."""
        return len(self._replicas)

    @property
    def total_in_flight(self) -> int:
        """The maximum number of requests in flight at all replicas together."""
        return self.size * self._max_in_flight

    def find_places(self) -> Places:
        """Return the places for requests at all replicas, with those that must be probed first."""
        return self._loads.find_places([replica.url for replica in self._replicas])

    @contextmanager
    def allow_requests(self) -> Iterator[None]:
        """Return a context in which the replicas may be asked, each with the pool's maximum number of requests."""
        with ExitStack() as stack:
            for replica in self._replicas:
                stack.enter_context(replica.load.allow(self._max_in_flight))
            yield

    async def reserve(self, avoided: Replica | None = None) -> Replica:
        """Wait for a replica with a free place, and take the place at the one with the fewest requests in flight.

        Args:
            avoided: the replica where the request failed before; it is chosen only if no other can be.
        """
        if self.size == 1 and self._replicas[0].load.has_place:
            free: Replica | None = self._replicas[0]
        else:
            async with self._freed:
                while (free := self._find_free(avoided)) is None:
                    await self._wait_for_place()
        assert free is not None
        free.load.add_request()
        return free

    async def release(self, replica: Replica) -> None:
        """Give up a place, which a waiting worker may take."""
        replica.load.remove_request()
        if self._waiting:
            async with self._freed:
                self._freed.notify()

    def has_other(self, replica: Replica) -> bool:
        """Return whether a request that failed at a replica can be sent to another one at once."""
        now = time.monotonic()
        others = [other for other in self._replicas if other is not replica]
        return any(_is_usable(other, now) for other in others)

    async def answers_again(self) -> bool:
        """Return whether a server that was given up replies at once to a request without any prompt."""
        for replica in self._list_admitted():
            if await replica.answers_now():
                return True
        return False

    def list_unprobed(self) -> list[Replica]:
        """Return the replicas that must be probed before they get requests."""
        return [replica for replica in self._replicas if replica.health.must_be_probed]

    def _list_admitted(self) -> list[Replica]:
        return [replica for replica in self._replicas if not replica.health.must_be_probed]

    async def close(self) -> None:
        """Close the connections of all replicas."""
        for replica in self._replicas:
            await replica.close()

    async def _wait_for_place(self) -> None:
        """Wait until a place becomes free, but not for long, because a replica that was left out may be due."""
        self._waiting += 1
        try:
            async with asyncio.timeout(_LOOK_AGAIN_S):
                await self._freed.wait()
        except TimeoutError:
            pass
        finally:
            self._waiting -= 1

    def _find_free(self, avoided: Replica | None) -> Replica | None:
        now = time.monotonic()
        usable = [replica for replica in self._replicas if _is_usable(replica, now)]
        if not usable:
            # None answers. The one that is due first is asked, so that their silence is noticed.
            return min(self._list_admitted(), key=lambda replica: replica.health.due)
        if len(usable) > 1 and avoided in usable:
            usable.remove(avoided)
        free = [replica for replica in usable if replica.load.has_place]
        return min(free, key=lambda replica: replica.load.in_flight, default=None)


def _is_usable(replica: Replica, now: float) -> bool:
    """Return whether a replica may get a request. One that was left out first gets a single request on trial."""
    health = replica.health
    if health.must_be_probed:
        return False
    if not health.is_left_out:
        return True
    return now >= health.due and replica.load.in_flight == 0
