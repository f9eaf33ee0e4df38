"""Decide how many requests a server gets at the same time, from its replies. Pure: no requests are sent here.

The limit never exceeds the configured maximum. It begins low, and is doubled while the server answers more in a second.
It is lowered if the server replies that it has too much to do, and if its replies take much longer than they did, as
when others use it. It returns in small steps, and waits longer and longer before it repeats a step that failed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

FIRST_LIMIT = 8  # the default of `max_in_flight`: a server that stands this is asked as ever

_LEAST_REPLIES = 8  # in a window
_ROUNDS = 4  # of as many replies as the limit in a window, once steps are small and their gain hard to see
_LOWERED_TO = 0.75  # of the limit
_NEEDED_GAIN = 0.2  # of the gain if the server answered as fast as before
_SLOW = 2.0  # times the usual seconds of a reply, from which the limit is lowered
_RECOVERED = 1.5  # times the usual seconds of a reply, up to which the limit may be raised
# By this share the usual seconds follow those of a window, so that longer questions become usual.
_ADAPTED_BY = 1 / 16
_FIRST_PATIENCE = 4  # windows before a step is repeated that failed; doubled with each failure
_LAST_PATIENCE = 32

# Tokens of an answer, as whose time a request's own cost and a token of its prompt are counted.
_TOKENS_OF_REQUEST = 16.0
_SHARE_OF_PROMPT = 0.1


@dataclass(frozen=True, slots=True)
class ServerReply:
    """One complete reply with an answer.

    Attributes:
        asked_at: when the request was sent, in seconds by any clock.
        at: when the reply came, by the same clock.
        work: what the answer cost the server, in any unit; see `measure_work`.
        is_full: whether the server had as many requests as its limit allows.
    """

    asked_at: float
    at: float
    work: float = 1.0
    is_full: bool = True


def measure_work(prompt_tokens: int | None, completion_tokens: int | None) -> float:
    """Return roughly what an answer costs a server, so that long answers are not taken for a slow server."""
    if prompt_tokens is None or completion_tokens is None:
        return _TOKENS_OF_REQUEST
    return _TOKENS_OF_REQUEST + _SHARE_OF_PROMPT * prompt_tokens + completion_tokens


@dataclass(slots=True)
class _Window:
    """Replies that came one after the other under one limit, while the server was full."""

    began: float | None = None
    replies: int = 0
    seconds: float = 0.0
    work: float = 0.0
    ended: float = 0.0

    def add(self, reply: ServerReply) -> None:
        if self.began is None:
            self.began = reply.asked_at
        self.replies += 1
        self.seconds += reply.at - reply.asked_at
        self.work += reply.work
        self.ended = reply.at

    @property
    def rate(self) -> float:
        """Work a second."""
        assert self.began is not None
        return self.work / max(1e-6, self.ended - self.began)

    @property
    def slowness(self) -> float:
        """Seconds of a reply for each unit of work."""
        return self.seconds / max(1e-6, self.work)


@dataclass(slots=True)
class _Trial:
    """A raised limit, until it is known whether the server answers more in a second.

    Attributes:
        before: the limit before.
        rate: work a second under that limit.
        windows: the windows under the new limit. A second one decides if the first shows no gain.
    """

    before: int
    rate: float
    windows: list[_Window] = field(default_factory=list)

    def has_gain(self, limit: int) -> bool:
        needed = self.rate * (1 + _NEEDED_GAIN * (limit / self.before - 1))
        return _average_rate(self.windows) >= needed


def _average_rate(windows: Sequence[_Window]) -> float:
    return sum(window.rate for window in windows) / len(windows)


class ConcurrencyController:
    """The limit of the requests that one server gets at the same time.

    Attributes:
        ceiling: the configured maximum, which the limit never exceeds.
        limit: the maximum number of requests now, at least 1.
    """

    def __init__(self, ceiling: int) -> None:
        """Begin with a limit that every server was given before limits were adapted, or with a lower ceiling."""
        self.ceiling = ceiling
        self.limit = min(ceiling, FIRST_LIMIT)
        self._window = _Window()
        self._trial: _Trial | None = None
        self._wait_windows = 0  # before the limit may be raised
        self._patience = _FIRST_PATIENCE
        self._has_failed = False  # a step up failed, so that the next ones are small
        self._usual: float | None = None  # seconds of a reply for each unit of work
        self._slow_windows = 0
        self._changed_at = float("-inf")
        self._overloaded_at: int | None = None  # the lowest limit that was too much
        self._answered_since = True  # whether a window was completed since the limit was too much

    def change_ceiling(self, ceiling: int) -> None:
        """Obey another maximum from now on. If it is higher, the limit rises, from the first one with the replies."""
        if ceiling == self.ceiling:
            return
        was_held_down = self.limit == self.ceiling and not self._has_failed
        self.ceiling = ceiling
        if was_held_down:
            self.limit = max(self.limit, FIRST_LIMIT)
        self.limit = min(self.limit, ceiling)
        self._trial = None
        self._window = _Window()

    def begin_work(self) -> None:
        """Forget how long replies took, because another model may be asked now."""
        self._usual = None
        self._slow_windows = 0
        self._window = _Window()
        self._trial = None

    def note_reply(self, reply: ServerReply) -> None:
        """Record an answer. The limit may change with it."""
        if not reply.is_full:
            # There are too few questions, so their number tells nothing about the server.
            self._window = _Window()
            return
        if reply.asked_at < self._changed_at and self._trial is None:
            return  # asked under a higher limit
        self._window.add(reply)
        rounds = _ROUNDS if self._has_failed and not self._is_returning else 1
        if self._window.replies >= max(_LEAST_REPLIES, rounds * self.limit):
            window, self._window = self._window, _Window(began=reply.at)
            self._judge(window, reply.at)

    def note_overload(self, asked_at: float, now: float) -> None:
        """Record that the server refused a request because it has too much to do.

        Requests that were sent before the limit was lowered do not lower it again.
        """
        if asked_at < self._changed_at:
            return
        if self._answered_since:
            self._repeat_later(self._overloaded_at == self.limit)
            self._overloaded_at = self.limit
        self._answered_since = False
        self._trial = None
        self._lower(now)

    def _judge(self, window: _Window, now: float) -> None:
        """Change the limit after a window, or leave it."""
        self._answered_since = True
        if self._trial is not None:
            self._trial.windows.append(window)
            if not self._decide_trial(self._trial, now):
                return
        if self._usual is None:
            self._usual = window.slowness
        is_slow = window.slowness > _SLOW * self._usual
        may_rise = window.slowness <= _RECOVERED * self._usual
        self._usual += _ADAPTED_BY * (window.slowness - self._usual)
        self._slow_windows = self._slow_windows + 1 if is_slow else 0
        if self._slow_windows >= 2:
            self._slow_windows = 0
            self._lower(now)
        elif may_rise:
            self._raise_in_time(window)

    def _decide_trial(self, trial: _Trial, now: float) -> bool:
        """Return whether the raised limit stays. If not, it is taken back, or one more window decides."""
        if trial.has_gain(self.limit):
            # With more requests at once each reply takes longer, which is no reason to lower the limit.
            self._usual = max(self._usual or 0.0, trial.windows[-1].slowness)
            self._trial = None
            if self._overloaded_at is not None and self.limit >= self._overloaded_at:
                self._overloaded_at = None
                self._patience = _FIRST_PATIENCE
            return True
        if len(trial.windows) > 1:
            self.limit = trial.before
            self._trial = None
            self._changed_at = now
            self._window = _Window()
            self._repeat_later(True)
        return False

    def _repeat_later(self, has_failed_before: bool) -> None:
        """Wait before the limit is raised to where it failed, twice as long as before if it failed there before."""
        self._has_failed = True
        self._wait_windows = self._patience
        if has_failed_before:
            self._patience = min(2 * self._patience, _LAST_PATIENCE)

    def _lower(self, now: float) -> None:
        self.limit = max(1, int(self.limit * _LOWERED_TO))
        self._changed_at = now
        self._window = _Window()

    @property
    def _is_returning(self) -> bool:
        """Whether the limit is lower than what the server has stood before it had too much."""
        return self._overloaded_at is not None and self.limit < self._overloaded_at - 1

    def _raise_in_time(self, window: _Window) -> None:
        """Raise the limit, unless it must be left for some more windows."""
        if self.limit >= self.ceiling:
            return
        if self._is_returning:
            assert self._overloaded_at is not None
            self.limit = min(2 * self.limit, self._overloaded_at - 1, self.ceiling)
            return
        if self._has_failed:
            self._wait_windows -= 1
            if self._wait_windows > 0:
                return
        step = self._choose_step()
        self._trial = _Trial(self.limit, window.rate)
        self.limit = min(self.ceiling, self.limit + step)
        self._window = _Window(began=window.ended)

    def _choose_step(self) -> int:
        if self._overloaded_at is not None:
            return 1
        return max(1, self.limit // 4) if self._has_failed else self.limit
