"""The limit of requests at a time follows the server: it rises with its throughput, and falls when it has too much."""

from hypothesis import given
from hypothesis import strategies as st

from agent.inference.concurrency import (
    FIRST_LIMIT,
    ConcurrencyController,
    ServerReply,
    measure_work,
)
from tests.agent.inference.simulated_server import SimulatedServer


def test_a_server_with_room_gets_as_many_requests_as_are_allowed_within_a_few_rounds():
    controller = ConcurrencyController(64)
    assert controller.limit == FIRST_LIMIT
    server = SimulatedServer(slots=256)
    server.run(controller, 120)
    assert server.limit_at(5) == 64
    assert controller.limit == 64
    assert server.replies >= 0.97 * 120 * 64


def test_the_usual_limit_of_eight_is_given_at_once_and_kept():
    controller = ConcurrencyController(8)
    server = SimulatedServer(slots=4)
    server.run(controller, 600)
    assert server.limits == [(1.0, 8)]


def test_the_configured_maximum_is_never_exceeded():
    server = SimulatedServer(slots=100)
    server.run(ConcurrencyController(20), 120)
    assert server.peak == 20


def test_a_server_that_answers_no_faster_is_given_no_more():
    controller = ConcurrencyController(256)
    server = SimulatedServer(slots=16)
    server.run(controller, 600)
    assert 16 <= controller.limit <= 24
    assert server.replies >= 0.98 * 600 * 16


def test_a_server_that_refuses_more_gets_just_below_that_and_is_rarely_tried_again():
    controller = ConcurrencyController(64)
    server = SimulatedServer(slots=64, refuses_above=20)
    server.run(controller, 1000)
    assert 15 <= controller.limit <= 21
    assert server.replies >= 0.94 * 1000 * 20
    assert server.refused <= 100


def test_a_server_that_refuses_everything_for_a_while_is_asked_one_at_a_time_and_then_as_before():
    controller = ConcurrencyController(8)
    for second in range(60):
        controller.note_overload(second, second + 0.1)
    assert controller.limit == 1
    server = SimulatedServer(slots=8, seconds=0.1)
    server.run(_moved(controller), 60)
    assert controller.limit == 8


def _moved(controller: ConcurrencyController) -> ConcurrencyController:
    controller._changed_at = -1.0  # the simulated time begins anew
    return controller


def test_refusals_of_requests_that_were_sent_together_lower_the_limit_once():
    controller = ConcurrencyController(8)
    for number in range(8):
        controller.note_overload(asked_at=1.0, now=2.0 + number / 10)
    assert controller.limit == 6


def test_when_others_use_the_server_the_limit_falls_and_when_they_leave_it_returns():
    controller = ConcurrencyController(32)
    server = SimulatedServer(slots=32, slower=lambda now: 4.0 if 100 <= now < 200 else 1.0)
    server.run(controller, 400)
    assert server.limit_at(99) == 32
    assert server.limit_at(150) <= 24
    assert controller.limit == 32


def test_longer_questions_are_not_taken_for_a_slow_server():
    controller = ConcurrencyController(8)
    server = SimulatedServer(slots=8, lengths=lambda number: 1.0 if number < 200 else 10.0)
    server.run(controller, 300)
    assert server.limits == [(1.0, 8)]


def test_longer_questions_of_unknown_length_become_usual():
    controller = ConcurrencyController(8)
    server = SimulatedServer(
        slots=8, lengths=lambda number: 1.0 if number < 200 else 10.0, tells_work=False
    )
    server.run(controller, 3000)
    assert controller.limit == 8


def test_too_few_questions_tell_nothing_about_a_server():
    controller = ConcurrencyController(64)
    for number in range(1000):
        controller.note_reply(ServerReply(number, number + 1.0, is_full=False))
    assert controller.limit == FIRST_LIMIT


def test_a_lower_maximum_applies_at_once_and_a_higher_one_with_the_next_replies():
    controller = ConcurrencyController(8)
    controller.change_ceiling(3)
    assert controller.limit == 3
    controller.change_ceiling(12)
    assert controller.limit == FIRST_LIMIT
    SimulatedServer(slots=20).run(controller, 60)
    assert controller.limit == 12


def test_another_model_on_the_server_is_not_taken_for_a_slow_server():
    controller = ConcurrencyController(8)
    SimulatedServer(slots=8, seconds=1).run(controller, 100)
    controller.begin_work()
    SimulatedServer(slots=8, seconds=10).run(controller, 1000)
    assert controller.limit == 8


def test_an_answer_of_unknown_length_counts_as_a_short_one():
    assert measure_work(None, None) < measure_work(100, 100) < measure_work(100, 200)


_EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["reply", "overload", "idle", "ceiling"]),
        st.floats(0.001, 100),
        st.integers(1, 300),
    ),
    max_size=400,
)


@given(st.integers(1, 300), _EVENTS)
def test_whatever_a_server_does_the_limit_stays_between_one_and_the_maximum(
    ceiling: int, events: list[tuple[str, float, int]]
):
    controller = ConcurrencyController(ceiling)
    now = 0.0
    for what, seconds, number in events:
        now += seconds / 10
        if what == "overload":
            controller.note_overload(now - seconds, now)
        elif what == "ceiling":
            controller.change_ceiling(number)
            ceiling = number
        else:
            for _ in range(min(number, 20)):
                controller.note_reply(
                    ServerReply(now - seconds, now, float(number), is_full=what == "reply")
                )
        assert 1 <= controller.limit <= ceiling


@given(
    slots=st.integers(1, 100),
    ceiling=st.integers(1, 100),
    seconds=st.floats(0.05, 20),
    refuses=st.booleans(),
)
def test_any_steady_server_is_kept_busy(slots: int, ceiling: int, seconds: float, refuses: bool):
    server = SimulatedServer(slots, seconds, refuses_above=slots if refuses else None)
    server.run(ConcurrencyController(ceiling), 400 * seconds)
    possible = min(slots, ceiling)
    assert server.peak <= ceiling
    assert server.replies >= 0.85 * 400 * possible
