"""Answers that a server limits to the options, and options compared by their probabilities."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.inference.closed_questions import (
    choose_likeliest,
    read_chosen_option,
    sum_text_logprobs,
    write_choice_fields,
)
from agent.vocabulary import (
    ClosedQuestion,
    Failure,
    OptionLikelihood,
    Reason,
    Response,
)
from tests.agent.fault_server import Action, Body, FaultServer, Message, always, read_options
from tests.agent.inference.asking import ask_one, chat

OPTIONS = ("A", "B", "C", "D")
CONSTRAINED = ClosedQuestion("constrained", OPTIONS)
LOGPROB = ClosedQuestion("logprob", OPTIONS)
TOP = {"logprobs": True, "top_logprobs": 20}


def ask_constrained(server: FaultServer, field: str = "structured_outputs") -> Response | Failure:
    fields = write_choice_fields(field, OPTIONS)
    return ask_one(server.url, chat("Which?", closed=CONSTRAINED, extra_body=fields))


def ask_likeliest(likeliest: dict[str, float], **options: object) -> Response | Failure:
    with FaultServer(likeliest=lambda _: likeliest, **options) as server:
        request = chat("Which?", closed=LOGPROB, extra_body=TOP, max_tokens=1)
        return ask_one(server.url, request)


@pytest.mark.parametrize("field", ["structured_outputs", "guided_choice", "grammar"])
def test_a_limited_answer_is_the_option_and_nothing_else(field: str):
    with FaultServer(answer="C") as server:
        result = ask_constrained(server, field)
    assert isinstance(result, Response)
    assert result.text == "C"


def test_an_option_within_json_is_taken_out_of_it():
    with FaultServer(answer="C") as server:
        result = ask_constrained(server, "response_format")
        assert server.asked[-1].body["response_format"]["json_schema"]["strict"] is True
    assert isinstance(result, Response)
    assert result.text == "C"


@pytest.mark.parametrize(
    "text", ["The answer is C.", "C. Heparin", "E", "c", "", '{"answer": "E"}']
)
def test_a_server_that_stops_limiting_answers_during_a_run_gives_no_answer(text: str):
    with FaultServer(fault=always(Message({"content": text}))) as server:
        assert ask_constrained(server) == Failure(Reason.BAD_REPLY, 200)


def test_a_limited_answer_that_is_cut_off_is_no_answer():
    with FaultServer(fault=always(Message({"content": '{"answer": '}, "length"))) as server:
        result = ask_constrained(server)
    assert isinstance(result, Response)
    assert (result.text, result.finish_reason) == ("", "length")


@given(st.text())
def test_only_an_option_alone_or_as_json_is_read(text: str):
    option = read_chosen_option(text, OPTIONS)
    assert option is None or text.strip() == option


def test_a_grammar_quotes_any_option():
    options = ['say "no"', "back\\slash", "yes"]
    assert read_options(write_choice_fields("grammar", options)) == options


def test_the_likeliest_option_is_the_answer_and_all_likelihoods_are_kept():
    result = ask_likeliest({"The": -0.1, " B": -2.0, "B": -3.0, "A": -2.5, "c": -0.5})
    assert isinstance(result, Response)
    assert (result.text, result.finish_reason) == ("B", "stop")
    assert result.likelihoods == (
        OptionLikelihood("A", -2.5),
        OptionLikelihood("B", -2.0),
        OptionLikelihood("C", None),
        OptionLikelihood("D", None),
    )


@pytest.mark.parametrize("likeliest", [{"A": -1.0, "B": -1.0, "C": -2.0}, {"The": -0.1, "I": -2.0}])
def test_a_tie_or_no_option_among_the_likeliest_tokens_is_no_answer(likeliest: dict[str, float]):
    result = ask_likeliest(likeliest)
    assert isinstance(result, Response)
    assert result.text == ""
    assert len(result.likelihoods) == 4


def test_a_server_that_stops_returning_probabilities_gives_no_answer():
    assert ask_likeliest({"A": -1.0}, ignores={"logprobs"}) == Failure(Reason.BAD_REPLY, 200)


def test_a_first_token_that_is_part_of_a_character_is_no_option():
    with FaultServer(fault=always(Message({"content": "\ufffd"}, "length"))) as server:
        result = ask_one(server.url, chat("Which?", closed=LOGPROB, extra_body=TOP, max_tokens=1))
    assert isinstance(result, Response)
    assert (result.text, result.likelihoods[0]) == ("", OptionLikelihood("A", None))


@pytest.mark.parametrize("logprob", [math.nan, -math.inf, "-1", None, True])
def test_a_probability_that_is_no_number_is_left_out(logprob: object):
    result = ask_likeliest({"B": -2.0}, fault=always(_reply_with(logprob)))
    assert isinstance(result, Response)
    assert result.text == "B"
    assert result.likelihoods[0] == OptionLikelihood("A", None)


def _reply_with(logprob: object) -> Action:
    first = {
        "token": "B",
        "logprob": -2.0,
        "top_logprobs": [{"token": "A", "logprob": logprob}, {"token": "B", "logprob": -2.0}],
    }
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "B"},
        "finish_reason": "length",
        "logprobs": {"content": [first]},
    }
    return Body(json.dumps({"id": "1", "model": "test-model", "choices": [choice]}).encode())


TEXTS = ("no", "certainly not in this patient")
# In total the shorter text is likelier, for each character the longer one.
RATES = {"no": -2.0, "certainly not in this patient": -6.0}


def ask_texts(mode: str, rates: dict[str, float], **options: object) -> Response | Failure:
    closed = ClosedQuestion(mode, ("A", "B"), TEXTS)
    with FaultServer(rate=lambda _, text: rates[text], **options) as server:
        return ask_one(server.url, chat("Which?", closed=closed, max_tokens=64))


@pytest.mark.parametrize(("mode", "letter"), [("logprob_text", "A"), ("logprob_text_norm", "B")])
def test_texts_are_compared_in_total_or_for_each_character(mode: str, letter: str):
    result = ask_texts(mode, RATES)
    assert isinstance(result, Response)
    assert result.text == letter
    assert result.attempts == 3  # the tokens of the prompt, and each option
    assert result.likelihoods_by_option == pytest.approx({"A": -2.0, "B": -6.0})


def test_texts_that_are_equally_likely_are_no_answer():
    result = ask_texts("logprob_text", dict.fromkeys(TEXTS, -3.0))
    assert isinstance(result, Response)
    assert result.text == ""


@pytest.mark.parametrize("ignored", ["prompt_logprobs", "continue_final_message", "usage"])
def test_a_server_that_does_not_score_the_text_gives_no_answer(ignored: str):
    result = ask_texts("logprob_text", RATES, ignores={ignored})
    assert result == Failure(Reason.BAD_REPLY, 200)


def test_a_text_that_the_chat_template_changes_is_not_scored():
    positions = [None, {"1": {"logprob": -1.0, "rank": 1, "decoded_token": " no"}}]
    assert sum_text_logprobs({"prompt_logprobs": positions}, "no", 1) == -1.0
    assert sum_text_logprobs({"prompt_logprobs": positions}, "not", 1) is None
    end = {"2": {"logprob": -1.0, "rank": 1, "decoded_token": "<|end|>"}}
    assert sum_text_logprobs({"prompt_logprobs": [*positions, end]}, "no", 1) is None


@pytest.mark.parametrize(
    ("tokens", "is_text"),
    [
        ((" \ufffd", "\ufffd", "5 mg"), True),  # the first character takes two tokens
        (("<|end|>", "\ufffd", "\ufffd", "5 mg"), False),
        (("\ufffd", "\ufffd", "5 m"), False),
        (("\ufffd", "5", "\ufffd", "mg"), True),
        (("\ufffd", "mg", "\ufffd", "5"), False),
        (("≥5 mg", "\ufffd"), False),
    ],
)
def test_a_text_with_a_character_of_several_tokens_is_compared_by_its_other_characters(
    tokens: tuple[str, ...], is_text: bool
):
    prompt = [None, *map(_rated, tokens)]
    summed = sum_text_logprobs({"prompt_logprobs": prompt}, "≥5 mg", 1)
    assert summed == (-len(tokens) if is_text else None)


def test_tokens_that_the_server_did_not_count_are_not_known():
    context = json.dumps(_complete(usage={"prompt_tokens": 1, "completion_tokens": 1})).encode()
    scored = json.dumps(_complete(prompt_logprobs=[None, _rated("no")])).encode()
    bodies = iter([context, scored])
    closed = ClosedQuestion("logprob_text", ("A",), ("no",))
    with FaultServer(fault=lambda _: Body(next(bodies))) as server:
        result = ask_one(server.url, chat("Which?", closed=closed, max_tokens=64))
    assert isinstance(result, Response)
    assert (result.text, result.prompt_tokens, result.completion_tokens) == ("A", None, None)


def _rated(token: str) -> dict[str, object]:
    return {"1": {"logprob": -1.0, "rank": 1, "decoded_token": token}}


def _complete(**fields: object) -> dict[str, object]:
    message = {"role": "assistant", "content": ""}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "1", "model": "test-model", "choices": [choice], **fields}


likelihoods = st.lists(st.none() | st.floats(-50, 0), min_size=2, max_size=4)


@given(likelihoods)
def test_no_option_is_chosen_that_another_equals_or_exceeds(logprobs: list[float | None]):
    measured = [OptionLikelihood(*pair) for pair in zip(OPTIONS, logprobs, strict=False)]
    chosen = choose_likeliest(measured)
    values = dict(zip(OPTIONS, logprobs, strict=False))
    known = sorted((value for value in logprobs if value is not None), reverse=True)
    if chosen is None:
        assert not known or known[:1] == known[1:2]
    else:
        assert values[chosen] == known[0]
        assert known.count(known[0]) == 1
