"""The time of a field: the processor time of its thread, over when it is over, and given anew to the next field."""

import pytest

from agent.redaction import deadline as deadlines
from agent.redaction.deadline import Deadline


class Clocks:
    """Two clocks that a test sets: of the processor and of the wall, both in seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.processor = 5.0
        self.wall = 100.0
        monkeypatch.setattr(deadlines.time, "thread_time", lambda: self.processor)
        monkeypatch.setattr(deadlines.time, "monotonic", lambda: self.wall)

    def work(self, seconds: float) -> None:
        self.processor += seconds
        self.wall += seconds

    def wait(self, seconds: float) -> None:
        self.wall += seconds


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


def test_time_runs_out_for_one_field_and_begins_anew_for_the_next(clocks: Clocks):
    deadline = Deadline()
    with pytest.raises(TimeoutError):
        deadline.left()
    deadline.start(2.0)
    clocks.work(1.5)
    assert deadline.left() == 0.5
    clocks.work(0.5)
    with pytest.raises(TimeoutError):
        deadline.left()
    deadline.start(1.0)
    assert deadline.left() == 1.0


def test_a_field_that_waits_on_a_busy_machine_keeps_its_time(clocks: Clocks):
    deadline = Deadline()
    deadline.start(2.0)
    clocks.work(0.5)
    clocks.wait(60.0)
    assert deadline.left() == 1.5


def test_what_is_surely_left_is_at_least_half_of_what_is_left(clocks: Clocks):
    deadline = Deadline()
    deadline.start(2.0)
    for _ in range(12):
        clocks.work(0.1)
        clocks.wait(0.2)
        left = 7.0 - clocks.processor
        assert left / 2 <= deadline.left() <= left + 1e-9


def test_a_field_that_hardly_runs_ends_some_day(clocks: Clocks):
    deadline = Deadline()
    deadline.start(2.0)
    clocks.wait(200.0)
    with pytest.raises(TimeoutError):
        deadline.left()


def test_a_step_that_gave_up_too_early_is_run_again(clocks: Clocks):
    deadline = Deadline()
    deadline.start(2.0)
    attempts = []

    def give_up_early() -> str:
        attempts.append(clocks.processor)
        clocks.work(0.5)
        if len(attempts) < 3:
            raise TimeoutError
        return "done"

    assert deadline.repeat(give_up_early) == "done"
    assert len(attempts) == 3


def test_a_step_is_not_run_again_once_its_time_is_over(clocks: Clocks):
    deadline = Deadline()
    deadline.start(2.0)
    attempts = []

    def take_too_long() -> None:
        attempts.append(clocks.processor)
        clocks.work(0.7)
        raise TimeoutError

    with pytest.raises(TimeoutError):
        deadline.repeat(take_too_long)
    assert len(attempts) == 3
