"""Notice that a server is gone: say so at once, wait once, and remember since when. No requests are sent here."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from agent.inference.endpoint import (
    Endpoint,
    describe_address,
    describe_server,
    list_addresses,
)
from agent.inference.limits import HttpLimits
from agent.inference.server_load import ServerLoads
from agent.monitoring.events import ServerBack, ServerGivenUp, ServerSilent, SilenceManner
from agent.monitoring.log import log_event

Clock = Callable[[], float]
Note = Callable[[str], object]

_SILENT_ATTEMPTS = 10  # minimum attempts without a reply; a few requests may fail by chance
_SAID_AFTER_ATTEMPTS = 2
_SAID_AFTER_S = 1.0  # a server that is restarted in less time is not worth a note
# Waits in seconds before a replica without a reply is tried again; the last one is repeated.
_BACKOFF_S = (5.0, 10.0, 20.0, 40.0, 60.0)
_REPLICA_STRIKES = 3  # attempts in a row without a reply in time, after which a replica is left out


@dataclass(frozen=True, slots=True)
class LostServer:
    """A server that stopped answering, so that its remaining questions were not asked.

    Attributes:
        name: the server's name in messages, with its address.
        since: the local date and time at which the first unanswered attempt began.
        manner: how it fails to answer.
    """

    name: str
    since: str
    manner: str

    def describe(self) -> str:
        """Return the loss as a clause."""
        return f"{self.name} has not answered since {self.since} ({self.manner})"


class ReplicaHealth:
    """The health of one of several interchangeable servers, shared by all calls of a command."""

    def __init__(self, name: str, note: Note, clock: Clock) -> None:
        self._name = name
        self._note = note
        self._clock = clock
        self._left_out_at = 0.0
        self._left_out_until: float | None = None
        self._times_left_out = 0
        self._strikes = 0
        self._must_be_probed: bool | None = None  # None: not said yet

    @property
    def must_be_probed(self) -> bool:
        """Whether the replica gets no prompt before a probe shows that it serves the model as the others do."""
        return bool(self._must_be_probed)

    def leave_out_until_probed(self) -> None:
        """Leave out a replica whose probe failed. A second call, by a later run of the command, changes nothing."""
        if self._must_be_probed is not None:
            return
        self._must_be_probed = True
        self._put_off()

    def note_failed_probe(self) -> None:
        """Record that the replica was probed again in vain: it is probed later, after a longer wait."""
        self._put_off()

    def reject(self, problem: str) -> None:
        """Leave the replica out for the rest of the command, because it cannot be asked like the others."""
        self._left_out_until = math.inf
        self._note(f"{self._name} answers now, but it {problem}; it stays left out")

    def admit(self) -> None:
        """Record a successful probe: the replica gets requests."""
        self._must_be_probed = False
        self.note_reply(self._clock())

    @property
    def is_left_out(self) -> bool:
        """Whether the replica gets no request now, or only a single one on trial."""
        return self._left_out_until is not None

    @property
    def due(self) -> float:
        """The time, by the clock, from which the replica may be tried; 0 if it answers."""
        return self._left_out_until or 0.0

    def note_reply(self, asked_at: float) -> None:
        """Record a reply to a request sent at this time, by the clock: the replica gets requests again.

        A late reply to a request from before the replica was left out does not show that it still answers.
        """
        if self._left_out_until is None:
            self._strikes = 0
            return
        if asked_at < self._left_out_at:
            return
        self._strikes = 0
        self._left_out_until = None
        self._times_left_out = 0
        self._note(f"{self._name} answers again")

    def note_strike(self) -> None:
        """Record an attempt without a reply in time. Several in a row, or one on trial, leave the replica out."""
        self._strikes += 1
        if self.is_left_out or self._strikes >= _REPLICA_STRIKES:
            self.leave_out("does not answer in time")

    def leave_out(self, problem: str) -> None:
        """Leave the replica out for a while, which grows each time that it is tried in vain."""
        now = self._clock()
        if self._left_out_until is not None and now < self._left_out_until:
            return  # requests that were in flight at the same time fail together
        if self._left_out_until is None:
            self._note(f"{self._name} {problem}; the other replicas get its requests")
        self._put_off()

    def _put_off(self) -> None:
        """Set the time at which the replica is tried again."""
        now = self._clock()
        wait_s = _BACKOFF_S[min(self._times_left_out, len(_BACKOFF_S) - 1)]
        self._left_out_at = now
        self._left_out_until = now + wait_s
        self._times_left_out += 1


class Outage:
    """The silence of a deployment's servers, shared by all calls of a command.

    If all attempts are refused connections or timeouts for `outage_grace_s`, the server is given up: no further
    request is sent to it in this call, nor in later calls unless it answers again.
    """

    def __init__(
        self,
        limits: HttpLimits,
        clock: Clock = time.monotonic,
        name: str = "the server",
        note: Note = str,
        deployment: str = "",
    ) -> None:
        """Start without silence.

        Args:
            limits: the time to wait for a silent server.
            clock: returns seconds that only grow.
            name: the servers' name in messages, with their address.
            note: shows a sentence to the user.
            deployment: the deployment's name, for the log.
        """
        self._limits = limits
        self._deployment = deployment
        self._clock = clock
        self._name = name
        self._note = note
        self._replicas: dict[str, ReplicaHealth] = {}
        self._silent_since: float | None = None
        self._silent_attempts = 0
        self._began_at = 0.0  # seconds since 1970
        self._is_said = False
        self._lost: LostServer | None = None
        self._hangs = False
        self._refusals: dict[int, bool] = {}  # by status: whether they were explained
        self.given_up = False

    def find_replica(self, endpoint: Endpoint, url: str) -> ReplicaHealth:
        """Return the health of one of the deployment's servers."""
        if url not in self._replicas:
            self._replicas[url] = ReplicaHealth(
                describe_server(endpoint, url), self._note, self._clock
            )
        return self._replicas[url]

    @property
    def lost(self) -> LostServer | None:
        """The server as it was given up last, even if it has answered again; None if it never was."""
        return self._lost

    @property
    def is_worth_another_try(self) -> bool:
        """Whether the server was given up, but for refused connections: one that hangs may still list its models."""
        return self.given_up and not self._hangs

    def note_refusal(self, status: int) -> None:
        """Record a question that the server refused."""
        self._refusals.setdefault(status, False)

    def take_unexplained_refusal(self) -> int | None:
        """Return a status with which questions were refused and that was not explained yet; None if none is left."""
        for status, is_explained in self._refusals.items():
            if not is_explained:
                self._refusals[status] = True
                return status
        return None

    def tell(self, text: str) -> None:
        """Show a sentence to the user."""
        self._note(text)

    def note_reply(self) -> None:
        """Record a complete reply with any status."""
        if self._silent_since is None:
            return
        if self._is_said:
            seconds = self._clock() - self._silent_since
            self._note(f"{self._name} answers again after {seconds:.0f} s")
            log_event(ServerBack(self._deployment, seconds))
        self._silent_since = None
        self._silent_attempts = 0
        self._is_said = False
        self.given_up = False

    def note_silence(self, waited_s: float = 0.0, *, refused: bool = True) -> None:
        """Record a failed attempt.

        Args:
            waited_s: the duration of the attempt in seconds.
            refused: whether no connection could be opened; False if the server did not answer in time.
        """
        now = self._clock()
        if self._silent_since is None:
            self._silent_since = now
            self._began_at = time.time() - waited_s
        self._silent_attempts += 1
        self._hangs = not refused
        silent_s = now - self._silent_since
        if self._silent_attempts >= _SAID_AFTER_ATTEMPTS and silent_s >= _SAID_AFTER_S:
            self._say_once()
        grace_over = silent_s >= self._limits.outage_grace_s
        if grace_over and self._silent_attempts >= _SILENT_ATTEMPTS:
            self._give_up()

    def _say_once(self) -> None:
        if self._is_said:
            return
        self._is_said = True
        grace_s = self._limits.outage_grace_s
        lost = self._describe_loss().describe()
        self._note(f"{lost}; its questions wait for it for up to {grace_s:.0f} s")
        log_event(ServerSilent(self._deployment, self._name_manner()))

    def _give_up(self) -> None:
        if self.given_up:
            return
        self._say_once()
        self.given_up = True
        self._lost = self._describe_loss()
        log_event(ServerGivenUp(self._deployment, self._name_manner()))

    def _name_manner(self) -> SilenceManner:
        return "no_reply_in_time" if self._hangs else "no_connection"

    def _describe_loss(self) -> LostServer:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self._began_at))
        manner = "no reply in time" if self._hangs else "no connection"
        return LostServer(self._name, since, manner)


