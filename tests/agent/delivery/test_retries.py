"""Trying again without a person: what waiting mends, and what it must not hide."""

from collections.abc import Callable, Sequence

import pytest

from agent.delivery import send as delivery
from agent.delivery.outbox import State, Submission
from agent.delivery.receipts import LogError
from agent.delivery.retries import Waits, keep_trying
from agent.delivery.send import OutOfOrderError, SignedRefusalError, list_waiting
from agent.delivery.transport import Aggregator, SubmissionRefusedError
from agent.disclosure.prepare import Gate
from agent.errors import AgentError, BusyError, ConfigError, DeliveryError, StoreError
from protocol.errors import Code
from protocol.refusal import Refusal, sign_refusal
from tests.agent.delivery.desk import Desk, Reply, Request
from tests.agent.disclosure.ward import REGISTRY
from tests.protocol import world

QUICK = Waits(first_s=0.01, longest_s=0.02, jitter_s=0.01)


def attempt_of(gate: Gate, aggregator: Aggregator) -> Callable[[], None]:
    """One try of `submission send`: everything is read anew."""

    def attempt() -> None:
        delivery.send(
            gate.outbox,
            REGISTRY,
            aggregator,
            list_waiting(gate.outbox),
            today_day=world.TODAY,
            audit=lambda _, __: None,
        )

    return attempt


def answers_in_turn(desk: Desk, replies: Sequence[Reply]) -> None:
    """Give these answers first, then answer honestly."""
    left = list(replies)

    def answer(request: Request) -> Reply:
        return left.pop(0) if left else desk.honest(request)

    desk.instead = answer


@pytest.mark.full
def test_an_outage_a_login_page_and_a_forged_refusal_pass(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission]
) -> None:
    page = Reply(b"<html>log in</html>", 200, {"Content-Type": "text/html"})
    forged = Reply(b'{"code": "fork"}', 409)
    answers_in_turn(
        desk, [Reply(b"", 502), page, forged, Reply(b"{}"), Reply(b'{"code": "internal"}', 500)]
    )
    said: list[str] = []
    keep_trying(attempt_of(gate, aggregator), say=said.append, waits=QUICK)
    assert [s.state for s in gate.outbox.list_submissions() if s.is_result] == [State.RECEIPTED] * 2
    assert len(said) == 5
    assert all(line.startswith(f"attempt {number} failed: ") for number, line in enumerate(said, 1))


def test_a_signed_refusal_ends_the_trying(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission]
) -> None:
    for code in (Code.UNKNOWN_KEY, Code.WRONG_ROOT):
        note = sign_refusal(Refusal(approved[0].digest, code, 3), world.ORIGIN, world.RECEIPT)
        body = f'{{"code": "{code.value}", "refusal": {note!r}}}'.replace("'", '"').encode()
        answers_in_turn(desk, [Reply(b"", 502), Reply(body, 409)])
        said: list[str] = []
        with pytest.raises(SignedRefusalError, match=code.value):
            keep_trying(attempt_of(gate, aggregator), say=said.append, waits=QUICK)
        assert len(said) == 1
    assert gate.outbox.get(approved[0].digest).state is State.REFUSED


@pytest.mark.parametrize(
    "error",
    [
        LogError("two histories"),
        OutOfOrderError("before its turn"),
        ConfigError("a setting"),
        StoreError("a disk"),
    ],
)
def test_what_waiting_cannot_mend_is_raised_at_once(error: AgentError) -> None:
    tries = []

    def attempt() -> None:
        tries.append(1)
        raise error

    with pytest.raises(type(error)):
        keep_trying(attempt, say=lambda _: None, waits=QUICK)
    assert tries == [1]


@pytest.mark.parametrize(
    "error",
    [
        DeliveryError("no answer"),
        BusyError("another command"),
        SubmissionRefusedError(None, 404),
        SubmissionRefusedError(None, 429),
    ],
)
def test_what_waiting_may_mend_is_tried_again(error: AgentError) -> None:
    tries = []

    def attempt() -> None:
        tries.append(1)
        if len(tries) < 4:
            raise error

    keep_trying(attempt, say=lambda _: None, waits=QUICK)
    assert len(tries) == 4
