"""The answer in JSON as models write it: whole, in a fence, broken, cut off, and what must not be taken for it."""

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.reading.choice import extract_option, read_option
from agent.reading.json_answers import JSON_FIELD, read_json_answer, select_parts
from agent.reading.parsers import extract
from agent.vocabulary import AnswerParser
from tests.agent.datasets.sources.public import OFFICIAL

DRUGS = ("Aspirin", "Bisoprolol", "Heparin", "Digoxin")
KEYS = (
    *("answer", "answer_choice", "answer_letter", "answer_idx", "selected_option", "option"),
    *("choice", "label", "prediction", "final_answer", "Answer", "finalAnswer", "correct_option"),
    *("answerChoice", "FINAL_ANSWER", "final answer", "Answer Choice"),
)


@pytest.mark.parametrize(
    "answer",
    [
        '{"answer": "C"}',
        '{"answer": "C. Heparin"}',
        '{"answer": ["C"]}',
        '{"Answer": "C"}',
        '{"final answer": "C"}',
        '{"finalAnswer": "C"}',
        '{"answer": "Heparin", "answer_letter": "C"}',
        '```json\n{"answer": "C"}\n```',
        'Sure:\n```json\n{\n  "reasoning": "The answer is A.",\n  "answer": "C"\n}\n```\nHope it helps.',
        "{'answer': 'C'}",
        "{'reasoning': 'It isn't A', 'answer': 'C'}",
        '{"answer": "C",}',
        '{"answer": "C"',
        '{"answer": "C',
        '{"reasoning": "He said "the answer is A" but no", "answer": "C"}',
        '{"reasoning": "The field "answer": "A" would be", "answer": "C"}',
        '{"reasoning": "line\nbreak: the answer is A", "answer": "C"}',
        '{"reasoning": "The answer is A."}\n\nThe answer is C.',
        "{“answer”: “C”}",
        "{answer: C}",
        '{"answer": C}',
        '{"result": {"answer": "C", "why": "A is wrong"}}',
        '{"analysis": [{"option": "A", "why": "x"}, {"option": "B", "why":"y"}], "answer": "C"}',
        '{"name": "submit", "arguments": {"answer": "C"}}',
        '{"name": "submit", "arguments": "{\\"answer\\": \\"C\\"}"}',
        '{"answer": {"letter": "C", "text": "Heparin"}}',
        '"{\\"answer\\": \\"C\\"}"',
        '{\\"answer\\": \\"C\\"}',
        'To determine it, ...", "answer_choice": "C"}',
        '{{"answer": "C"}}',
        '{"step": "x" "answer": "C"}',
        '{"answer": "C" "step": "the answer is A"}',
        '{"answer": "C"\nBecause aspirin is A',
        "\\boxed{C}",
        "The answer is C. $\\frac{a}{b}$: {x : x > 0}",
        '[{"answer": "C"}]',
        '{"answer": "C"}\n{"answer": "C"}',
        '{"answer":"C","confidence":0.9}',
        '{"answer_idx": "C"}',
        '{"thinking": "Options: {\\"answer\\": \\"A\\"}", "answer": "C"}',
        '{"explanation": "C is right", "correct_option": "(C)"}',
        '{"options": {"A": "Aspirin"}, "answer": "C"}',
        '{"answer": "The answer is C because A is wrong"}',
        '{\n  "answer": "C",\n  "explanation": "Not "A" because\n',
        '<answer>{"answer": "C"}</answer>',
        "{'reasoning': \"It's not A\", 'answer': 'C'}",
        '{"selected_option":{"option":"C","text":"Heparin"}}',
        '{"answer": "A or C", "answer_letter": "C"}',
        '**{"answer": "C"}**',
        '{"**Answer**": "C"}',
        'json\n{"answer": "C"}',
        '{"answer_choice": "C", "step_by_step_thinking": "The answer is A, since "aspirin" ',
    ],
)
def test_the_answer_in_json_is_read(answer: str):
    assert extract_option(answer, DRUGS) == 2
    reading = read_option(answer, DRUGS)
    assert reading is not None
    assert reading.value == "C"
    stated = answer[reading.start : reading.end]
    assert "C" in stated or "Heparin" in stated


@pytest.mark.parametrize(
    "answer",
    [
        '{"answer": ["A","C"]}',
        '{"answer": "A", "final_answer": "C"}',
        '{"answer": "Aspirin", "answer_letter": "C"}',
        '{"reasoning": "The answer is A. So',
        '{"reasoning": "The answer is A."}',
        '{"answer": null}',
        '{"answer": "N/A"}',
        '{"answer": ""}',
        '{"analysis": [{"option": "A", "why": "x"}, {"option": "B", "why":"y"}]}',
        '{"answer": {"letter": "C", "text": "Aspirin"}}',
        '{"answer": "C" (Heparin), "explanation": "The answer is A"}',
        '[{"answer": "C"},{"answer": "A"}]',
        '{"answer": "C"}\nWait, actually A.',
        '{"prediction": 2}',
        '{"answer": true}',
        '{"answer": "C", "answer": "A"}',
        '{"evaluation": {"answer": "A is tempting"}, "verdict": "x"}',
        '"step_by_step_thinking": "Aspirin prevents it. The answer is A. Still,',
        '"reasoning": "The answer is A."}',
        '{"answer": "A"}\n' * 100 + '{"answer": "C"}',
    ],
)
def test_an_answer_in_json_that_is_not_one_clear_value_stays_unread(answer: str):
    assert extract_option(answer, DRUGS) is None
    assert read_option(answer, DRUGS) is None


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", ["C", "C. Heparin", "(C)", "Heparin", ["C"], ["C. Heparin"]])
def test_every_key_that_names_the_answer_is_read(key: str, value: object):
    answer = json.dumps({"reasoning": "The answer is A.", key: value, "confidence": "D"})
    assert extract_option(answer, DRUGS) == 2
    reading = read_json_answer(answer)
    assert reading is not None
    assert (reading.value, reading.rule) == (
        value if isinstance(value, str) else value[0],
        JSON_FIELD,
    )  # type: ignore[index]
    assert answer[reading.start : reading.end] == reading.value