class ServerWatch:
    """The outages of all servers that a command asks, so that it waits for each only once, and their loads.

    Attributes:
        loads: the requests that each server has and may have.
    """

    def __init__(self, limits: HttpLimits, note: Note = str) -> None:
        """Watch servers with these limits.

        Args:
            limits: the time to wait for a silent server.
            note: shows a sentence to the user.
        """
        self._limits = limits
        self.loads = ServerLoads()
        self._note = note
        self._outages: dict[tuple[str, ...], Outage] = {}

    def find(self, endpoint: Endpoint) -> Outage:
        """Return the outage of a deployment's servers; deployments with equal addresses share it."""
        addresses = list_addresses(endpoint)
        if addresses not in self._outages:
            self._outages[addresses] = Outage(
                self._limits,
                name=_name_servers(endpoint),
                note=self._note,
                deployment=endpoint.name,
            )
        return self._outages[addresses]

    def list_lost(self) -> tuple[LostServer, ...]:
        """Return the servers that were given up so far."""
        lost = [outage.lost for outage in self._outages.values()]
        return tuple(server for server in lost if server is not None)


def _name_servers(endpoint: Endpoint) -> str:
    if not endpoint.replicas:
        return describe_server(endpoint)
    addresses = ", ".join(map(describe_address, endpoint.replicas))
    return f"deployment {endpoint.name} with its {len(endpoint.replicas)} replicas ({addresses})"
