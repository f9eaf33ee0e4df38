"""Answers that a careful person would ask back about are unread, and those that look like them are read."""

import pytest

from tests.agent.reading.corpus import Answer, read

OPTIONS = ("Aspirin", "Vitamin B12 injection", "Amoxicillin", "Vitamin K")
YES_NO = ("yes", "no", "maybe")
NOTE = "\n".join(
    (
        "0 A man is seen.",
        "1 He has a fever of 39 C.",
        "2 Patient is diagnosed with pneumonia.",
        "3 Amoxicillin 500 mg is given.",
    )
)
BMI = "What is the patient's BMI in terms of kg/m^2?"
HEART = "What is the patient's HEART score?"
FIRST = "SELECT name FROM drug"
SECOND = "SELECT dose FROM drug WHERE id = 1"


def read_choice(text: str) -> str:
    return read(Answer("choice", "written", "development", text, "", OPTIONS))


def read_yes_or_no(text: str) -> str:
    return read(Answer("yesno", "written", "development", text, "", YES_NO, "Does it help?"))


def read_value(text: str, question: str) -> str:
    category = "physical" if question == BMI else "risk"
    return read(Answer("numbers", "written", "development", text, "", (), category, question))


def read_verdict(text: str) -> str:
    return read(Answer("medec", "written", "development", text, "", (), NOTE))


def read_query(text: str) -> str:
    return read(Answer("sql", "written", "development", text, ""))


@pytest.mark.parametrize(
    "text",
    [
        "The patient's HEART score is 4. The patient's HEART score is 5.",
        "Score: 3\nScore: 4",
        "Age 65: 1\nECG: 1\nTotal: 2\nTotal: 3",
        "The HEART score is 4.\n\nThe HEART score is 4.\n\nThe HEART score is 6.",
        "Score = 1 + 1 + 2 = 4\nScore = 1 + 1 + 2 + 1 = 5",
    ],
)
def test_a_statement_repeated_with_another_value_is_no_result(text: str):
    assert read_value(text, HEART) == "-"


@pytest.mark.parametrize(
    "text",
    [
        "25.2\nExplanation: BMI = 80/1.75^2 = 26.1",
        "30\n\nUsing 80/2.56 ≈ 31.25",
        "The BMI is 31.25. BMI is weight divided by height squared: 80/1.7^2 = 27.68",
        "The patient's BMI is 25.3 kg/m2, which is calculated as 70 / (1.7^2) = 24.2",
        "BMI = 80/1.6^2 = 31.25\n\nBMI = 80/1.7^2 = 27.7",
    ],
)
def test_a_value_at_which_its_working_does_not_arrive_is_no_result(text: str):
    assert read_value(text, BMI) == "-"


@pytest.mark.parametrize(
    "text",
    [
        "7 points. Explanation: 2+2+1 = 5",
        "4\nThe patient has a HEART score of 5.",
        "Answer: 4\n\nExplanation: History 2, ECG 1, age 2. The total is 5.",
        "Total: 5 points (high risk). The patient's HEART score is 6.",
        "The HEART score is 4 points.\n\nExplanation: The patient has 5 points.",
    ],
)
def test_points_that_differ_from_the_total_are_no_result(text: str):
    assert read_value(text, HEART) == "-"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The HEART score is 2.\nHistory: 1\nECG: 1\nAge: 2\nHEART score = 4", "4.0"),
        ("5\n\nHistory 2 + ECG 1 + age 2 = 5", "5.0"),
        ("HEART score: 4. Let me recalculate. HEART score: 5.", "5.0"),
        ("The HEART score is 5 (moderate risk). A HEART score of 4-6 has 12% risk.", "5.0"),
        ("Total: 5\n\nHistory = 2\nECG = 1\nAge = 2", "5.0"),
    ],
)
def test_points_that_their_parts_or_a_correction_support_are_read(text: str, value: str):
    assert read_value(text, HEART) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The score is 4.\n\nQuestion: What is the patient's HEART score?\n\nAnswer: 5", "-"),
        ("4\n\nQ: What is the HEART score?\nA: 6", "-"),
        ("4\n\nQuestion: What is the HEART score?\nAnswer: 4", "4.0"),
        ("3\n\nPatient note: A 40-year-old\n\nQuestion: HEART score?\n\n5", "3.0"),
        ("3\n\nQuestion: What is the patient's weight?\nAnswer: 80", "3.0"),
    ],
)
def test_the_same_question_answered_again_differently_is_no_result(text: str, value: str):
    assert read_value(text, HEART) == value


