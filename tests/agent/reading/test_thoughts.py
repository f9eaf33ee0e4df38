"""Reasoning and answer of a model's text, in the formats of the models that this project knows."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.reading.thoughts import (
    ANSWER_MARKS,
    END_TOKENS,
    PHRASES_OF_THOUGHT,
    START_TOKENS,
    THOUGHT_MARKS,
    SplitAnswer,
    build_reply,
    build_response,
    remove_chat_marks,
    split_answer,
)


def split_thought(text: str) -> tuple[str, str]:
    """Return the reasoning and the answer."""
    split = split_answer(text)
    return split.reasoning, split.answer


HARMONY = "<|channel|>analysis<|message|>Perhaps A.<|end|><|start|>assistant"


@pytest.mark.parametrize("marks", THOUGHT_MARKS, ids=lambda marks: marks.begin)
def test_every_mark_of_reasoning_keeps_it_out_of_the_answer(marks):
    whole = split_answer(f"{marks.begin}Perhaps A.\n{marks.end}\n\nC")
    assert (whole.reasoning, whole.answer, whole.is_cut_off) == ("Perhaps A.", "C", False)
    cut = split_answer(f"{marks.begin}Perhaps A")
    assert (cut.reasoning, cut.answer, cut.is_cut_off) == ("Perhaps A", "", True)
    assert split_answer(f"{marks.begin.upper()}A{marks.end.lower()}C").answer == "C"


@pytest.mark.parametrize("marks", THOUGHT_MARKS[:-1], ids=lambda marks: marks.begin)
def test_an_end_without_a_beginning_ends_reasoning_that_the_template_began(marks):
    assert split_answer(f"Perhaps A.{marks.end}C") == SplitAnswer("Perhaps A.", "C")


@pytest.mark.parametrize("phrases", PHRASES_OF_THOUGHT, ids=lambda phrases: phrases.begin)
def test_phrases_mark_reasoning_only_at_the_start_and_with_their_end(phrases):
    assert split_answer(f"{phrases.begin} A?\n{phrases.end} C") == SplitAnswer("A?", "C")
    for text in (f"{phrases.begin} so C", f"C.\n{phrases.begin} A? {phrases.end} B"):
        assert split_answer(text) == SplitAnswer("", text)


@pytest.mark.parametrize("marks", ANSWER_MARKS, ids=lambda marks: marks.begin)
def test_the_mark_of_the_answer_ends_reasoning_without_an_end(marks):
    for end in ("", marks.end):
        text = f"<think>Perhaps A. {marks.begin}C{end}"
        assert split_answer(text) == SplitAnswer("Perhaps A.", "C")


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        (f"{HARMONY}<|channel|>final<|message|>C<|return|>", "Perhaps A.", "C"),
        (f"{HARMONY}<|channel|>final <|constrain|>json<|message|>C", "Perhaps A.", "C"),
        ("<|start|>assistant<|channel|>final<|message|>C<|end|>", "", "C"),
        ("Perhaps A.<|end|><|start|>assistant<|channel|>final<|message|>C", "Perhaps A.", "C"),
        (
            f'{HARMONY}<|channel|>commentary to=functions.answer <|constrain|>json<|message|>{{"answer": "C"}}<|call|>',
            "Perhaps A.",
            '{"answer": "C"}',
        ),
        (f"{HARMONY}<|channel|>commentary<|message|>I look it up.<|end|>", "Perhaps A.\nI look it up.", ""),
    ],
    ids=range(6),
)  # fmt: skip
def test_the_final_channel_of_gpt_oss_is_the_answer(text, reasoning, answer):
    assert split_answer(text) == SplitAnswer(reasoning, answer)


def test_a_message_of_gpt_oss_that_was_cut_off_while_it_reasoned_is_no_answer():
    assert split_answer("<|channel|>analysis<|message|>It is A, si").is_cut_off


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<thinking>A? <reflection>No.</reflection> C.</thinking><output>C</output>", "C"),
        ("<reasoning>A <think>or B</think> or C</reasoning>D", "D"),
        ("<think>A</thinking>C", "C"),  # began with one mark, ended with another
        ("<think>The mark </thinking> is not mine</think>C", "C"),
        ("<think>It is not A.\n<answer>C</answer>", "C"),  # no end, and yet an answer
        ("<think>I must write <answer></answer> at the", ""),
        ("<think>I write <answer>C</answer> and go on", ""),
        ("<answer>C</answer>", "<answer>C</answer>"),
        ('<tool_call>\n{"name": "answer", "arguments": {"answer": "C"}}\n</tool_call>',
         '{"name": "answer", "arguments": {"answer": "C"}}'),
        ("C<|im_end|>", "C"),
        ("<|start_header_id|>assistant<|end_header_id|>\n\nC", "C"),
        ("<s> C </s> </s>\n", "C"),
        ("It is <s>A</s> C, not <s>A</s>", "It is <s>A</s> C, not <s>A</s>"),
        ("Take <details>much</details> care", "Take <details>much</details> care"),
        ("p < 0.05 and [1] of <5 mg", "p < 0.05 and [1] of <5 mg"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_answer_is_what_is_left_without_reasoning_and_chat_format(text, answer):
    assert split_answer(text).answer == answer


@pytest.mark.parametrize("end", END_TOKENS)
@pytest.mark.parametrize("start", START_TOKENS)
def test_special_tokens_of_the_chat_format_are_no_part_of_an_answer(start, end):
    assert remove_chat_marks(f"{start}\nC{end}") == "C"


def test_reasoning_without_an_end_is_no_answer_even_in_a_file_of_answers():
    response = build_response("C\n<think>Or is it rather")
    assert (response.text, response.finish_reason) == ("", "length")
    assert "Or is it rather" in response.reasoning
    assert build_response("<think></think>").finish_reason == "stop"
    assert build_response("  C \n").text == "  C \n"


def test_text_after_the_end_of_a_turn_is_no_part_of_an_answer_in_a_file():
    text = "C<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnd A?"
    assert build_response(text).text == "C"


@pytest.mark.parametrize(
    "quoted", ["</think>", "<think>", "<|im_end|>", "<|channel|>final<|message|>5", "[THINK]"]
)
def test_marks_that_a_judge_quotes_do_not_hide_its_verdict(quoted):
    reply = f'The answer says {quoted}. My grade: {{"score": 1}}'
    assert build_reply(reply).text == reply
    thought = build_reply(f"<think>The answer says {quoted.replace('</think>', '')}</think>{reply}")
    assert thought.text == reply
    assert build_reply("[THINK]5 or").finish_reason == "length"


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 100_000,
        "</think>" * 100_000,
        "<think>x</think>" * 50_000,
        "<think><thinking></thinking>" * 30_000,
        "<s>" * 200_000,
        "</s> " * 200_000,
        "<|channel|>analysis<|message|>" * 26_000,
        "<|start|>assistant" * 40_000,
        "<|channel|>a" * 60_000 + "<|message|>",
        "<output>" * 100_000 + "</output>",
        "<think>" + "<answer>x</answer>" * 40_000,
        " " * 800_000 + "<",
        "<details type=" * 60_000,
        '<think>{"a": "' * 40_000,
    ],
    ids=lambda text: text[:14],
)
def test_hostile_text_takes_linear_time(text):
    began = time.process_time()
    split_answer(text)
    assert time.process_time() - began < 1


@settings(deadline=None)
@given(st.lists(st.sampled_from(["<think>", "</think>", "a", "b "]), max_size=12))
def test_no_mark_of_an_end_is_left_and_nothing_before_the_last_lone_one_is_an_answer(pieces):
    text = "".join(pieces)
    thought, answer = split_thought(text)
    assert "</think>" not in answer
    assert "<think>" not in answer
    letters = sorted((thought + answer).replace("<think>", "").split())
    assert sorted("".join(letters)) == sorted(
        text.replace("<think>", "").replace("</think>", "").replace(" ", "")
    )


@pytest.mark.parametrize("around", ["{}", "Well:\n```json\n{}\n```", "{} That is all."])
def test_a_mark_that_a_json_text_speaks_of_ends_and_begins_no_thought(around):
    said = around.replace(
        "{}", json.dumps({"why": "It says </think>, then <think> again, and </think>.", "score": 1})
    )
    assert split_thought(said) == ("", said)
    assert split_thought(f"<think>{{not so}}</think>{said}") == ("{not so}", said)
    assert split_thought(f"A thought {{}} here</think>{said}") == ("A thought {} here", said)


@pytest.mark.parametrize(
    "quoted",
    ["<|channel|>analysis<|message|>A", "<|start|>assistant<|channel|>final<|message|>A<|end|>"],
)
def test_a_message_quoted_in_a_json_text_neither_hides_nor_replaces_the_answer(quoted):
    said = json.dumps({"why": f"It imitates {quoted}", "score": 1})
    assert split_thought(said) == ("", said)
    begin, middle = (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    )
    assert split_thought(f'{begin}{{"score": 5}}{middle}{said}')[0] == '{"score": 5}'


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 300_000,
        '{"' * 400_000,
        '{"a":"' * 200_000,
        '{"a":1}' * 300_000,
        "\n" * 10**6 + '{"a' * 100_000,
    ],
    ids=range(5),
)
def test_no_text_with_braces_holds_the_division_up(text):
    began = time.process_time()
    split_thought(f"{text}</think>")
    assert time.process_time() - began < 2


@settings(deadline=None)
@given(st.text(), st.text())
def test_whatever_is_thought_no_thought_is_in_the_answer(thought, answer):
    thought, answer = (text.replace("<", "").replace(">", "") for text in (thought, answer))
    assert split_thought(f"<think>{thought}</think>{answer}")[1] == answer.strip()
    assert split_thought(f"{thought}</think>{answer}")[1] == answer.strip()
    assert split_thought(f"<think>{thought}{answer}")[1] == ""
