"""The decisions of asking again, on a clock the test turns."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.inference.limits import HttpLimits
from agent.inference.retry import AttemptFailedError, ServerHealth, read_retry_after
from agent.vocabulary import Failure, Reason

LIMITS = HttpLimits(max_attempts=3, outage_grace_s=60, retry_wait_max_s=30)
ERROR = AttemptFailedError(Failure(Reason.SERVER_ERROR, 500))
REFUSED = AttemptFailedError(Failure(Reason.UNREACHABLE), was_sent=False)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        (" 0 ", 0.0),
        ("-3", None),
        ("soon", None),
        ("9" * 400, 999_999_999.0),
        ("Thu, 01 Jan 1970 00:16:50 GMT", 10.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Thu, 99 Jan 1970 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(header, seconds):
    assert read_retry_after(header, now=1000.0) == seconds


@settings(deadline=None)
@given(st.text())
def test_no_retry_after_breaks_the_client(header):
    wait = read_retry_after(header, now=1000.0)
    assert wait is None or wait >= 0


@settings(deadline=None)
@given(st.floats(0, 1e12))
def test_no_server_makes_us_wait_longer_than_the_limit(seconds):
    failed = AttemptFailedError(Failure(Reason.SERVER_ERROR, 429), retry_after_s=seconds)
    assert 0 <= ServerHealth(LIMITS).decide_wait(failed, 1) <= 30


def test_attempts_are_limited_but_refused_connections_are_not_attempts():
    health = ServerHealth(LIMITS)
    assert [health.decide_wait(ERROR, n) for n in (1, 2, 3)] == [True, True, False]
    assert 0 < health.decide_wait(REFUSED, 0) <= 2


def test_silence_ends_patience_only_after_the_grace_time():
    clock = Clock()
    health = ServerHealth(LIMITS, clock)
    for _ in range(30):
        health.note_silence()
    clock.now += 59
    health.note_silence()
    assert not health.given_up
    clock.now += 1
    health.note_silence()
    assert health.given_up
    assert health.decide_wait(REFUSED, 0) is False


def test_any_reply_breaks_the_silence():
    clock = Clock()
    health = ServerHealth(LIMITS, clock)
    for _ in range(30):
        health.note_silence()
        clock.now += 30
        health.note_reply()
    assert not health.given_up


def test_a_few_long_time_outs_are_not_yet_an_outage():
    clock = Clock()
    health = ServerHealth(LIMITS, clock)
    for _ in range(9):
        health.note_silence()
        clock.now += 120
    assert not health.given_up


def test_after_twenty_failures_in_a_row_each_request_gets_one_attempt_until_one_succeeds():
    health = ServerHealth(LIMITS)
    for _ in range(20):
        health.note_result(Failure(Reason.SERVER_ERROR, 500))
    assert health.decide_wait(ERROR, 1) is False
    health.note_result(None)
    assert health.decide_wait(ERROR, 1) is True


def test_prompts_that_do_not_fit_say_nothing_against_the_server():
    health = ServerHealth(LIMITS)
    for _ in range(50):
        health.note_result(Failure(Reason.CONTEXT_LENGTH, 400))
    assert health.decide_wait(ERROR, 1) is True


def test_only_the_first_answer_may_take_its_time():
    health = ServerHealth(HttpLimits(first_attempt_timeout_s=300, attempt_timeout_s=120))
    assert health.attempt_timeout_s == 300
    health.note_reply()
    assert health.attempt_timeout_s == 120
