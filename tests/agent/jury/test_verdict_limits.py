"""A judge that rambles: its room follows from the rubric, and a schema ends its texts before the room does."""

import json
from dataclasses import replace
from typing import Any

import pytest

from agent.jury.rubric import Rubric, read_rubric
from agent.jury.verdict import Verdict, read_verdict
from agent.jury.verdict_limits import (
    TEXT_CHARACTERS,
    THINKING_TOKENS,
    build_response_format,
    estimate_verdict_tokens,
    limit_verdict_tokens,
)
from agent.metrics import Scale
from tests.agent.jury.corpus import OWN, verdict_json


def make_rubric(*criteria: str, fields: tuple[str, ...] = ("explanation",)) -> Rubric:
    return Rubric(criteria, dict.fromkeys(criteria, fields), Scale(1, 5))


def read_schema(rubric: Rubric, server: str = "vllm") -> dict[str, Any]:
    response_format: Any = build_response_format(rubric, server)
    assert response_format["type"] == "json_schema"
    json.dumps(response_format)
    schema: dict[str, Any] = response_format["json_schema"]["schema"]
    return schema


def test_the_room_of_a_reply_follows_from_the_rubric():
    usual = make_rubric("accuracy", "completeness", "clarity")
    assert 300 < limit_verdict_tokens(usual, None, thinks=False) < 700
    without_words = replace(usual, fields=dict.fromkeys(usual.criteria, ()))
    assert estimate_verdict_tokens(without_words) < 200
    sizes = [
        make_rubric("accuracy", fields=()),
        make_rubric("accuracy"),
        make_rubric("accuracy", fields=("explanation", "quotation")),
        usual,
    ]
    rooms = [estimate_verdict_tokens(rubric) for rubric in sizes]
    assert rooms == sorted(rooms)


def test_a_model_that_thinks_keeps_room_for_its_thoughts():
    assert limit_verdict_tokens(make_rubric("a"), None, thinks=True) == THINKING_TOKENS


def test_a_model_that_thinks_has_more_room_than_others_for_the_longest_rubric():
    rubric = make_rubric(*(f"criterion {number}" for number in range(60)))
    verdict = limit_verdict_tokens(rubric, None, thinks=False)
    assert verdict > THINKING_TOKENS
    assert limit_verdict_tokens(rubric, None, thinks=True) - verdict >= THINKING_TOKENS // 2


@pytest.mark.parametrize("thinks", [False, True])
def test_half_of_a_small_window_is_left_for_the_prompt(thinks: bool):
    rubric = make_rubric("accuracy")
    assert limit_verdict_tokens(rubric, 200, thinks=thinks) == 100
    assert limit_verdict_tokens(rubric, 1, thinks=thinks) == 1


def test_the_schema_asks_for_words_before_scores_and_for_nothing_else():
    schema = read_schema(read_rubric(OWN))
    criteria = ["accuracy", "completeness", "clarity"]
    assert list(schema["properties"]) == schema["required"] == ["mark", *criteria]
    assert schema["additionalProperties"] is False
    clarity = schema["properties"]["clarity"]
    assert list(clarity["properties"]) == clarity["required"] == ["explanation", "score"]
    assert set(json.loads(verdict_json(mark="x"))) == set(schema["required"])


def test_the_longest_texts_that_the_schema_allows_fit_in_the_room():
    rubric = make_rubric("accuracy", "completeness", "clarity")
    schema = read_schema(rubric)
    verdict: dict[str, Any] = {"mark": "0123456789abcdef"}
    for criterion in rubric.criteria:
        text = schema["properties"][criterion]["properties"]["explanation"]
        verdict[criterion] = {"explanation": "x" * text["maxLength"], "score": 4.5}
    reply = json.dumps(verdict, indent=2)
    # Prose in English and Spanish has more than 2.5 characters a token.
    assert len(reply) / 2.5 < limit_verdict_tokens(rubric, None, thinks=False)
    assert isinstance(read_verdict(reply, rubric, ()), Verdict)


@pytest.mark.parametrize("server", ["unknown", "transformers"])
def test_a_server_that_may_refuse_the_length_of_texts_is_not_told_it(server: str):
    assert "maxLength" not in json.dumps(read_schema(make_rubric("a"), server))


@pytest.mark.parametrize("server", ["vllm", "llama.cpp", "llama-cpp-python", "ollama"])
def test_texts_end_where_the_server_enforces_it(server: str):
    words = read_schema(make_rubric("a"), server)["properties"]["a"]["properties"]["explanation"]
    assert words == {"type": "string", "maxLength": TEXT_CHARACTERS}


@pytest.mark.parametrize(
    ("scale", "scores"),
    [
        (Scale(1, 5), [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]),
        (Scale(0.7, 1), [0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1]),
        (Scale(-1, 0), [-1, *(-hundredths / 100 for hundredths in range(95, 0, -5)), 0]),
        (Scale(0, 100), list(range(101))),
    ],
)
def test_only_scores_within_the_scale_can_be_written(scale: Scale, scores: list[float]):
    rubric = replace(make_rubric("a"), scale=scale)
    score = read_schema(rubric)["properties"]["a"]["properties"]["score"]
    assert score == {"type": "number", "enum": scores}
    assert not any(json.dumps(listed).endswith(".0") for listed in scores)


@pytest.mark.parametrize("quarter", [0.25, 0.5, 0.75])
def test_a_judge_can_give_quarters_of_a_point(quarter: float):
    rubric = replace(make_rubric("a"), scale=Scale(0, 1))
    assert quarter in read_schema(rubric)["properties"]["a"]["properties"]["score"]["enum"]


@pytest.mark.parametrize(
    "scale",
    [
        Scale(0, 1000),
        Scale(0, 0.05),  # its only round number would be 0: every answer would get the worst grade
        Scale(0, 0.1),
        Scale(0.01, 0.09),
        Scale(0.33, 1),  # the worst grade could not be written
        Scale(0, 2.25),  # nor the best
        Scale(1, 51.5),
    ],
)
def test_on_a_scale_without_round_ends_the_reader_alone_checks_the_score(scale: Scale):
    rubric = replace(make_rubric("a"), scale=scale)
    score = read_schema(rubric)["properties"]["a"]["properties"]["score"]
    assert score == {"type": "number"}


def test_all_requests_of_a_jury_share_one_schema_for_their_marks():
    mark = read_schema(make_rubric("a"))["properties"]["mark"]
    assert mark == {"type": "string", "maxLength": 64}
