"""Hand pieces of work to the actors of a cluster: one at a time to each, again if it was lost, and to new nodes too."""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from agent.errors import ConfigError
from agent.io.wording import format_count

Task = TypeVar("Task")

_LOOK_S: Final = (
    2.0  # between looks at the number of processors, which changes when nodes come and go
)
_WAIT_S: Final = 0.5
_PATIENCE_S: Final = 120.0  # without any actor at work
_LOST_OPENINGS: Final = 20  # actors in a row that end before they are ready


@dataclass(frozen=True, slots=True)
class ActorClass:
    """The class of this package whose objects do the work; see `agent.cluster.actor`."""

    module: str
    name: str
    arguments: tuple[str, ...]


@dataclass(slots=True)
class Assignment(Generic[Task]):
    """A piece of work.

    Attributes:
        task: what the caller calls it.
        arguments: what the actor gets: paths and positions, no text.
        losses: how often an actor ended while it did this work.
    """

    task: Task
    arguments: tuple[Any, ...]
    losses: int = 0


@dataclass(frozen=True, slots=True)
class WorkOutcome(Generic[Task]):
    """What came of a piece of work: a reply, or None if it was lost as often as the caller allows."""

    assignment: Assignment[Task]
    reply: dict[str, Any] | None


@dataclass(slots=True)
class _Seat(Generic[Task]):
    """An actor and what it does.

    Attributes:
        handle: Ray's.
        node: id of the node; empty while the actor opens.
        assignment: the work that it does; None while it opens or waits.
    """

    handle: Any
    node: str = ""
    assignment: Assignment[Task] | None = None


class ActorPool(Generic[Task]):
    """Does work on all processors of a cluster."""

    def __init__(self, ray: Any, actor: ActorClass, most_losses: int) -> None:
        """Prepare.

        Args:
            ray: the module, connected to a cluster.
            actor: the class that does the work.
            most_losses: how often a piece is given to an actor anew before it is returned without a reply.
        """
        from agent.cluster.actor import Actor

        self._ray = ray
        self._actor = actor
        self._most_losses = most_losses
        self._remote = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Actor)
        self._busy: dict[Any, _Seat[Task]] = {}  # by the reference of what is awaited
        self._idle: list[_Seat[Task]] = []
        self._waiting: deque[Assignment[Task]] = deque()
        self._lost_openings = 0
        self._looked = 0.0
        self._worked = time.monotonic()
        self.repeated = 0  # pieces of work that were lost and given to another actor

    def describe(self) -> str:
        """Return how many engines work on how many nodes, and what was lost."""
        seats = [seat for seat in (*self._busy.values(), *self._idle) if seat.node]
        nodes = len({seat.node for seat in seats})
        words = f"{format_count(len(seats), 'engine')} on {format_count(nodes, 'node')}"
        return f"{words}, {self.repeated} lost and done again" if self.repeated else words

    def give_again(self, assignments: Iterable[Assignment[Task]]) -> None:
        """Add work that is done before all that follows."""
        self._waiting.extendleft(assignments)

    def run(self, assignments: Iterator[Assignment[Task]]) -> Iterator[WorkOutcome[Task] | None]:
        """Do all work, and yield each outcome as it comes, and None now and then while there is none.

        Raises:
            ConfigError: a node is not fit for the work, or no node is left.
        """
        exhausted = False
        while True:
            if not exhausted:
                self._look()
            while self._idle:
                assignment = self._waiting.popleft() if self._waiting else next(assignments, None)
                if assignment is None:
                    exhausted = True
                    break
                exhausted = False
                self._assign(self._idle.pop(), assignment)
            if (
                exhausted
                and not self._waiting
                and not any(s.assignment for s in self._busy.values())
            ):
                return
            yield from self._wait()

    def _look(self) -> None:
        """Make actors for processors that have none."""
        now = time.monotonic()
        if now - self._looked < _LOOK_S:
            return
        self._looked = now
        processors = int(self._ray.cluster_resources().get("CPU", 0))
        missing = processors - len(self._busy) - len(self._idle)
        for _ in range(missing):
            handle = self._remote.remote(
                self._actor.module, self._actor.name, *self._actor.arguments
            )
            self._busy[handle.open.remote()] = _Seat(handle)
        if any(seat.node for seat in self._busy.values()):
            self._worked = now
        elif now - self._worked > _PATIENCE_S:
            raise ConfigError(
                f"no node of the cluster has been able to work for {_PATIENCE_S:.0f} seconds",
                "Check that its nodes run (`ray status`). Run the command again: it continues where it stopped.",
            )

    def _assign(self, seat: _Seat[Task], assignment: Assignment[Task]) -> None:
        seat.assignment = assignment
        self._busy[seat.handle.run.remote(*assignment.arguments)] = seat

    def _wait(self) -> Iterator[WorkOutcome[Task] | None]:
        if not self._busy:
            time.sleep(_WAIT_S)
            yield None
            return
        ready, _ = self._ray.wait(list(self._busy), num_returns=1, timeout=_WAIT_S)
        if not ready:
            yield None
        for reference in ready:
            seat = self._busy.pop(reference)
            try:
                reply = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                yield from self._take_loss(seat, error)
                continue
            yield from self._take_reply(seat, reply)

    def _take_reply(self, seat: _Seat[Task], reply: dict[str, Any]) -> Iterator[WorkOutcome[Task]]:
        assignment, seat.assignment = seat.assignment, None
        if assignment is not None:
            self._idle.append(seat)
            yield WorkOutcome(assignment, reply)
            return
        if "error" in reply:
            message, advice = reply["error"]
            raise ConfigError(f"a node of the cluster cannot do the work: {message}", advice)
        seat.node = reply["node"]
        self._lost_openings = 0
        self._idle.append(seat)

    def _take_loss(self, seat: _Seat[Task], error: Exception) -> Iterator[WorkOutcome[Task]]:
        """Forget an actor that ended, and keep its work for another one."""
        self._looked = 0.0
        with suppress(
            Exception
        ):  # it may be dead already; a node that only seems lost must not go on
            self._ray.kill(seat.handle)
        assignment = seat.assignment
        if assignment is None:
            self._lost_openings += 1
            if self._lost_openings > _LOST_OPENINGS:
                raise ConfigError(
                    f"the nodes of the cluster cannot start an engine ({type(error).__name__})",
                    "Install the same version of Intramural on every node, and check that there is enough memory.",
                ) from None
            return
        assignment.losses += 1
        self.repeated += 1
        if assignment.losses >= self._most_losses:
            yield WorkOutcome(assignment, None)
        else:
            self._waiting.appendleft(assignment)
