"""What a model server may do to a run, and what the run makes of it. Real sockets throughout."""

import gzip
import threading
import time
from dataclasses import replace

import pytest

from agent.inference.capabilities import Capabilities
from agent.inference.limits import HttpLimits
from agent.inference.naming import name_digest
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
    Slow,
    Status,
    always,
    by_prompt,
    containing,
    in_turn,
    is_marked,
)
from tests.agent.inference.asking import QUICK, ask, ask_one, chat

PROMPTS = [f"Question {i}?" for i in range(60)]


def test_every_request_is_answered_once_and_never_more_than_allowed_are_in_flight():
    with FaultServer(latency_s=0.02) as server:
        outcome = ask(server.url, PROMPTS, max_in_flight=7)
    assert set(outcome.texts()) == set(PROMPTS)
    assert sorted(server.prompts) == sorted(PROMPTS)
    assert server.peak_in_flight == 7
    assert server.connections == 7  # each worker keeps its own


def test_requests_are_pulled_only_when_a_place_is_free():
    pulled = 0

    def prompts():
        nonlocal pulled
        for prompt in PROMPTS:
            pulled += 1
            assert pulled <= len(server.asked) + 3
            yield prompt

    with FaultServer(latency_s=0.01) as server:
        ask(server.url, prompts(), max_in_flight=3)
    assert pulled == len(PROMPTS)


def test_permanent_500_on_a_tenth_of_the_prompts_leaves_the_rest_answered():
    with FaultServer(fault=by_prompt(0.1, Status(500))) as server:
        outcome = ask(server.url, PROMPTS, max_in_flight=16)
    bad = {prompt for prompt in PROMPTS if is_marked(prompt, 0.1)}
    assert bad
    assert outcome.reasons() == dict.fromkeys(bad, Reason.SERVER_ERROR)
    assert set(outcome.texts()) == set(PROMPTS) - bad
    assert all(server.prompts.count(prompt) == QUICK.max_attempts for prompt in bad)


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
        outcome = ask(server.url, ["a bad one", "a good one"], limits=replace(QUICK, max_reply_bytes=300_000))
    assert outcome.reasons() == {"a bad one": reason}
    assert set(outcome.texts()) == {"a good one"}


@pytest.mark.parametrize("mid_reply", [False, True])
@pytest.mark.parametrize("reset", [False, True])
def test_a_connection_broken_by_the_server_is_tried_again_and_then_reported(mid_reply, reset):
    with FaultServer(fault=in_turn(Break(mid_reply, reset), None)) as server:
        assert isinstance(ask_one(server.url), Response)
    with FaultServer(fault=always(Break(mid_reply, reset))) as server:
        expected = Reason.BAD_REPLY if mid_reply else Reason.UNREACHABLE
        assert ask_one(server.url) == Failure(expected)
    assert len(server.asked) == QUICK.max_attempts


def test_a_hanging_request_ends_as_timeout_and_holds_up_no_other():
    with FaultServer(fault=containing("stuck", Hang())) as server:
        limits = replace(QUICK, max_attempts=2)
        outcome = ask(server.url, ["stuck", *PROMPTS], limits=limits)
    assert outcome.reasons() == {"stuck": Reason.TIMEOUT}
    assert set(outcome.texts()) == set(PROMPTS)
    assert outcome.seconds < 60


def test_the_first_request_may_be_slow_and_later_ones_may_not():
    limits = replace(QUICK, attempt_timeout_s=0.7, first_attempt_timeout_s=10, max_attempts=1)
    with FaultServer(fault=in_turn(Slow(1.2), None, Slow(1.2), None)) as server:
        outcome = ask(server.url, ["one", "two", "three", "four"], limits=limits, max_in_flight=1)
    assert outcome.reasons() == {"three": Reason.TIMEOUT}


def test_the_total_time_of_a_request_is_limited_whatever_its_attempts():
    limits = replace(QUICK, total_timeout_s=1.2, attempt_timeout_s=0.5, first_attempt_timeout_s=0.5, max_attempts=20)
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


def test_a_reply_in_another_encoding_than_asked_for_is_a_bad_reply():
    packed = gzip.compress(b'{"choices": [{"message": {"content": "B"}, "finish_reason": "stop"}]}')
    for fault in (Body(packed), Status(200, {"Content-Encoding": "gzip"}, packed)):
        with FaultServer(fault=always(fault)) as server:
            assert ask_one(server.url) == Failure(Reason.BAD_REPLY, 200)
        assert server.asked[0].headers["accept-encoding"] == "identity"


def test_a_model_changed_in_the_middle_of_a_run_gives_no_answers():
    seen = Capabilities("unknown", {}, other_names=(name_digest("resolved-8b"),))
    names = ["test-model", "resolved-8b", "test-model-2024-08-06", None, "other-8b", "x" * 5_000_000]
    faults = [Message({"content": "B"}, model=name) for name in names]
    with FaultServer(fault=in_turn(*faults)) as server:
        outcome = ask(server.url, [f"Question {i}?" for i in range(6)], max_in_flight=1, capabilities=seen)
    assert outcome.reasons() == dict.fromkeys(["Question 4?", "Question 5?"], Reason.BAD_REPLY)


def test_a_redirect_is_not_followed():
    with FaultServer() as elsewhere:
        redirect = Status(307, {"Location": f"{elsewhere.url}/chat/completions"})
        with FaultServer(fault=always(redirect)) as server:
            assert ask_one(server.url) == Failure(Reason.SERVER_ERROR, 307)
    assert elsewhere.seen_paths == []


