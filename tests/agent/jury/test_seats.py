"""When a jury's seats make a score: replies, repairs, open seats, quorums; and upstream's rule beside ours."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.jury.rubric import read_rubric
from agent.jury.seats import (
    WITHHELD,
    compute_helm_jury_score,
    compute_jury_score,
    compute_quorum,
    describe_equal_seats,
    fill_seat,
    is_open,
    label_seats,
    read_reply,
)
from agent.jury.verdict import Fault, Verdict
from agent.metrics import Judge, MetricUse
from agent.store import RETRIED, Judgement, Seat
from agent.vocabulary import Reason, Response, Unscored
from tests.agent.jury.corpus import BUILT_IN, HONEST, OWN, THREE, verdict_json

RUBRIC = read_rubric(BUILT_IN)
KEY = b"k" * 32
NOT_JUDGED, NO_QUORUM = Unscored(Reason.NOT_JUDGED), Unscored(Reason.NO_QUORUM)


def reply(text: str, finish_reason: str = "stop") -> Response:
    return Response(text, "", finish_reason, 10, 10, 0.1)


def seat(*replies: Response) -> Seat:
    return fill_seat(1, KEY, Judgement(replies), RUBRIC, ("the answer",))


def given_seat(i: int, *grades: float) -> Seat:
    return Seat(i, dict(zip("abc", grades, strict=False)), None, judgement_key=KEY)


def failed_seat(i: int, reason: str = Fault.NO_VERDICT) -> Seat:
    return Seat(i, None, reason, judgement_key=KEY)


def test_a_first_valid_reply_fills_the_seat():
    assert seat(reply(verdict_json())) == Seat(1, HONEST, None, repaired=False, judgement_key=KEY)
    assert seat(reply(verdict_json()), reply(verdict_json(5, 5, 5))).grades == HONEST


def test_a_repair_fills_the_seat_and_is_said():
    assert seat(reply("none"), reply(verdict_json())) == Seat(
        1, HONEST, None, repaired=True, judgement_key=KEY
    )


def test_a_seat_that_stays_empty_says_why_the_last_reply_failed():
    assert seat(reply("none")) == Seat(1, None, "no_verdict", repaired=False, judgement_key=KEY)
    assert seat(reply("none"), reply(verdict_json(9, 1, 1))) == Seat(
        1, None, "out_of_range", repaired=True, judgement_key=KEY
    )


def test_a_reply_that_was_cut_off_or_withheld_is_no_last_word():
    assert seat(reply(verdict_json(), "length")).reason == Fault.CUT_OFF
    assert seat(reply(verdict_json(), "content_filter")).reason == Fault.FILTERED
    assert seat(reply("", "length")).reason == Fault.CUT_OFF
    assert isinstance(read_reply(reply(verdict_json(), "other"), RUBRIC, ("",)), Verdict)


def test_only_seats_without_a_reply_stay_open():
    assert is_open(fill_seat(0, KEY, Judgement(()), RUBRIC, ("x",)))
    assert all(is_open(Seat(0, None, reason)) for reason in (*RETRIED, WITHHELD, None))
    assert not is_open(Seat(0, None, Reason.CONTEXT_LENGTH))
    assert not any(is_open(failed_seat(0, fault)) for fault in Fault)
    assert not is_open(given_seat(0, 1))


def test_no_fault_is_called_like_a_reason_for_no_answer():
    assert {*Fault}.isdisjoint({*Reason, WITHHELD})


@pytest.mark.parametrize(
    ("seats", "asked_for", "quorum"),
    [
        (1, None, 1),
        (2, None, 2),
        (3, None, 2),
        (4, None, 3),
        (5, None, 3),
        (3, 1, 2),
        (3, 3, 3),
        (5, 4, 4),
        (2, 1, 2),
    ],
)
def test_a_quorum_is_more_than_half_and_only_ever_higher(
    seats: int, asked_for: int | None, quorum: int
):
    use = MetricUse("jury_score", judges=(Judge("a", "b"),) * seats, quorum=asked_for)
    assert compute_quorum(use) == quorum


@pytest.mark.parametrize(
    ("seats", "expected"),
    [
        ([given_seat(0, 1, 2), given_seat(1, 4, 5), given_seat(2, 3, 3)], 3.0),
        ([given_seat(0, 1.25, 2), given_seat(1, 4, 5)], 3.0625),
        ([given_seat(0, 1, 2), given_seat(1, 4, 5), failed_seat(2)], 3.0),
        ([given_seat(0, 5, 5), failed_seat(1), failed_seat(2)], NO_QUORUM),
        ([failed_seat(0), failed_seat(1), failed_seat(2)], NO_QUORUM),
        ([failed_seat(0), failed_seat(1, Reason.CONTEXT_LENGTH), given_seat(2, 5)], NO_QUORUM),
        ([], NOT_JUDGED),
        ([given_seat(0, 5, 5)], NOT_JUDGED),
        ([given_seat(0, 5, 5), failed_seat(1)], NOT_JUDGED),
        ([given_seat(0, 5, 5), failed_seat(1), failed_seat(2, Reason.TIMEOUT)], NOT_JUDGED),
        ([given_seat(0, 5, 5), given_seat(0, 5, 5), failed_seat(1)], NOT_JUDGED),
        ([given_seat(0, 5, 5), failed_seat(1), given_seat(3, 5, 5)], NOT_JUDGED),
    ],
)
def test_three_seats(seats: list[Seat], expected: float | Unscored):
    assert compute_jury_score(seats, BUILT_IN) == expected


def test_a_jury_that_nobody_named_has_judged_nothing():
    assert compute_jury_score([given_seat(0, 5)], replace(BUILT_IN, judges=())) == NOT_JUDGED


def test_a_higher_quorum_needs_more_seats():
    strict = replace(BUILT_IN, quorum=3)
    assert (
        compute_jury_score([given_seat(0, 1), given_seat(1, 2), failed_seat(2)], strict)
        == NO_QUORUM
    )
    assert compute_jury_score([given_seat(0, 1), given_seat(1, 2), given_seat(2, 3)], strict) == 2.0


@given(
    st.lists(st.none() | st.lists(st.floats(1, 5), min_size=3, max_size=3), min_size=1, max_size=7),
    st.integers(1, 9),
)
def test_a_score_lies_within_the_grades_and_the_order_of_seats_is_nothing(all_grades, asked_for):
    use = replace(BUILT_IN, judges=(Judge("a", "b"),) * len(all_grades), quorum=asked_for)
    seats = [failed_seat(i) if g is None else given_seat(i, *g) for i, g in enumerate(all_grades)]
    score = compute_jury_score(seats, use)
    assert compute_jury_score(seats[::-1], use) == score
    valid = [g for g in all_grades if g is not None]
    if len(valid) < max(asked_for, len(all_grades) // 2 + 1):
        assert score == NO_QUORUM
    else:
        assert min(map(min, valid)) - 1e-9 <= score <= max(map(max, valid)) + 1e-9


def test_the_order_of_seats_changes_no_bit_of_the_score():
    grades = [(1.1, 2.3, 4.7), (3.3, 2.9, 1.7), (4.1, 1.3, 2.2)]
    seats = [given_seat(i, *given) for i, given in enumerate(grades)]
    assert (
        len({compute_jury_score(order, BUILT_IN) for order in itertools.permutations(seats)}) == 1
    )


@pytest.mark.parametrize(
    ("use", "replies", "expected"),
    [
        (BUILT_IN, [verdict_json(4.9, 3, 2)], 3.0),  # cut, not rounded
        (BUILT_IN, [None, None, None], 1.0),
        (OWN, [None, None, None], 0.0),
        (BUILT_IN, [], 1.0),
        (BUILT_IN, [verdict_json(4, 4, 4), None, "no"], 4.0),  # one of three decides
        (BUILT_IN, [verdict_json(99, 99, 99)], 99.0),  # no range
        (BUILT_IN, [verdict_json()[:-1]], (2 + 1 + 3) / 3),  # a brace is added
        (
            BUILT_IN,
            [f"{verdict_json(5, 5, 5)} or {verdict_json(1, 1, 1)}"],
            1.0,
        ),  # first brace to last: not JSON
        (
            BUILT_IN,
            [verdict_json(more={"score": 1}), None],
            (2 + 1 + 3 + 1) / 4,
        ),  # an extra key counts
        (BUILT_IN, [verdict_json(extra=1), verdict_json(4, 4, 4)], 4.0),  # stops upstream's run
        (BUILT_IN, ['{"accuracy": {"score": 5}}'], 1.0),
    ],
)
def test_upstreams_rule_has_upstreams_faults(
    use: MetricUse, replies: list[str | None], expected: float
):
    assert compute_helm_jury_score(replies, use) == expected


def test_upstream_takes_two_judges_of_one_name_for_one():
    own = replace(OWN, judges=(Judge("local/a", "x"), Judge("local/a", "x"), Judge("local/b", "x")))
    replies = [verdict_json(1, 1, 1), verdict_json(1, 1, 1), verdict_json(5, 5, 5)]
    assert compute_helm_jury_score(replies, own) == 3.0
    assert compute_helm_jury_score(replies, replace(own, judges=THREE)) == pytest.approx(7 / 3)


def test_a_seat_is_shown_with_the_seed_and_temperature_that_the_jury_sets():
    judges = (
        Judge("local/a", "x/a", "one", seed=7, temperature=0.7),
        Judge("local/a", "x/a", "two"),
    )
    assert label_seats(judges) == ("one (seed 7, temperature 0.7)", "two")


def test_only_seats_that_cannot_differ_are_called_one_opinion():
    plain = Judge("local/a", "x/a")
    seeded = replace(plain, seed=7)  # at temperature 0 a seed changes nothing
    warm, other = replace(seeded, temperature=0.7), replace(plain, seed=8, temperature=0.7)
    assert describe_equal_seats((plain, warm, other, Judge("local/b", "x/a"))) == []
    (cold,) = describe_equal_seats((plain, seeded, warm))
    assert "each asks local/a at temperature 0. " in cold
    (same,) = describe_equal_seats((warm, warm, other))
    assert "x/a (1), x/a (2) always give the same verdict" in same
    assert "each asks local/a with one seed and temperature. " in same
