"""One answer under every measure: its score, or the reason why it has none."""

import pytest

from agent.metrics import AnswerParser, MetricUse
from agent.scoring.measures import Rules
from agent.scoring.score import score_response
from agent.vocabulary import Failure, Instance, Message, Reason, Reference, Response, Unscored

INSTANCE = Instance("1", "1", (Message("user", "q"),), (Reference("Yes", correct=True),))
RULES = Rules.of(
    (MetricUse("exact_match"), MetricUse("f1_score")), "intramural", AnswerParser("text"), "l"
)


def scores_of(
    result: Response | Failure, rules: Rules = RULES, instance: Instance = INSTANCE
) -> dict[str, object]:
    return {
        verdict.measure.name: verdict.value for verdict in score_response(rules, instance, result)
    }


def test_a_parser_takes_its_part_by_our_rules_and_upstream_scores_the_whole_answer():
    said = response('I think so. {"answer": "Yes"}')
    uses, parser = (MetricUse("exact_match"),), AnswerParser("json", "answer")
    assert scores_of(said, Rules.of(uses, "both", parser, "l")) == {
        "exact_match": 1.0,
        "exact_match@helm": 0.0,
    }
    without = scores_of(response("Yes"), Rules.of(uses, "intramural", parser, "l"))
    assert without == {"exact_match": Unscored(Reason.UNPARSED)}


def response(text: str, finish: str = "stop") -> Response:
    return Response(text, "", finish, None, None, 0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (Failure(Reason.TIMEOUT), Reason.TIMEOUT),
        (Failure(Reason.CONTEXT_LENGTH, 400), Reason.CONTEXT_LENGTH),
        (response(""), Reason.EMPTY),
        (response(" \n"), Reason.EMPTY),
        (response("", "length"), Reason.LENGTH),
        (response("Yes", "content_filter"), Reason.CONTENT_FILTER),
    ],
)
def test_what_is_missing_is_unscored_with_its_reason(result: Response | Failure, reason: Reason):
    scores = scores_of(result)
    assert scores == {"exact_match": Unscored(reason), "f1_score": Unscored(reason)}


def test_text_that_was_cut_off_is_an_answer_still():
    scores = scores_of(response("Yes", "length"))
    assert scores == {"exact_match": 1.0, "f1_score": 1.0}


def test_parity_scores_an_empty_answer_as_upstream_does():
    assert scores_of(
        response(""), Rules.of((MetricUse("exact_match"),), "helm", AnswerParser("text"), "l")
    ) == {"exact_match": 0.0}
