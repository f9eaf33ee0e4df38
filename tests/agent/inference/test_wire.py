"""What is sent, and what is made of what comes back: plain values, no network."""

import json
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.inference.wire import (
    encode_request,
    parse_error,
    parse_object,
    parse_reply,
)
from agent.vocabulary import ChatRequest, Failure, Message, Reason, Response


def reply(content: object, finish: object = "stop", **message: object) -> bytes:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish,
    }
    usage = {"prompt_tokens": 11, "completion_tokens": 3}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


def read(
    content: object, finish: object = "stop", stop: tuple[str, ...] = (), **message: object
) -> Response:
    response = parse_reply(reply(content, finish, **message), stop=stop, seconds=0.5)
    assert isinstance(response, Response)
    return response


def test_a_plain_answer():
    assert read("B") == Response("B", "", "stop", 11, 3, 0.5)


@pytest.mark.parametrize(
    ("content", "message", "reasoning", "answer"),
    [
        ("<think>It is B.</think>\n\nB", {}, "It is B.", "B"),
        ("It is B, I think.</think>B", {}, "It is B, I think.", "B"),
        ("<think>one</think><think>two</think>B", {}, "one\ntwo", "B"),
        ("<think></think>B", {}, "", "B"),
        ("B", {"reasoning_content": "It is B."}, "It is B.", "B"),
        ("B", {"reasoning": "It is B."}, "It is B.", "B"),
        ("<think>b</think>B", {"reasoning_content": "a"}, "a\nb", "B"),
        ("a < b and think > c", {}, "", "a < b and think > c"),
        ("  B \n", {}, "", "  B \n"),
    ],
)
def test_thoughts_are_kept_apart_from_the_answer(content, message, reasoning, answer):
    response = read(content, **message)
    assert (response.reasoning, response.text) == (reasoning, answer)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<think>It is B, since", {}),
        ("<think>a</think><think>It is B", {}),
        (None, {"reasoning_content": "It is B, since"}),
        (None, {}),
        ("", {"reasoning": "It is B"}),
    ],
)
def test_a_cut_off_thought_is_no_answer(content, message):
    response = read(content, "length", **message)
    assert (response.text, response.finish_reason) == ("", "length")


@pytest.mark.parametrize(
    ("content", "finish", "message", "reasoning", "answer"),
    [
        ("Okay, so it is B", "length", {}, "Okay, so it is B", ""),
        ("<think>It is B", "length", {}, "It is B", ""),
        ("It is B.</think>B, si", "length", {}, "It is B.", "B, si"),
        ("B", "stop", {}, "", "B"),
        ("B, si", "length", {"reasoning_content": "It is B."}, "It is B.", "B, si"),
        ("", "length", {}, "", ""),
    ],
)
def test_a_thought_that_the_prompt_began_is_told_from_an_answer(
    content, finish, message, reasoning, answer
):
    response = parse_reply(reply(content, finish, **message), thinks=True)
    assert isinstance(response, Response)
    assert (response.reasoning, response.text, response.finish_reason) == (
        reasoning,
        answer,
        finish,
    )


@pytest.mark.parametrize(
    "content",
    [
        "<think>" * 20_000,
        "<think>" * 200_000,
        "</think>" * 200_000,
        "<think>x</think>" * 100_000,
        "a</think><think>" * 100_000,
        "\n" * 2_000_000 + "<think>",
        "\x00<thi" * 300_000,
    ],
    ids=lambda content: content[:12],
)
def test_a_hostile_reply_holds_nothing_up(content):
    body = reply(content, "length")
    began = time.process_time()
    parse_reply(body, thinks=True, stop=("</think><think>x", "\n\nQuestion:"))
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "body",
    [
        b"input length " * 600_000,
        b"must have less than " + b"1" * 8_000_000,
        b"must have less than 1" * 400_000,
        b"context " * 1_000_000,
    ],
    ids=lambda body: body[:12].decode(),
)
def test_a_hostile_error_holds_nothing_up(body):
    began = time.process_time()
    assert parse_error(400, body) == Failure(Reason.SERVER_ERROR, 400)
    assert time.process_time() - began < 2


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=())))
def test_no_control_character_of_a_reply_reaches_a_person(answer, thought):
    response = read(answer, reasoning_content=thought)
    shown = (response.text + response.reasoning).replace("\n", "").replace("\t", "")
    assert not any(unicodedata.category(character) == "Cc" for character in shown)


