"""The time of a field: shared, over when it is over, and given anew to the next."""

import pytest

from agent.redaction import deadline as deadlines
from agent.redaction.deadline import Deadline


def test_time_runs_out_for_one_field_and_begins_anew_for_the_next(monkeypatch: pytest.MonkeyPatch):
    now = [100.0]
    monkeypatch.setattr(deadlines.time, "monotonic", lambda: now[0])
    deadline = Deadline()
    with pytest.raises(TimeoutError):
        deadline.left()
    deadline.start(2.0)
    now[0] = 101.5
    assert deadline.left() == 0.5
    now[0] = 102.0
    with pytest.raises(TimeoutError):
        deadline.left()
    deadline.start(1.0)
    assert deadline.left() == 1.0
