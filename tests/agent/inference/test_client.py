"""What a model server may do to a run, and what the run makes of it. Real sockets throughout."""

import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agent.inference.capabilities import Capabilities
from agent.inference.naming import name_digest
from agent.vocabulary import Failure, Reason, Response
from tests.agent.fault_server import (
    FaultServer,
    Hang,
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


def test_a_model_changed_in_the_middle_of_a_run_gives_no_answers():
    seen = Capabilities("unknown", {}, other_names=(name_digest("resolved-8b"),))
    names = [
        "test-model",
        "resolved-8b",
        "test-model-2024-08-06",
        None,
        "other-8b",
        "x" * 5_000_000,
    ]
    faults = [Message({"content": "B"}, model=name) for name in names]
    with FaultServer(fault=in_turn(*faults)) as server:
        outcome = ask(
            server.url, [f"Question {i}?" for i in range(6)], max_in_flight=1, capabilities=seen
        )
    assert outcome.reasons() == dict.fromkeys(["Question 4?", "Question 5?"], Reason.BAD_REPLY)


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


@pytest.mark.full
def test_an_outage_of_some_seconds_loses_nothing_and_repeats_no_answer():
    with FaultServer(latency_s=0.02, answer="Yes") as server:
        timer = threading.Timer(0.3, lambda: (server.stop(), time.sleep(2.5), server.start()))
        timer.start()
        limits = replace(QUICK, outage_grace_s=20, max_attempts=4, retry_wait_max_s=2)
        outcome = ask(server.url, [f"Question {i}?" for i in range(200)], limits=limits)
        timer.join()
    assert len(outcome.texts()) == 200
    assert outcome.seconds > 2.5
    assert (
        len(server.asked) <= 200 + 4
    )  # at most what was in flight when it went down is asked again


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
        outcome = ask(
            server.url, [f"Question {i}?" for i in range(500)], limits=limits, max_in_flight=8
        )
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
        result = ask_one(
            server.url, chat("Why?", seed=3, top_p=0.5, extra_body={"repeat_penalty": 1.0})
        )
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
    assert set(asked.headers) == {
        "host",
        "accept",
        "accept-encoding",
        "user-agent",
        "content-type",
        "content-length",
    }


def test_ctrl_c_leaves_a_run_at_once_and_quietly(tmp_path: Path):
    """A real process that asks a server that hangs, interrupted as from a keyboard."""
    script = tmp_path / "asks.py"
    script.write_text(
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background\n"
        "from tests.agent.fault_server import FaultServer, Hang, always\n"
        "from tests.agent.inference.asking import ask\n"
        "from agent.inference.limits import HttpLimits\n"
        "with FaultServer(fault=always(Hang())) as server:\n"
        "    print('asking', flush=True)\n"
        "    try:\n"
        "        ask(server.url, [f'Question {i}?' for i in range(50)], max_in_flight=20, limits=HttpLimits())\n"
        "    except KeyboardInterrupt:\n"
        "        print('left', flush=True)\n"
    )
    root = Path(__file__).parents[3]
    process = subprocess.Popen(
        [sys.executable, "-W", "default", str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=root,
        env={"PYTHONPATH": str(root), "PATH": ""},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "asking\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=15)
    assert (out, errors, process.returncode) == ("left\n", "", 0)
