"""What an aggregator's desk answers, and what sending then leaves."""

from collections.abc import Sequence

from agent.delivery import send as delivery
from agent.delivery.outbox import State, Submission
from agent.delivery.receipts import read_head
from agent.delivery.send import (
    list_waiting,
)
from agent.delivery.transport import Aggregator
from agent.disclosure.prepare import Gate
from tests.agent.disclosure.ward import REGISTRY
from tests.protocol import world


def send_all(
    gate: Gate, aggregator: Aggregator, submissions: Sequence[Submission] | None = None
) -> list[Submission]:
    chosen = list_waiting(gate.outbox) if submissions is None else submissions
    return delivery.send(
        gate.outbox,
        REGISTRY,
        aggregator,
        chosen,
        today_day=world.TODAY,
        audit=lambda event, detail: None,
    )


def states(gate: Gate) -> list[State]:
    """The states of the results; the dataset that they are of has its receipt before each test."""
    return [
        submission.state for submission in gate.outbox.list_submissions() if submission.is_result
    ]


def head_size(gate: Gate) -> int:
    return read_head(gate.outbox.directory / "head.json", world.ORIGIN).size
