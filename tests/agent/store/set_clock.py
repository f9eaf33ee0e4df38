"""A machine's clock that tests set, beside the seconds that really pass."""

from agent.io.machine_clock import ClockReading
from agent.store import Store

DAY = 86_400
START = 1_770_000_000  # 2026-02-02


class SetClock:
    """A machine that is on since the hour before `START`."""

    def __init__(self, now: int = START) -> None:
        self.now = now
        self._boot = 1
        self._uptime_s = 3600

    def pass_time(self, seconds: int) -> None:
        """Let time pass while the machine is on."""
        self.now += seconds
        self._uptime_s += seconds

    def restart(self, *, off_s: int = 60) -> None:
        """Switch the machine off and on again."""
        self.now += off_s
        self._boot += 1
        self._uptime_s = 30

    def read(self) -> ClockReading:
        """Return what the clock says."""
        return ClockReading(self.now, f"boot {self._boot}", self._uptime_s)


def give_clock(store: Store, clock: SetClock) -> SetClock:
    """Let a store read this clock."""
    store.clock.read = clock.read
    return clock