@pytest.mark.parametrize(
    "message",
    [
        b"This model's maximum context length is 2048 tokens. However, you requested 5000 tokens",
        b"The decoder prompt (length 9000) is longer than the maximum model length of 2048",
        b"Requested tokens (9000) exceed context window of 2048",
        b'{"error": {"code": 400, "type": "exceed_context_size_error"}}',
    ],
)
def test_a_prompt_that_does_not_fit_is_told_apart(message):
    with FaultServer(fault=always(Status(400, body=message))) as server:
        assert ask_one(server.url) == Failure(Reason.CONTEXT_LENGTH, 400)
    assert len(server.asked) == 1


def test_an_outage_of_some_seconds_loses_nothing_and_repeats_no_answer():
    with FaultServer(latency_s=0.02, answer="Yes") as server:
        timer = threading.Timer(0.3, lambda: (server.stop(), time.sleep(2.5), server.start()))
        timer.start()
        limits = replace(QUICK, outage_grace_s=20, max_attempts=4, retry_wait_max_s=2)
        outcome = ask(server.url, [f"Question {i}?" for i in range(200)], limits=limits)
        timer.join()
    assert len(outcome.texts()) == 200
    assert outcome.seconds > 2.5
    assert len(server.asked) <= 200 + 4  # at most what was in flight when it went down is asked again


def test_a_server_that_is_gone_ends_the_run_soon_and_the_rest_is_not_asked():
    with FaultServer() as server:
        url = server.url
    many = [f"Question {i}?" for i in range(5000)]
    outcome = ask(url, many, limits=replace(QUICK, outage_grace_s=1), max_in_flight=8)
    reasons = list(outcome.reasons().values())
    assert len(reasons) == 5000
    assert reasons.count(Reason.UNREACHABLE) == 8
    assert reasons.count(Reason.NOT_ASKED) == 4992
    assert outcome.seconds < 60


def test_a_server_that_hangs_on_everything_is_given_up():
    limits = replace(QUICK, attempt_timeout_s=0.2, first_attempt_timeout_s=0.2, outage_grace_s=0.5)
    with FaultServer(fault=always(Hang())) as server:
        outcome = ask(server.url, [f"Question {i}?" for i in range(500)], limits=limits, max_in_flight=8)
    assert set(outcome.reasons().values()) == {Reason.TIMEOUT, Reason.NOT_ASKED}
    assert outcome.seconds < 60


def test_a_server_that_fails_on_everything_is_soon_asked_only_once_a_request():
    with FaultServer(fault=always(Status(500))) as server:
        outcome = ask(server.url, [f"Question {i}?" for i in range(200)], max_in_flight=8)
    assert set(outcome.reasons().values()) == {Reason.SERVER_ERROR}
    assert len(server.asked) < 200 + 40 * QUICK.max_attempts


def test_a_long_block_of_failing_prompts_does_not_hide_the_good_ones_behind_it():
    with FaultServer(fault=containing("bad", Status(500))) as server:
        prompts = [f"bad {i}" for i in range(60)] + [f"good {i}" for i in range(20)]
        outcome = ask(server.url, prompts, limits=replace(QUICK, outage_grace_s=0.1))
    assert len(outcome.texts()) == 20


def test_a_connection_gone_stale_between_requests_costs_no_attempt():
    def prompts():
        yield "one"
        server.stop()
        server.start()
        yield "two"

    with FaultServer() as server:
        outcome = ask(server.url, prompts(), limits=replace(QUICK, max_attempts=1), max_in_flight=1)
    assert set(outcome.texts()) == {"one", "two"}


def test_an_error_in_the_receiver_ends_the_call_with_that_error():
    class DiskFullError(Exception):
        pass

    def prompts():
        yield from PROMPTS[:5]
        raise DiskFullError

    with FaultServer() as server, pytest.raises(DiskFullError):
        ask(server.url, prompts())


def test_stop_sequences_are_cut_here_when_the_server_ignores_them():
    with FaultServer(answer="Yes. Because of STOP the rest", ignores={"stop"}) as server:
        result = ask_one(server.url, chat("Why?", stop=("STOP", "rest")))
    assert isinstance(result, Response)
    assert (result.text, result.finish_reason) == ("Yes. Because of ", "stop")


def test_nothing_is_sent_but_the_request():
    with FaultServer(token="s3cret") as server:
        result = ask_one(server.url, chat("Why?", seed=3, top_p=0.5, extra_body={"repeat_penalty": 1.0}))
    assert result == Failure(Reason.SERVER_ERROR, 401)
    with FaultServer() as server:
        ask_one(server.url, chat("Näive 𝔘?", seed=3, top_p=0.5, extra_body={"repeat_penalty": 1.0}))
    (asked,) = server.asked
    assert asked.body == {
        "model": "test-model",
        "messages": [{"role": "user", "content": "Näive 𝔘?"}],
        "max_tokens": 50,
        "temperature": 0.0,
        "seed": 3,
        "top_p": 0.5,
        "repeat_penalty": 1.0,
    }
    assert set(asked.headers) == {"host", "accept", "accept-encoding", "user-agent", "content-type", "content-length"}


def test_limits_under_which_nothing_could_be_asked_are_refused():
    with pytest.raises(ValueError, match="max_attempts"):
        HttpLimits(max_attempts=0)
