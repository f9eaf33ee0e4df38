"""Deadlines that are far away."""

from agent.redaction.deadline import Deadline


def deadline(seconds: float = 10) -> Deadline:
    made = Deadline()
    made.start(seconds)
    return made
