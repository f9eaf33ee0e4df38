"""Readings with their spans and rules, and answers followed by long explanations of real questions."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.reading.choice.reader import extract_option, read_option
from agent.reading.choice.rules import JSON_FIELD, RULES

DRUGS = ("Aspirin", "Vitamin B12 injection", "Amoxicillin", "Vitamin K")
SAMPLE = Path(__file__).resolve().parents[4] / "benchmarks/med_mcqa/sample/dev.json"


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule != JSON_FIELD], ids=lambda rule: rule.name
)
def test_each_rule_reads_its_example(rule):
    reading = read_option(rule.example, DRUGS)
    assert reading is not None
    assert (reading.value, reading.rule) == ("B", rule.name)


@pytest.mark.parametrize(
    ("answer", "span"),
    [
        ("**B**", "B"),
        ("The ileum absorbs it.\n\nThe answer is **(B)**, not A.", "answer is **(B)"),
        ("So:  $\\boxed{\\text{B}}$", "\\boxed{\\text{B"),
        ("“Vitamin B12 injection”", "“Vitamin B12 injection"),
        ("✅ B\nA is wrong.", "✅ B"),
        ("Ｂ. It replaces what is missing", "Ｂ"),
        ("I considered A.\n\nVerdict — B", "Verdict — B"),
    ],
)
def test_the_span_of_the_answer_that_was_read(answer, span):
    reading = read_option(answer, DRUGS)
    assert reading is not None
    assert answer[reading.start : reading.end] == span


@given(st.text(max_size=200))
def test_showing_a_reading_agrees_with_scoring(answer):
    option, reading = extract_option(answer, DRUGS), read_option(answer, DRUGS)
    assert (reading and reading.value) == (None if option is None else "ABCD"[option])
    if reading:
        assert 0 <= reading.start <= reading.end <= len(answer)


def load_explained_questions():
    rows = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
    for row in rows:
        if row["exp"]:
            options = tuple(row[key] for key in ("opa", "opb", "opc", "opd"))
            yield options, row["cop"] - 1, row["exp"]


@pytest.mark.parametrize(
    "style", ["{letter}\n\n{exp}", "{letter}. {text}\n\n{exp}", "The answer is {letter}. {exp}"]
)
def test_an_explanation_behind_the_answer_changes_nothing(style):
    total = unread = 0
    for options, option, explanation in load_explained_questions():
        answer = style.format(letter="ABCD"[option], text=options[option], exp=explanation)
        found = extract_option(answer, options)
        assert found in (None, option), answer
        total += 1
        unread += found is None
    assert total > 40
    assert unread <= 1


def test_an_explanation_alone_is_hardly_read_as_another_option():
    others = 0
    for options, option, explanation in load_explained_questions():
        others += extract_option(explanation, options) not in (None, option)
    assert others <= 1


@pytest.mark.parametrize(
    ("answer", "options", "expected"),
    [
        ("Aspirin", ("Aspirin", "Heparin", "Aspirin"), None),  # which of the two is meant?
        ("The drug of choice is aspirin.", ("Aspirin", "Heparin", "aspirin."), None),
        ("C. Aspirin", ("Aspirin", "Heparin", "Aspirin"), 2),
        ("low molecular weight heparin", ("Heparin", "Low-molecular-weight heparin"), 1),
        ("The answer is heparin.", ("Heparin", "Low-molecular-weight heparin"), 0),
        ("1 5 mg", ("15 mg", "20 mg"), None),
        ("The answer is 5%.", ("5", "5 %"), 1),
        ("D", ("a", "b", "c"), None),
        ("The answer is D.", ("a", "b", "c"), None),
        ("A. The answer is D.", ("x1", "x2", "x3"), None),
    ],
)
def test_texts_that_resemble_each_other_and_letters_beyond_the_options(answer, options, expected):
    assert extract_option(answer, options) == expected


INTERLEUKINS = ("IL - 5", "Neutrophils", "CD 4", "Tdt")
CHANGES = ("A decrease in the rate", "A decrease in the pressure", "A decrease in the output")
DOSES = ("2 mg", "3 mg", "4 mg", "5 mg")


@pytest.mark.parametrize(
    ("answer", "options", "expected"),
    [
        ("Conclusion: as it stands, IL-5 is the best choice.", INTERLEUKINS, 0),
        ("IL-5 is not the best choice.", INTERLEUKINS, None),
        ("If it were a cytokine, IL-5 is the best choice.", INTERLEUKINS, None),
        (f"{CHANGES[0]}, a decrease in the pressure, a decrease in the out", CHANGES, None),
        ("A decrease in the rate, because the vagus is stimulated.", CHANGES, 0),
        ("A decrease in the rate.", CHANGES, 0),
        ("B (2)", DOSES, None),  # 2 mg is option A
        ("B (2)", CHANGES, 1),
        ("B (3)", CHANGES, None),
    ],
)
def test_short_texts_loops_and_numbers_of_options(answer, options, expected):
    assert extract_option(answer, options) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "\ue001",
        "The answer is \ue001.",
        "\ue041\ue0ff\ue0ff is correct",
        "\ue081",
        "Answer: \ue0f0",
        "\ue000\ue0ff",
    ],
)
def test_an_answer_cannot_forge_the_signs_that_mark_references(answer):
    assert extract_option(answer, DRUGS) is None