def test_lines_and_words_stay_apart_when_control_characters_are_taken_out():
    assert read("one\r\ntwo\x0cthree\x1b[2Jfour\tfive\x00").text == "one\ntwo three[2Jfour\tfive"


def test_the_first_stop_sequence_ends_the_answer_and_not_the_thought():
    response = read("<think>END of a thought</think>Yes. END and more Yes", stop=("more", "END"))
    assert (response.text, response.finish_reason, response.reasoning) == (
        "Yes. ",
        "stop",
        "END of a thought",
    )


@settings(deadline=None)
@given(
    st.text(st.characters(exclude_categories=())) | st.just("\ud800"), st.just("\udfff") | st.text()
)
def test_any_answer_can_be_stored(answer, thought):
    response = read(answer, reasoning_content=thought)
    assert (response.text + response.reasoning).encode("utf-8") is not None


def test_characters_that_are_whole_stay_as_they_are():
    assert read("Fièvre 𝔘 38 °C").text == "Fièvre 𝔘 38 °C"
    assert read("half \ud835 here").text == "half \ufffd here"


def test_a_refusal_is_an_answer():
    assert read(None, refusal="I cannot help with that.").text == "I cannot help with that."


@pytest.mark.parametrize("finish", ["no_such_reason", None, 7, ["stop"]])
def test_other_reasons_to_finish_are_kept_as_other(finish):
    assert read("B", finish).finish_reason == "other"


@pytest.mark.parametrize(
    ("finish", "reason"), [("tool_calls", "stop"), ("END_TURN", "stop"), ("max_tokens", "length")]
)
def test_reasons_to_finish_are_read_in_the_words_of_other_servers(finish, reason):
    assert read("B", finish).finish_reason == reason


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        {"prompt_tokens": -1},
        {"prompt_tokens": True},
        {"prompt_tokens": "11"},
        {"prompt_tokens": 10**30},
    ],
)
def test_counts_that_make_no_sense_are_no_counts(usage):
    body = json.dumps(
        {"choices": [{"message": {"content": "B"}, "finish_reason": "stop"}], "usage": usage}
    ).encode()
    response = parse_reply(body)
    assert isinstance(response, Response)
    assert response.prompt_tokens is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "finish_reason", "usage", "reasoning", "refusal"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_become_a_response_or_a_failure(body):
    result = parse_reply(body, stop=("a",))
    assert isinstance(result, Response | Failure)
    if isinstance(result, Failure):
        assert result.reason in (Reason.BAD_REPLY, Reason.EMPTY, Reason.CONTENT_FILTER)


@settings(deadline=None)
@given(st.text() | st.just("broken \ud800 text"), st.integers(1, 9999))
def test_any_prompt_arrives_as_it_was(prompt, tokens):
    body = encode_request(ChatRequest("m", (Message("user", prompt),), tokens, stop=("\n",)))
    sent = parse_object(body)
    assert sent == {
        "model": "m",
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": tokens,
        "temperature": 0.0,
        "stop": ["\n"],
    }


def test_the_request_wins_over_what_the_server_always_needs_and_over_its_own_extras():
    request = ChatRequest(
        "m", (), 5, extra_body={"repeat_penalty": 1.2, "model": "other", "max_tokens": 9}
    )
    sent = parse_object(encode_request(request, always={"repeat_penalty": 1.0, "top_k": 1}))
    assert sent is not None
    assert (sent["repeat_penalty"], sent["top_k"], sent["model"], sent["max_tokens"]) == (
        1.2,
        1,
        "m",
        5,
    )


def test_the_limit_of_tokens_goes_by_the_name_the_server_honours():
    sent = parse_object(
        encode_request(ChatRequest("m", (), 5), token_limit_field="max_completion_tokens")
    )
    assert sent is not None
    assert sent["max_completion_tokens"] == 5
    assert "max_tokens" not in sent


def test_an_error_that_mentions_no_length_is_a_server_error():
    assert parse_error(400, b"bad temperature") == Failure(Reason.SERVER_ERROR, 400)
    assert parse_error(500, b"CUDA out of memory") == Failure(Reason.SERVER_ERROR, 500)
    assert parse_error(204, b"") == Failure(Reason.BAD_REPLY, 204)
