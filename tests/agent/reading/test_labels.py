"""Labels: which of a benchmark's labels an answer states, in the form that was asked for or in words."""

import time

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.catalog.parser_choice import choose_parser
from agent.io.packaged import shipped
from agent.reading.labels import find_label, read_label
from agent.reading.parsers import extract, extract_part

MEDHALLU = choose_parser(load_benchmark(shipped("benchmarks") / "medhallu"))
LABELS = MEDHALLU.labels
SEVERITY = (("mild", "minor", "low"), ("moderate",), ("severe", "serious", "high"))
YES_NO = (("yes", "eligible"), ("no", "not eligible", "ineligible"))


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("0", "0"),
        ("1", "1"),
        ("hallucinated.", "1"),
        ("True.", "0"),
        ("TRUE", "0"),
        ("The answer is true.", "0"),
        ("The answer is not true.", "1"),
        ("The answer does not appear to be hallucinated.", "0"),
        ("The answer appears to be hallucinated.", "1"),
        ("It is hallucinated because the study found no synergy.", "1"),
        ("0, i.e. hallucinated", None),
        ("1 (true)", None),
        ("not 1", None),
        ("Not 0.", None),
        ("0 or 1", None),
        ("Either 0 or 1", None),
        ("It could be hallucinated.", None),
        ("I cannot tell whether it is hallucinated.", None),
        ("If the answer is hallucinated, write 1.", None),
        ("Is it hallucinated?", None),
        ("Hallucinated? Yes.", "1"),
        ("Hallucinated? No.", "0"),
        ("Partly true, partly hallucinated.", None),
        ("Partially hallucinated.", None),
        ("Mostly true.", None),
        ("The answer is true in part.", None),
        ("I would label this as hallucinated (1).", "1"),
        ("I'd label it 1.", "1"),
        ("Label: hallucinated", "1"),
        ("Verdict: **TRUE**", "0"),
        ("My verdict: the answer is fabricated.", "1"),
        ("{\"hallucinated\": false}", "0"),
        ("{\"is_hallucinated\": \"no\"}", "0"),
        ("{\"label\": 1, \"explanation\": \"the answer is true to the source but ...\"}", "1"),
        ("{\"verdict\": \"hallucinated\"}", "1"),
        ("{\"answer\": 0}", "0"),
        ("{\"hallucinated\": null}", None),
        ("{\"score\": 0.7}", None),
        ("{\"judgement\": 0, \"confidence\": 1}", "0"),
        ("```json\n{\"judgement\": 1}\n```", "1"),
        ("<answer>0</answer>", "0"),
        ("\\boxed{1}", "1"),
        ("$\\boxed{0}$", "0"),
        ("Judgement: 0\nConfidence: 1", "0"),
        ("The study had 0 deaths.", None),
        ("The answer is correct: physician estimates are less accurate in black patients.", "0"),
        ("Physician estimates are less accurate in black than in white patients.", None),
        ("The statement that cyclosporine alone is sufficient is false, so the answer is hallucinated.", "1"),
        ("This claim is wrong. Therefore, 1.", "1"),
        ("I'm sorry, but I cannot judge this.", None),
        ("1\n\nThe answer is false because the trial found no such effect.", "1"),
        ("0\n\nThe answer is true and no figures are made up.", "0"),
        ("0\n\nThe answer is hallucinated.", None),
        ("Let me think. The mechanism named is correct. But the year is made up. Final answer: 1", "1"),
        ("At first I thought 0, but the answer invents a mechanism: 1.", "1"),
        ("I first wrote 1. Wait, no, it's 0.", "0"),
        ("0... wait, actually 1.", "1"),
        ("1? or 0?", None),
        ("It's a 1.", "1"),
        ("I'd go with 0.", "0"),
        ("That's a zero from me.", "0"),
        ("one", "1"),
        ("Zero.", "0"),
        ("No one knows.", None),
        ("One of the claims is wrong.", None),
        ("One thing is clear.", None),
        ("Answer 1 is better than answer 0.", None),
        ("Score: 0/1", None),
        ("Score: 1/1", None),
        ("Rating: 0 out of 1", None),
        ("Apgar score was 1", None),
        ("Type 1", None),
        ("The answer is hallucinated if the study was negative.", None),
        ("The answer would be hallucinated if the study was negative.", None),
        ("True or hallucinated: hallucinated", "1"),
        ("True/Hallucinated: True", "0"),
        ("True or hallucinated?", None),
        ("0 (true) / 1 (hallucinated): 0", "0"),
        ("0 = true\n1 = hallucinated\n\nAnswer: 1", "1"),
        ("0 = true\n1 = hallucinated", None),
        ("[ ] 0\n[x] 1", "1"),
        ("☐ true ☑ hallucinated", "1"),
        ("(x) 1 (hallucinated)  ( ) 0 (true)", "1"),
        ("The knowledge says X, whereas the answer says Y. This contradicts the source → 1", "1"),
        ("→ 1", "1"),
        ("=> 0", "0"),
        ("The answer is supported by the source.", "0"),
        ("The answer is not supported by the given knowledge.", "1"),
        ("The answer is supported.", "0"),
        ("No hallucination detected.", "0"),
        ("Hallucination detected.", "1"),
        ("hallucination: yes", "1"),
        ("Hallucination: none", "0"),
        ("no", None),
        ("yes", None),
        ("The answer is neither true nor false.", None),
        ("I do not think this is hallucinated.", None),
        ("I don't believe it's true.", None),
        ("It isn't true.", "1"),
        ("This is not a hallucination.", "0"),
        ("That is true: hypertension causes it. However the cited study does not exist, so I say 1.", "1"),
        ("Label 0", "0"),
        ("label=0", "0"),
        ("class 1", "1"),
        ("Output:\n1", "1"),
        ("Output: 0.", "0"),
        ("0\n1\n0", None),
        ("1, 1, 1, 1", "1"),
        ("0\n0\n0\n0\n0", "0"),
        ("01", None),
        ("10", None),
        ("-1", None),
        ("2", None),
        ("1%", None),
        ("1.0", None),
        ("0!", "0"),
        ("'0'", "0"),
        ("(1)", "1"),
        ("Both 0 and 1 are defensible.", None),
        ("Judgement: 1 (not 0)", "1"),
        ("The correct label is 0, not 1.", "0"),
        ("Not hallucinated, so 0.", "0"),
        ("Not true, therefore 1.", "1"),
        ("I rate it 0 because nothing is made up.", "0"),
        ("The answer is true. The answer is hallucinated.", None),
        ("0 - the answer is true", "0"),
        ("1 - The answer names a mechanism that is wrong.", "1"),
        ("The verdict is that the answer is hallucinated.", "1"),
        ("The answer was made up.", "1"),
        ("Made up: the journal does not exist.", "1"),
        ("Everything checks out. 0", "0"),
        ("Judgement: 0. Judgement: 1.", None),
        ("It is tempting to say 0.", None),
        ("return 1 if hallucinated else 0", None),
        ("def f(x):\n    return 1", "1"),
        ("print(0)", "0"),
        ("The digit is 1.", "1"),
        ("Here is my judgement: 1. The answer misreads the question.", "1"),
        ("0 for the first claim, 1 for the second.", None),
        ("The answer is false.", "1"),
        ("That statement is false.", None),
        ("Wrong.", "1"),
        ("Right.", None),
        ("Correct.", "0"),
        ("Correct! 0", "0"),
        ("Correct! 1", None),
        ("I judge the answer to be true", "0"),
        ("I think the answer is probably true.", "0"),
        ("likely hallucinated", "1"),
        ("Probably 1.", "1"),
        ("This answer is 100% hallucinated", "1"),
        ("Your judgement (0 or 1): 0", "0"),
        ("Your judgement (0 or 1):", None),
        ("Answer: The study showed it. Your judgement (0 or 1): 1", "1"),
        ("Assistant: 1", "1"),
        ("The answer is 1 of two.", None),
        ("1\n2\n3", None),
        ("1. It is false.\n2. It is true.", None),
        ("Knowledge point 1: ok. Knowledge point 2: ok.\nThus true.", "0"),
        ("So, true.", "0"),
        ("The answer is consistent with the knowledge, so it is true (0).", "0"),
        ("It's not 0.", None),
        ("Definitely not 1.", None),
        ("0\n\nKnowledge: ...\n\nQuestion: ...\n\nAnswer: ...\n\nYour judgement (0 or 1): 1", "0"),
        ("The answer is \"true\".", "0"),
        ("The judgement is 'hallucinated'", "1"),
        ("judgement=hallucinated", "1"),
        ("true=0", None),
        ("Is the answer true? Yes", "0"),
        ("Is the answer true? No", "1"),
        ("Is it true or hallucinated? True", "0"),
        ("Sentence 1: true. Sentence 2: true. Sentence 3: hallucinated.", None),
        ("Sentence 1: true\nSentence 2: hallucinated\nOverall: hallucinated", "1"),
        ("I would have said 1, but the text supports it. 0", "0"),
        ("No.", None),
        ("The answer is true to the source but ignores the question; hence 1", "1"),
    ],
)  # fmt: skip
def test_an_answer_states_a_verdict_by_digit_or_word_or_is_unread(answer: str, label: str | None):
    assert find_label(answer, LABELS) == label
    reading = read_label(answer, LABELS)
    assert (reading and reading.value) == label


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("Moderate", "moderate"),
        ("The severity is mild.", "mild"),
        ("Severity: serious", "severe"),
        ("I would rate this as severe because of the sepsis.", "severe"),
        ('{"severity": "high"}', "severe"),
        ("Mild to moderate", None),
        ("Not severe.", None),
        ("It could be severe.", None),
        ("Mild or moderate?", None),
        ("Final answer: moderate", "moderate"),
    ],
)
def test_a_hospital_reads_its_own_scale_of_words(answer: str, label: str | None):
    assert find_label(answer, SEVERITY) == label


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("Yes.", "yes"),
        ("No, the patient is too old.", "no"),
        ("Eligible? Yes", "yes"),
        ("The answer is no.", "no"),
        ("Verdict: not eligible", "no"),
        ("The answer is ineligible.", "no"),
        ("Yes or no?", None),
        ("Yes and no.", None),
    ],
)
def test_a_hospital_reads_its_own_yes_and_no(answer: str, label: str | None):
    assert find_label(answer, YES_NO) == label


def test_a_reading_shows_the_words_that_state_the_label():
    answer = "The journal does not exist.\n\n**Verdict: hallucinated (1)**"
    reading = read_label(answer, LABELS)
    assert reading is not None
    assert answer[reading.start : reading.end] == "Verdict: hallucinated (1)"
    assert (reading.value, reading.rule) == ("1", "stated answer")
    part = extract_part(MEDHALLU, answer)
    assert (part.text, part.start, part.end) == ("1", reading.start, reading.end)
    assert extract(MEDHALLU, answer) == "1"


@pytest.mark.parametrize(
    "part",
    ["answer is ", "\n1", "1 ", "true (", "answer: 0.", "not ", "[x] ", "0 = true, ", "final answer ", "so 1", "(",
     "is hallucinated? ", '{"judgement": ', "hallucinated,0,", "sentence 1: ", "answer for the "],
)  # fmt: skip
def test_an_endless_answer_takes_little_time(part: str):
    before = time.monotonic()
    find_label((part * 100_000)[:100_000], LABELS)
    assert time.monotonic() - before < 5
