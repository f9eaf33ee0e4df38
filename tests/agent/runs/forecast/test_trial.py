"""The trial of a server before a run: its time, its few questions, and its limits."""

import asyncio
import math
from dataclasses import replace

import pytest

from agent.inference.probe import probe
from agent.runs.forecast import trial
from agent.runs.forecast.cost import (
    Pace,
    PromptSize,
    estimate_seconds,
    forecast,
)
from agent.runs.forecast.trial import time_server
from tests.agent.fault_server import Asked, FaultServer, Slow, Status
from tests.agent.inference.asking import QUICK, deployment


def timed(server: FaultServer, in_flight: int = 4) -> Pace | None:
    where = deployment(server.url)

    async def try_server() -> Pace | None:
        return await time_server(
            where, await probe(where, replace(QUICK, first_attempt_timeout_s=8)), QUICK, in_flight
        )

    return asyncio.run(try_server())


def test_a_trial_measures_at_least_the_time_that_the_server_takes():
    """A busy machine only ever adds: 40 questions, 4 at once, are 10 rounds of 0.1 s at least."""
    with FaultServer(latency_s=0.1) as server:
        pace = timed(server)
    assert pace is not None
    assert (pace.in_flight, pace.at_least) == (4, False)
    assert pace.base_s >= 0.1
    assert 1.0 <= pace.seconds(40, 40 * 10, 40) < 60


def test_a_trial_asks_few_harmless_questions_within_the_limit_at_once():
    with FaultServer(latency_s=0.02) as server:
        where = deployment(server.url)
        found = asyncio.run(probe(where, replace(QUICK, first_attempt_timeout_s=8)))
        server.peak_in_flight = 0
        before = len(server.asked)
        asyncio.run(time_server(where, found, QUICK, 5))
        assert server.peak_in_flight == 5
        prompts = server.prompts[before:]
    assert len(prompts) == 16  # one of them so that the server is ready for the others
    assert len(set(prompts)) == 16  # no cache can answer for another
    assert all("Count from 1 to 200" in prompt for prompt in prompts)


def test_a_slow_server_is_left_after_the_time_of_the_trial(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trial, "TRIAL_S", 0.5)
    slow = Slow(60.0)
    with FaultServer(fault=lambda asked: slow if "Trial" in asked.prompt else None) as server:
        pace = timed(server)
    assert pace is not None
    assert pace.at_least
    assert 0.4 <= pace.base_s < 30  # not the minute that the server takes
    sizes = [PromptSize(characters=4, most_tokens=4, fixed=4, answer=1)]
    expected = forecast(sizes, {}, max_tokens=16, budget=None, can_shorten=True, thinks=False)
    seconds = estimate_seconds(expected, pace)
    assert seconds is not None
    assert math.isinf(seconds.high)


def test_a_server_that_fails_every_question_of_the_trial_gives_no_time():
    with FaultServer(
        fault=lambda asked: Status(500) if "Trial" in asked.prompt else None
    ) as server:
        assert timed(server) is None


def test_a_first_round_that_something_delays_does_not_make_long_answers_seem_free():
    short_questions = 0

    def delay_short(asked: Asked) -> Slow | None:
        nonlocal short_questions
        if "Trial" not in asked.prompt or asked.body.get("max_tokens", 1) != 1:
            return None
        short_questions += 1
        return Slow(0.3) if short_questions > 1 else None  # the first question is not timed

    with FaultServer(fault=delay_short, latency_s=0.02) as server:
        pace = timed(server)
    assert pace is not None
    assert pace.answer_token_s > 0
