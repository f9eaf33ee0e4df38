"""Verdicts on a note in the ways models state them: read where a person would, unread where a person would ask back."""

from pathlib import Path

import pytest

from agent.reading.note_verdicts import (
    NO_ERROR,
    RULES,
    SOME_ERROR,
    find_verdict,
    list_sentences,
    read_verdict,
)
from tests.agent.reading.test_answer_styles import unescaped

NOTE = """0 A 24-year-old woman presents with pelvic discomfort and a frothy discharge for 2 weeks.
1 She also complains of pain during intercourse.
2 She takes oral contraceptives and a multivitamin daily.
3 Her temperature is 37.1 C, pulse is 80/min.
4 A swab of the vaginal wall is analyzed for pH at bedside.
5 Vaginal pH is 5.8.
6 Patient is diagnosed with bacterial vaginosis after her pelvic exam.
7 Fluconazole is prescribed for 7 days.
8 She is told to return in 2 weeks.
9 15 mg of prednisone is given daily.
10 The patient is discharged."""
SENTENCES = list_sentences(f"Clinical note:\n{NOTE}\n\nAnswer:")
# Each line: the verdict ("correct", "error 6", "error ?", or "-" if it is unread), and the answer.
LINES = Path(__file__).with_name("verdict_styles.tsv").read_text("utf-8").splitlines()
STYLES = [tuple(map(unescaped, line.split("\t"))) for line in LINES if not line.startswith("# ")]


@pytest.mark.parametrize(("verdict", "answer"), STYLES)
def test_the_verdict_in_an_answer(verdict, answer):
    reading = read_verdict(answer, SENTENCES)
    assert (reading.value if reading else "-") == verdict
    names = {"-": None, "correct": NO_ERROR, "error ?": SOME_ERROR}
    wanted = names[verdict] if verdict in names else int(verdict.removeprefix("error "))
    assert find_verdict(answer, SENTENCES) == wanted


def test_the_styles_are_many_and_different():
    assert len(STYLES) >= 300
    assert len({answer for _, answer in STYLES}) == len(STYLES)


@pytest.mark.parametrize(
    ("answer", "words", "rule"),
    [
        ("CORRECT", "CORRECT", "whole answer"),
        ("I checked all lines.\n\n**Answer:** CORRECT", "CORRECT", "final answer"),
        ("The error is in **sentence 6**.", "error is in **sentence 6", "stated verdict"),
        ('{"error_flag": 1, "id": 6}', 'error_flag": 1, "id": 6', "field"),
        ("ms-test-3 0 -1 NA", "ms-test-3 0 -1 NA", "submission line"),
        (
            'The error: "Fluconazole is prescribed for 7 days."',
            "Fluconazole is prescribed for 7 days.",
            "quoted sentence",
        ),
    ],
)
def test_a_reading_shows_the_words_that_state_the_verdict(answer, words, rule):
    reading = read_verdict(answer, SENTENCES)
    assert reading is not None
    assert words in answer[reading.start : reading.end]
    assert (reading.rule in RULES, reading.rule) == (True, rule)


@pytest.mark.parametrize(("rule", "example"), [(rule, text) for rule, (_, text) in RULES.items()])
def test_each_rule_reads_its_example(rule, example):
    sentences = {0: "He feels well.", 10: "The dose is 50 mg."}
    reading = read_verdict(example, sentences)
    assert reading is not None
    assert reading.rule == rule


def test_a_prompt_with_several_notes_ends_with_the_note_in_question():
    prompt = (
        f"Clinical note:\n0 He is well.\n1 He is 5.\n\nAnswer:\nCORRECT\n\nClinical note:\n{NOTE}"
    )
    assert list_sentences(prompt) == SENTENCES
    assert len(SENTENCES) == 11
    assert list_sentences("Is the note correct?") == {}


@pytest.mark.parametrize("mark", ["\t", " ", ","])
def test_a_submission_line_with_any_separator(mark):
    line = mark.join(("ms-test-120", "1", "7", '"Metronidazole is prescribed for 7 days."'))
    assert find_verdict(line, SENTENCES) == 7


def test_a_number_beyond_the_note_names_no_sentence():
    assert find_verdict("12 The patient is discharged home.", SENTENCES) == SOME_ERROR
    assert find_verdict("12 The patient is discharged home.") == 12
