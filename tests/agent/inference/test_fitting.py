"""Prompts longer than the model's window never lose their question: a real server counts words as tokens."""

from dataclasses import replace

import pytest

from agent.inference.shorten import MAX_COUNTS
from agent.vocabulary import Failure, Reason, Response, Shortenable
from tests.agent.fault_server import HTML, Hang, Huge, Slow, Status
from tests.agent.inference.asking import QUICK, ask, ask_one, probe_server
from tests.agent.inference.counting_server import CountingServer, failing_from, words
from tests.agent.inference.long_prompts import note, over_long, sent_note


@pytest.mark.parametrize("kind", ["vllm", "llama.cpp"])
@pytest.mark.parametrize("keep", ["start", "end"])
def test_a_note_that_is_too_long_loses_its_far_end_and_nothing_else(kind, keep):
    material = note(5000)
    with CountingServer(window=1000, kind=kind) as server:
        found = probe_server(server)
        probing = len(server.counted)
        result = ask_one(server.url, over_long(material, keep), capabilities=found)
        kept = sent_note(server)
    assert isinstance(result, Response)
    assert kept
    assert material.startswith(kept + " ") if keep == "start" else material.endswith(" " + kept)
    whole = words([{"content": over_long(material).messages[0].content}])
    assert result.prompt_tokens is not None
    assert result.prompt_tokens + 20 <= 1000
    assert result.prompt_tokens + 20 >= 985  # no more is cut than the window asks for
    assert result.shortened == whole - result.prompt_tokens
    assert len(server.counted) - probing <= MAX_COUNTS


def test_a_prompt_that_fits_is_asked_whole_and_one_that_surely_fits_is_not_even_counted():
    with CountingServer(window=1000) as server:
        found = probe_server(server)
        probing = len(server.counted)
        fits = ask_one(server.url, over_long(note(960)), capabilities=found)
        counts = len(server.counted) - probing
        short = ask_one(server.url, over_long(note(50)), capabilities=found)
    assert isinstance(fits, Response)
    assert isinstance(short, Response)
    assert (fits.shortened, short.shortened, counts, len(server.counted) - probing) == (0, 0, 1, 1)


@pytest.mark.parametrize(
    "request_",
    [
        replace(over_long(note(2000)), shortenable=None),
        over_long("few words", max_tokens=1000),
        replace(
            over_long(note(2000)),
            shortenable=Shortenable(0, 0, 10, "start"),  # all but the part is too long already
        ),
        replace(over_long(note(2000)), shortenable=Shortenable(0, 34, 34, "start")),
    ],
)
def test_what_cannot_be_made_to_fit_is_not_asked(request_):
    with CountingServer(window=1000) as server:
        found = probe_server(server)
        before, probing = len(server.asked), len(server.counted)
        assert ask_one(server.url, request_, capabilities=found) == Failure(Reason.CONTEXT_LENGTH)
        assert len(server.asked) == before
        assert len(server.counted) == probing + (
            request_.max_tokens < 1000
        )  # the hopeless are not even counted


def test_a_limit_of_prompt_tokens_bounds_even_where_the_window_is_wide():
    material = note(2000)
    with CountingServer(window=100_000) as server:
        found = probe_server(server)
        result = ask_one(server.url, over_long(material), capabilities=found, prompt_limit=300)
    assert isinstance(result, Response)
    assert result.prompt_tokens is not None
    assert 290 <= result.prompt_tokens <= 300
    assert result.shortened > 1600


def test_where_nobody_counts_the_server_refuses_and_no_prompt_above_a_limit_is_asked():
    with CountingServer(window=1000, kind="neither") as server:
        found = probe_server(server)
        assert (found.counting, found.window) == (None, None)
        assert ask_one(server.url, over_long(note(2000)), capabilities=found) == Failure(
            Reason.CONTEXT_LENGTH, 400
        )
        before = len(server.asked)
        limited = ask_one(server.url, over_long(note(100)), capabilities=found, prompt_limit=200)
        assert limited == Failure(Reason.CONTEXT_LENGTH)
        assert len(server.asked) == before
        assert isinstance(
            ask_one(server.url, over_long(note(100)), capabilities=found, prompt_limit=2000),
            Response,
        )


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (Status(500), Reason.SERVER_ERROR),
        (Status(404), Reason.SERVER_ERROR),
        (HTML, Reason.BAD_REPLY),
        (Hang(), Reason.TIMEOUT),
        (Huge(9_000_000), Reason.BAD_REPLY),
        (-1, Reason.BAD_REPLY),
        (0, Reason.BAD_REPLY),
        (10**12, Reason.BAD_REPLY),
    ],
)
def test_a_server_that_stops_counting_midway_fails_only_the_prompts_that_need_it(trouble, reason):
    quick = replace(QUICK, max_attempts=2)
    with CountingServer(window=1000) as server:
        found = probe_server(server)
        server.on_count = failing_from(len(server.counted) + 2, trouble)
        outcome = ask(
            server.url,
            [over_long(note(2000)), over_long("a short one")],
            capabilities=found,
            limits=quick,
            max_in_flight=1,
        )
        asked = [prompt for prompt in server.prompts if "w0x1" in prompt]
    (failed,) = outcome.reasons().values()
    assert failed is reason
    assert len(outcome.texts()) == 1
    assert asked == []  # it was known to be too long, and was not sent all the same


def test_a_passing_trouble_with_counting_is_asked_again():
    with CountingServer(window=1000) as server:
        found = probe_server(server)
        first = len(server.counted)
        server.on_count = lambda counted: (
            Status(503) if counted.number in (first, first + 2) else None
        )
        result = ask_one(server.url, over_long(note(2000)), capabilities=found)
    assert isinstance(result, Response)
    assert result.shortened > 0
    assert result.attempts == 1  # of the question itself


@pytest.mark.parametrize(
    "lie",
    [
        lambda counted: 10**6,  # everything is far too long
        lambda counted: 5000 + counted.number,  # the less is kept, the more it counts
        lambda counted: 981 if counted.number % 2 else 979,
        lambda counted: 1,
    ],
)
def test_a_server_that_lies_about_tokens_costs_few_requests_and_never_the_question(lie):
    with CountingServer(window=1000) as server:
        found = probe_server(server)
        probing = len(server.counted)
        server.on_count = lie
        result = ask_one(server.url, over_long(note(2000)), capabilities=found)
        assert len(server.counted) - probing <= MAX_COUNTS
    assert isinstance(result, Failure)
    assert result.reason in (Reason.CONTEXT_LENGTH, Reason.BAD_REPLY)


def test_counting_takes_the_place_in_flight_of_its_request():
    with CountingServer(window=1000, on_count=lambda counted: Slow(0.02)) as server:
        found = probe_server(server)
        server.peak_in_flight = 0
        outcome = ask(
            server.url,
            [over_long(note(2000, number)) for number in range(12)],
            capabilities=found,
            max_in_flight=3,
        )
        assert server.peak_in_flight <= 3
    assert {
        result.shortened > 0 for result in outcome.results.values() if isinstance(result, Response)
    } == {True}
