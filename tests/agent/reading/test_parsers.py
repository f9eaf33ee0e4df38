"""The part of an answer that a benchmark's own parser takes."""

import time

import pytest

from agent.errors import BenchmarkError
from agent.metrics import AnswerParser, extract
from agent.vocabulary import Reason, Unscored

JSON = AnswerParser("json", field="answer")
UNPARSED = Unscored(Reason.UNPARSED)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"answer": "B"}', "B"),
        (' \n{"answer": " B "}\n', "B"),
        ('```json\n{\n  "answer": "B",\n  "why": "the {braces} of a text"\n}\n```', "B"),
        ('Sure! Here it is: {"answer": "B"} I hope this helps {and more}.', "B"),
        ('First I thought {"answer": "A"}, but then:\n{"answer": "B"}', "B"),
        ('{"answer": "B"}\n{"confidence": 0.9}', "B"),  # the last object that has the field
        ('{"reasoning": {"answer": "A"}, "answer": "B"}', "B"),  # its own field before one within
        ('{"result": {"answer": "B"}}', "B"),
        ('{"results": [{"answer": "A"}, {"answer": "B"}]}', "B"),
        ('[{"answer": "A"}, {"answer": "B"}]', "B"),
        ('{not json} \\frac{1}{2} {"answer": "B"}', "B"),
        ('{"thought": "no end {"answer": "B"}', "B"),
        ('{"answer": "B"', "B"),  # cut off
        ('{"why": "He said "no" and\nleft" "answer": "B"}', "B"),  # broken
        ('{"why": "the answer is B', UNPARSED),
        ('{"answer": "line one\nline two"}', "line one\nline two"),
        ('{"answer": "fièvre – 38 °C"}', "fièvre – 38 °C"),
        ('{"answer": 5}', "5"),
        ('{"answer": 5.50}', "5.5"),
        ('{"answer": true}', "true"),
        ('{"answer": ["J18.9", "I10"]}', '["J18.9", "I10"]'),
        ('{"answer": null}', UNPARSED),
        ('{"answer": "  "}', UNPARSED),
        ('{"Answer": "B"}', UNPARSED),
        ("B", UNPARSED),
        ("", Unscored(Reason.EMPTY)),
        (" \n", Unscored(Reason.EMPTY)),
    ],
)
def test_the_last_json_object_that_has_the_field(answer, expected):
    assert extract(JSON, answer) == expected


LABELS = (("0", "true", "not hallucinated"), ("1", "false", "hallucinated"))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"answer_choice": "B", "why": "not A"}', "B"),
        ('Sure: ```json\n{"final_answer": "B"}\n```', "B"),
        ('{"answer": 5}', "5"),
        ('{"answer": "A"} or {"answer": "B"}', UNPARSED),
        ('{"pick": "B"}', UNPARSED),
        ("The answer is B", UNPARSED),
    ],
)
def test_without_a_field_the_key_that_names_the_answer_is_read(answer, expected):
    assert extract(AnswerParser("json"), answer) == expected


@pytest.mark.parametrize(
    ("field", "answer", "expected"),
    [
        ("hallucinated", '{"hallucinated": true}', "1"),
        ("hallucinated", '{"hallucinated": "no", "why": "false"}', "0"),
        ("pick", '{"pick": true}', "0"),
        ("pick", '{"pick": "hallucinated", "why": "true"}', "1"),
        ("", '{"answer": "hallucinated"}', "1"),
        ("hallucinated", '{"hallucinated": "perhaps"}', UNPARSED),
        ("pick", '{"pick": 7}', UNPARSED),
        ("pick", '{"why": "hallucinated"}', UNPARSED),
    ],
)
def test_labels_are_read_in_the_field_and_no_other_value_is_scored(field, answer, expected):
    parser = AnswerParser("json", field=field, labels=LABELS)
    assert extract(parser, answer) == expected


def test_labels_are_read_in_the_match_of_a_pattern():
    parser = AnswerParser("pattern", pattern=r"Verdict: (.*)", labels=LABELS)
    assert extract(parser, "It may be true.\nVerdict: hallucinated") == "1"
    assert extract(parser, "It is true.\nVerdict: blue") == UNPARSED


@pytest.mark.parametrize(
    ("pattern", "answer", "expected"),
    [
        (r"Answer:\s*(.*)", "Answer: A\nOn reflection\nAnswer: B", "B"),
        (r"\b\d+ mg\b", "first 5 mg, then 10 mg", "10 mg"),
        (r"<answer>(?s:(.*?))</answer>", "<answer>\nB\n</answer>", "B"),
        (r"(?i)answer: (\w)", "ANSWER: b", "b"),
        (r"Answer:\s*(.*)", "I would say B", UNPARSED),
        (r"Answer:\s*(.*)", "Answer: ", UNPARSED),
        (r"Answer: (A)?", "Answer: B", UNPARSED),
        (r"Answer:\s*(.*)", "", Unscored(Reason.EMPTY)),
    ],
)
def test_the_last_match_of_a_pattern(pattern, answer, expected):
    assert extract(AnswerParser("pattern", pattern=pattern), answer) == expected


def test_letters_and_texts_are_left_to_the_metrics():
    assert extract(AnswerParser("option_letter"), "The answer is B.") == "The answer is B."
    assert extract(AnswerParser("text"), "") == ""


def test_a_pattern_that_is_none_is_named_with_its_place():
    with pytest.raises(BenchmarkError, match=r"answer_pattern .*position 9"):
        extract(AnswerParser("pattern", pattern="(unclosed"), "x")


def test_a_pattern_that_never_ends_finds_nothing_in_time():
    before = time.monotonic()
    assert extract(AnswerParser("pattern", pattern=r"(a+)+$"), "a" * 5_000 + "b") == UNPARSED
    assert time.monotonic() - before < 60


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        '{"a":',
        '{"a":1',
        '{"answer": "',
        "[{",
        '{"a":[1,',
        "1" * 5_000,
        '{"a":' + "1" * 4_990 + ",",
    ],
)
def test_reading_json_is_fast_whatever_repeats(piece):
    text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
    before = time.process_time()
    extract(JSON, text)
    assert time.process_time() - before < 8  # 0.3 s at most; the margin is for a busy machine


@pytest.mark.parametrize(
    "pattern",
    [
        "(((((a{1000}){1000}){1000}){1000}){1000})",
        "(?:(?:(?:x?){5000}){5000}){5000}y",
        "(?:(?:(?:x?){,5000}){,5000}){ 0 , 5000 }y",
        "(?:(?:(?:x?){000000000005000}+){5000}){5000}y",
        "(?x)((a{1000}) # a\n{1000})\n{1000}",
        "(?:" * 20 + "a" + "){2}" * 20,
        "(?:" + "ab" * 900 + "){100}",
        "a" * 2001,
        "(" * 900 + "a" + ")" * 900,
    ],
)
def test_a_pattern_that_would_fill_the_memory_before_it_reads_anything_is_refused_at_once(pattern):
    before = time.process_time()
    with pytest.raises(BenchmarkError, match="answer_pattern"):
        extract(AnswerParser("pattern", pattern=pattern), "x")
    assert time.process_time() - before < 2


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}",
        r"(.{1,1000})\n.{0,1000}\n.{0,1000}",
        r"(?:\w{1,30} ){1,50}",
        r"\{5\}",
    ],
)
def test_a_pattern_that_counts_as_people_do_is_read(pattern):
    assert extract(AnswerParser("pattern", pattern=pattern), "?") == UNPARSED
