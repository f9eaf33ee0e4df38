"""After 20 answers the forecast holds the time that the work then takes, on servers of different shape."""

import heapq
import random
from collections.abc import Callable

import pytest

from agent.inference.live_forecast import LiveForecast, WorkForecast
from agent.vocabulary import Failure, Reason, Response


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def make_reply(seconds: float, completion: int | None = 10) -> Response:
    return Response("a", "", "stop", 100, completion, seconds)


def simulate(
    total: int,
    in_flight: int,
    slots: int,
    draw: Callable[[random.Random], float],
    dice: random.Random,
) -> tuple[WorkForecast, float]:
    """Ask a server with so many slots; return the first forecast and the time of the last answer."""
    clock = Clock()
    live = LiveForecast(total, in_flight, {"server": total}, clock)
    free = [0.0] * min(slots, in_flight)  # when each slot of the server is free again
    waiting = [0.0] * min(in_flight, total)  # when each request was sent
    sent, ends = len(waiting), []
    for asked in waiting:
        ends.append(_serve(free, asked, draw(dice)))
    heapq.heapify(ends)
    while ends:
        asked, clock.now = heapq.heappop(ends)[::-1]
        live.count_reply("server", make_reply(clock.now - asked))
        live.count_answer()
        if sent < total:
            heapq.heappush(ends, _serve(free, clock.now, draw(dice)))
            sent += 1
    assert live.first is not None
    return live.first, clock.now


def _serve(free: list[float], asked: float, seconds: float) -> tuple[float, float]:
    """Return when a request ends, and when it was sent."""
    heapq.heapify(free)
    end = max(asked, heapq.heappop(free)) + seconds
    heapq.heappush(free, end)
    return end, asked


SHAPES: dict[str, Callable[[random.Random], float]] = {
    "steady": lambda _: 1.0,
    "even": lambda dice: dice.uniform(0.5, 1.5),
    "skewed": lambda dice: dice.expovariate(1.0) + 0.1,
}


@pytest.mark.parametrize(
    ("shape", "in_flight", "slots"),
    [
        *[
            ("steady", 1, 1),
            ("steady", 8, 8),
            ("steady", 8, 2),
            ("steady", 64, 64),
            ("steady", 64, 4),
        ],
        *[("even", 1, 1), ("even", 8, 8), ("even", 8, 2), ("even", 64, 64), ("even", 64, 4)],
        *[("skewed", 1, 1), ("skewed", 8, 8), ("skewed", 8, 2)],
    ],
)
def test_the_forecast_holds_whatever_the_number_of_slots(shape: str, in_flight: int, slots: int):
    near = 0
    for seed in range(20):
        forecast, took = simulate(400, in_flight, slots, SHAPES[shape], random.Random(seed))
        middle = (forecast.seconds.low + forecast.seconds.high) / 2
        near += took / 1.5 <= middle <= took * 1.5
        assert forecast.seconds.low <= 1.2 * took
        assert forecast.seconds.high >= took / 1.5
    assert near >= 18


def test_there_is_no_forecast_before_20_answers_or_for_so_few():
    clock = Clock()
    live = LiveForecast(20, 1, {"server": 20}, clock)
    for _ in range(20):
        clock.now += 1
        live.count_reply("server", make_reply(1.0))
        live.count_answer()
        assert live.estimate_remaining() is None
    assert live.end().forecast is None
    assert live.end().seconds == 20


def test_the_remaining_time_shrinks_with_every_answer():
    clock = Clock()
    live = LiveForecast(100, 1, {"server": 100}, clock)
    middles: list[float] = []
    for _ in range(99):
        clock.now += 2
        live.count_reply("server", make_reply(2.0))
        live.count_answer()
        remaining = live.estimate_remaining()
        if remaining is not None:
            middles.append((remaining.low + remaining.high) / 2)
    assert middles[0] == pytest.approx(160, rel=0.1)
    assert middles == sorted(middles, reverse=True)
    assert middles[-1] == pytest.approx(2, abs=1)
    assert live.describe_remaining() == "1.8 to 3.2 s left"


def test_corrections_are_expected_in_the_share_that_was_seen():
    clock = Clock()
    live = LiveForecast(100, 1, {"judge": 100}, clock)
    for number in range(20):
        clock.now += 1
        live.count_reply("judge", make_reply(1.0))
        if number % 2:
            live.count_reply("judge", make_reply(1.0), is_correction=True)
        live.count_answer()
    assert live.first is not None
    tokens = live.first.tokens["judge"]
    assert 1300 < tokens.completion.low < 1500 < tokens.completion.high < 1700
    assert 13000 < tokens.prompt.low < 15000 < tokens.prompt.high < 17000


def test_tokens_that_a_server_does_not_count_are_not_forecast():
    live = LiveForecast(50, 1, {"server": 50, "other": 50})
    for _ in range(25):
        live.count_reply("server", make_reply(0.1, completion=None))
        live.count_reply("other", make_reply(0.1))
        live.count_answer()
    assert live.first is not None
    assert list(live.first.tokens) == ["other"]
    assert list(live.end().completion_tokens) == ["other"]


def test_failed_requests_take_time_and_no_tokens():
    clock = Clock()
    live = LiveForecast(40, 1, {"server": 40}, clock)
    for number in range(20):
        clock.now += 1
        failed = number % 2
        live.count_reply("server", Failure(Reason.TIMEOUT) if failed else make_reply(1.0))
        live.count_answer()
    assert live.first is not None
    assert (
        live.first.tokens["server"].completion.low
        <= 200
        <= live.first.tokens["server"].completion.high
    )
    assert live.first.seconds.low <= 40 <= live.first.seconds.high


@pytest.mark.parametrize("reused", ["first", "every other"])
def test_replies_that_are_stored_already_are_no_measure_of_speed(reused: str):
    clock = Clock()
    live = LiveForecast(200, 1, {"judge": 200}, clock)
    for number in range(200):
        is_stored = number < 100 if reused == "first" else number % 2 == 0
        if is_stored:
            live.skip_question("judge")
            live.skip_answer()
            continue
        clock.now += 1
        live.count_reply("judge", make_reply(1.0))
        live.count_answer()
    assert live.first is not None
    middle = (live.first.seconds.low + live.first.seconds.high) / 2
    assert 100 / 1.5 <= middle <= 100 * 1.5
    assert (
        live.first.tokens["judge"].completion.low
        <= 1000
        <= live.first.tokens["judge"].completion.high
    )
    assert live.end().seconds == 100