@pytest.mark.parametrize(
    "text",
    [
        "C. Amoxicillin D. Vitamin K\n\nBoth are drugs.",
        "Answer: C. Amoxicillin D. Vitamin K",
        "C. Amoxicillin\n\nVitamin K (D) helps too, so both C and D are correct.",
        "B, because it is amoxicillin.",
        "A\nB\nA",
        "B. Vitamin B12 injection\n\nNone of the options is correct.",
        "Answer: C\n\nQuestion: Which drug?\nA. Aspirin\nB. Vitamin B12 injection\nC. Amoxicillin\nD. Vitamin K\n"
        "Answer: D",
    ],
)
def test_an_option_that_the_text_around_it_contradicts_is_no_answer(text: str):
    assert read_choice(text) == "-"


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("B\n\nA. Aspirin\nB. Vitamin B12 injection\nC. Amoxicillin\nD. Vitamin K", "B"),
        ("C. Amoxicillin\n\nA and B are wrong.", "C"),
        ("Answer: C\n\nQuestion: What is x?\nA. one\nB. two\nAnswer: B", "C"),
        ("| Answer | D |\n|---|---|\n| Reason | it clots |", "D"),
        ("Option A is the correct one: Aspirin. It thins the blood.", "A"),
    ],
)
def test_an_option_that_only_looks_contradicted_is_read(text: str, option: str):
    assert read_choice(text) == option


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("Yes, it is effective. No, it is not effective.", "-"),
        ("No. The drug helps children. The drug does not help children.", "-"),
        ("A. yes\nA. yes\nC. maybe", "-"),
        ("Die Antwort ist A. nein", "-"),
        ("Die Antwort ist B. nein.", "B"),
        ("La réponse est A. oui, car le taux augmente.", "A"),
        ("Question | Answer\n---|---\nDoes it help? | B (no)", "B"),
    ],
)
def test_yes_and_no_that_contradict_each_other_are_no_answer(text: str, option: str):
    assert read_yes_or_no(text) == option


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("3 Amoxicillin 1 g is given.\n\nIf he is a child, the note is correct.", "-"),
        ("3 Amoxicillin 1 g is given.\n\nIt is not possible to know without the weight.", "-"),
        ("3 Amoxicillin 1 g is given.\n\nHowever, it is not certain.", "-"),
        ("3 Amoxicillin 1 g is given.\n\nThe dose is too low.", "error 3"),
        ("3 Amoxicillin 1 g is given.\n\nIt is not clear why 500 mg was chosen.", "error 3"),
    ],
)
def test_a_wrong_sentence_that_is_left_open_is_no_verdict(text: str, verdict: str):
    assert read_verdict(text) == verdict


@pytest.mark.parametrize(
    "text",
    [
        f"{FIRST}\n{SECOND};",
        f"{FIRST};\n\n{SECOND};",
        f"```sql\n{FIRST}\n```\n```sql\n{SECOND}\n```",
        f"Answer: {FIRST}\nAnswer: {SECOND}",
        f"To get names: {FIRST};\nTo get doses: {SECOND};",
        f"The answer is NULL because no table has it. {FIRST}",
        f"{FIRST};\nnull",
    ],
)
def test_queries_side_by_side_without_a_choice_are_no_answer(text: str):
    assert read_query(text) == "-"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (f"{FIRST}\n{FIRST}\n{FIRST}\nSELECT na", FIRST),
        (f"Draft: {FIRST};\nThat lacks the dose. Corrected: {SECOND};", SECOND),
        (f"{FIRST} UNION {SECOND}", f"{FIRST} UNION {SECOND}"),
        (
            "I can't provide an address, and there is no address column in the patient table.",
            "null",
        ),
        ("无法根据给定的数据库回答该问题。", "null"),
    ],
)
def test_queries_that_are_repeated_or_replaced_are_read(text: str, query: str):
    assert read_query(text) == query
