"""A question is asked until it is answered, fails for good, or its time is up."""

from dataclasses import replace

import pytest

from agent.vocabulary import Failure, Reason, Response
from tests.agent.fault_server import (
    HTML,
    NO_CHOICES,
    TRUNCATED,
    Action,
    Body,
    Break,
    FaultServer,
    Hang,
    Huge,
    Message,
    Status,
    always,
    containing,
    in_turn,
)
from tests.agent.inference.asking import QUICK, ask, ask_one


def test_a_passing_500_is_asked_again():
    with FaultServer(fault=in_turn(Status(500), Status(503), None)) as server:
        assert isinstance(ask_one(server.url), Response)
    assert len(server.asked) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422])
def test_a_refusal_is_not_asked_again(status):
    with FaultServer(fault=always(Status(status))) as server:
        assert ask_one(server.url) == Failure(Reason.SERVER_ERROR, status)
    assert len(server.asked) == 1


def test_retry_after_is_waited_for_but_not_longer_than_the_limit():
    limits = replace(QUICK, retry_wait_max_s=3)
    with FaultServer(fault=in_turn(Status(429, {"Retry-After": "1"}), None)) as server:
        ask_one(server.url, limits=limits)
        assert 1.0 <= server.asked[1].at - server.asked[0].at < 3.5
    with FaultServer(fault=in_turn(Status(429, {"Retry-After": "86400"}), None)) as server:
        assert isinstance(ask_one(server.url, limits=QUICK), Response)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (HTML, Reason.BAD_REPLY),
        (TRUNCATED, Reason.BAD_REPLY),
        (NO_CHOICES, Reason.BAD_REPLY),
        (Body(b""), Reason.BAD_REPLY),
        (Body(b"null"), Reason.BAD_REPLY),
        (Body(b"[" * 100_000), Reason.BAD_REPLY),
        (Body(b"\xff\xfe{}"), Reason.BAD_REPLY),
        (Message(None), Reason.BAD_REPLY),
        (Message({"content": 5}), Reason.BAD_REPLY),
        (Message({"content": None}), Reason.EMPTY),
        (Message({"content": "Partly"}, "content_filter"), Reason.CONTENT_FILTER),
        (Huge(1_000_000), Reason.BAD_REPLY),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Action) else str(value),
)
def test_a_reply_that_is_no_answer_is_a_failure_with_its_reason(action, reason):
    with FaultServer(fault=containing("bad", action)) as server:
        outcome = ask(
            server.url, ["a bad one", "a good one"], limits=replace(QUICK, max_reply_bytes=300_000)
        )
    assert outcome.reasons() == {"a bad one": reason}
    assert set(outcome.texts()) == {"a good one"}


@pytest.mark.sample(2)
@pytest.mark.parametrize("mid_reply", [False, True])
@pytest.mark.parametrize("reset", [False, True])
def test_a_connection_broken_by_the_server_is_tried_again_and_then_reported(mid_reply, reset):
    with FaultServer(fault=in_turn(Break(mid_reply, reset), None)) as server:
        assert isinstance(ask_one(server.url), Response)
    with FaultServer(fault=always(Break(mid_reply, reset))) as server:
        expected = Reason.BAD_REPLY if mid_reply else Reason.UNREACHABLE
        assert ask_one(server.url) == Failure(expected)
    assert len(server.asked) == QUICK.max_attempts


def test_the_total_time_of_a_request_is_limited_whatever_its_attempts():
    limits = replace(
        QUICK,
        total_timeout_s=1.2,
        attempt_timeout_s=0.5,
        first_attempt_timeout_s=0.5,
        max_attempts=20,
    )
    with FaultServer(fault=always(Hang())) as server:
        outcome = ask(server.url, ["stuck"], limits=limits)
    assert outcome.reasons() == {"stuck": Reason.TIMEOUT}
    assert outcome.seconds < 9  # 20 attempts would take 10 s


def test_a_wait_that_the_server_asks_for_ends_with_the_time_of_the_request():
    limits = replace(QUICK, total_timeout_s=1, retry_wait_max_s=600)
    for wait in ("3600", "9" * 5000, "Fri, 31 Dec 2199 23:59:59 GMT"):
        with FaultServer(fault=always(Status(429, {"Retry-After": wait}))) as server:
            outcome = ask(server.url, ["busy"], limits=limits)
        assert outcome.results["busy"] == Failure(Reason.SERVER_ERROR, 429)
        assert outcome.seconds < 60
        assert len(server.asked) == 1


def test_a_response_says_how_often_its_question_was_sent():
    with FaultServer(fault=lambda asked: Status(503) if asked.number < 2 else None) as server:
        result = ask_one(server.url)
    assert isinstance(result, Response)
    assert result.attempts == 3
    with FaultServer() as server:
        once = ask_one(server.url)
    assert isinstance(once, Response)
    assert once.attempts == 1