REASONING_KEYS = (
    *("step_by_step_thinking", "reasoning", "explanation", "rationale", "analysis", "thought"),
    *("answer_explanation", "options", "choices", "answers_rejected", "why"),
)


@pytest.mark.parametrize("key", REASONING_KEYS)
def test_no_other_key_is_read(key: str):
    for text in ("The answer is A.", "A", "Aspirin"):
        assert extract_option(json.dumps({key: text}), DRUGS) is None
        assert extract_option(json.dumps({key: text})[:-4], DRUGS) is None
        assert extract_option(json.dumps({key: text, "answer": "C"}), DRUGS) == 2


def test_escapes_of_json_are_resolved_in_the_value():
    options = ("5 µg", "10\u00a0µg", 'the "big" one', "none")
    answer = json.dumps({"answer": 'The "big" one'})
    assert extract_option(answer, options) == 2
    assert extract_option(json.dumps({"answer": "5 µg"}), options) == 0


def test_text_without_json_is_read_as_before():
    for answer in ("C", "The answer is C: {x}", r"\\boxed{C}", "Set {a: 1}, so the answer is C."):
        assert select_parts(answer) is None
        assert extract_option(answer, DRUGS) == 2


def test_the_arguments_of_a_call_of_a_tool_are_found_by_the_parser_of_json_too():
    parser = AnswerParser("json", field="answer")
    assert extract(parser, '{"name": "submit", "arguments": {"answer": "C"}}') == "C"


CLEAR = re.compile(r"\(?([A-D])\)?(?:[.):] .*|[.)])?")


@pytest.mark.parametrize(
    ("name", "questions"),
    [("med_mcqa", "med_mcqa/dev.json"), ("pubmed_qa", "pubmed_qa/ori_pqal.json")],
)
def test_whole_outputs_of_a_real_model_are_read(name: str, questions: str):
    path = OFFICIAL / f"answers/{name}.gpt35_cot.jsonl"
    if not path.exists():
        pytest.skip("the outputs are not part of the repository")
    options: dict[str, tuple[str, ...]] = {}
    text = (OFFICIAL / questions).read_text("utf-8")
    if name == "pubmed_qa":
        options = dict.fromkeys(json.loads(text), ("yes", "no", "maybe"))
    else:
        for row in map(json.loads, text.splitlines()):
            options[row["id"]] = tuple(row["op" + letter] for letter in "abcd")
    read, clear = 0, 0
    for line in path.read_text("utf-8").splitlines():
        output = json.loads(line)
        field = re.search(r'"answer_choice": *"([^"]*)"\}\s*$', output["answer"])
        letter = CLEAR.fullmatch(field[1]) if field else None
        if letter is None or re.search(r" or [A-D]\b", letter[0]):
            continue
        clear += 1
        option = extract_option(output["answer"], options[output["instance_id"]])
        assert option in (None, "ABCD".index(letter[1])), output["answer"]
        read += option is not None
    assert clear > 490
    assert read >= 0.98 * clear


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("aAb: {}'", max_size=6), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(["reasoning", "a", "steps"]), JSON, max_size=3),
    st.sampled_from("ABCD"),
)
def test_whatever_else_an_object_holds_its_answer_is_read(others: dict[str, object], letter: str):
    for written in ({**others, "answer": letter}, {"answer": letter, **others}):
        for answer in (json.dumps(written), json.dumps(written, indent=1, ensure_ascii=False)):
            assert extract_option(answer, DRUGS) == "ABCD".index(letter)


@settings(deadline=None)
@given(st.text("{}[]\":,\\'\nab answer", max_size=60))
def test_no_text_breaks_the_reader(text: str):
    for part in select_parts(text) or ():
        assert 0 <= part.start <= part.end <= len(text)


@pytest.mark.parametrize(
    "piece",
    [
        *(
            '{"',
            '{"a":',
            '{"a":"',
            '{"a":[',
            '{"a":1}',
            '{"answer":"',
            '"a":"b" ',
            '{"a":"x" ',
            "{ ",
            "{a:",
        ),
        *(
            '"a" : ',
            '\\\\"',
            '" ,',
            '{"answer": "A", ',
            '"answer":"A" ',
            '"answer":[',
            '"answer":{',
            "'\"",
            '":',
        ),
        *("{'a':\"", '}{"a":"', '{"a": " ``` ', '{"a": "b" {', '{"arguments":"{', "“answer”:"),
    ],
)
def test_a_hostile_answer_holds_nothing_up(piece: str):
    text = (piece * 100_000)[:99_900]
    began = time.process_time()
    for hostile in (text, '{"a":"' + text, text + '"}', text + '"answer": "C"}'):
        select_parts(hostile)
    assert time.process_time() - began < 2
