"""A model server and its client in simulated time, for the controller of concurrency: no sockets, no clock, no chance.

The client always has questions, and keeps as many requests at the server as the controller's limit allows.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.inference.concurrency import ConcurrencyController, ServerReply

_RETRIED_AFTER_S = 0.5


@dataclass
class SimulatedServer:
    """A server whose requests take longer the more of them it has.

    Args:
        slots: requests that it works on at the same time; others wait in its queue.
        seconds: how long a request takes once it has a slot.
        refuses_above: number of requests from which it refuses further ones with 429; None for never.
        slower: how much longer everything takes at a moment, as when others use the server.
        lengths: the work of each request by its number, as a multiple of `seconds`.
    """

    slots: int
    seconds: float = 1.0
    refuses_above: int | None = None
    slower: Callable[[float], float] = lambda now: 1.0
    lengths: Callable[[int], float] = lambda number: 1.0
    tells_work: bool = True
    replies: int = 0
    refused: int = 0
    limits: list[tuple[float, int]] = field(default_factory=list)
    peak: int = 0

    def run(self, controller: ConcurrencyController, until_s: float) -> None:
        """Answer questions until the time is over."""
        free_at = [0.0] * self.slots  # when each slot is free
        heapq.heapify(free_at)
        ends: list[tuple[float, int, float, bool, float]] = []
        number = in_flight = sleeping = 0
        now = 0.0
        while now < until_s:
            while in_flight < controller.limit:
                in_flight += 1
                number += 1
                self.peak = max(self.peak, in_flight)
                if self.refuses_above is not None and in_flight - sleeping > self.refuses_above:
                    heapq.heappush(ends, (now + 0.01, number, now, False, 0.0))
                    continue
                length = self.lengths(number)
                begins = max(now, heapq.heappop(free_at))
                end = begins + self.seconds * length * self.slower(now)
                heapq.heappush(free_at, end)
                heapq.heappush(ends, (end, number, now, True, length))
            now, _, asked_at, is_answered, length = heapq.heappop(ends)
            is_full = in_flight >= controller.limit
            in_flight -= 1
            if is_answered:
                self.replies += 1
                work = length if self.tells_work else 1.0
                controller.note_reply(ServerReply(asked_at, now, work, is_full))
            else:
                self.refused += 1
                controller.note_overload(asked_at, now)
            if not self.limits or self.limits[-1][1] != controller.limit:
                self.limits.append((now, controller.limit))

    def limit_at(self, at_s: float) -> int:
        """Return the controller's limit at a moment."""
        return [limit for when, limit in self.limits if when <= at_s][-1]
