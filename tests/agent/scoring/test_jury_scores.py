"""The score of one answer from its jury's seats, by our rules and by HELM's."""

import json
from collections.abc import Sequence

import pytest

from agent.metrics import AnswerParser, Judge, MetricUse
from agent.scoring.jury_scores import Judged, read_judged_answer, regrade, score_by_jury
from agent.scoring.measures import Rules
from agent.store import Judgement, Seat
from agent.vocabulary import Reason, Response, Unscored

JURY = MetricUse(
    "jury_score",
    judges=(Judge("a", "maker/a"), Judge("b", "maker/b"), Judge("c", "maker/c")),
    criteria={"accuracy": "Is it right?", "clarity": "Is it plain?"},
)
NOT_JUDGED = Unscored(Reason.NOT_JUDGED)


def response(text: str) -> Response:
    return Response(text, "", "stop", None, None, 0.0)


def verdict(accuracy: int, clarity: int) -> str:
    grades = {"accuracy": accuracy, "clarity": clarity}
    return json.dumps(
        {name: {"explanation": "invented", "score": grade} for name, grade in grades.items()}
    )


def judge_all(*replies: str) -> list[Judged]:
    """Return a seat for each reply, with the grades that are read from it."""
    empty = Seat(0, None, "unparsed", judgement_key=b"k")
    judged: list[Judged] = []
    for number, reply in enumerate(replies):
        judgement = Judgement((response(reply),))
        ((seat, _),) = regrade([(empty, judgement)], JURY, ())
        judged.append((Seat(number, seat.grades, seat.reason, judgement_key=b"k"), judgement))
    return judged


def score_answer(
    judged: Sequence[Judged], text: str = "An answer", use: MetricUse = JURY
) -> dict[str, float | Unscored]:
    rules = Rules.of((use, MetricUse("exact_match")), "both", AnswerParser("text"), "l")
    return {
        score.measure.name: score.value for score in score_by_jury(rules, response(text), judged)
    }  # type: ignore[misc]


def test_a_full_jury_gives_both_scores_and_says_nothing_of_other_metrics():
    scores = score_answer(judge_all(verdict(4, 5), verdict(2, 3), verdict(3, 4)))
    assert scores == {"jury_score": pytest.approx(3.5), "jury_score@helm": pytest.approx(3.5)}


def test_without_judges_or_while_seats_are_open_helms_score_waits():
    assert score_answer([]) == {"jury_score": NOT_JUDGED, "jury_score@helm": NOT_JUDGED}
    two = judge_all(verdict(4, 4), verdict(2, 2))
    assert score_answer(two)["jury_score@helm"] == NOT_JUDGED
    nobody = MetricUse("jury_score", criteria=JURY.criteria)
    assert score_answer([], use=nobody) == {"jury_score": NOT_JUDGED, "jury_score@helm": NOT_JUDGED}


def test_a_blank_answer_is_shown_to_no_judge():
    rules = Rules.of((JURY,), "intramural", AnswerParser("text"), "l")
    assert read_judged_answer(rules, response(" ")) == Unscored(Reason.EMPTY)
    assert score_answer([], text=" ")["jury_score"] == Unscored(Reason.EMPTY)


def test_a_seat_without_replies_is_left_as_it_is():
    open_seat = Seat(1, None, Reason.TIMEOUT)
    assert regrade([(open_seat, Judgement(()))], JURY, ()) == [(open_seat, Judgement(()))]
