"""The letter extraction over the ways models really answer a multiple-choice question."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.reading.choice import extract_option

YES_NO = ("yes", "no", "maybe")
DRUGS = ("Aspirin", "Vitamin B12 injection", "Amoxicillin", "A patient leaflet")
BUGS = ("Streptococcus pyogenes", "E. coli", "C. difficile", "B. anthracis", "A. baumannii")
HEPATITIS = ("Hepatitis A", "Hepatitis C", "Hepatitis B", "Hepatitis D")
CELLS = ("T cells", "B cells", "Mast cells", "D-dimer")


@pytest.mark.parametrize(
    "answer",
    [
        "B",
        "b",
        " B\n",
        "B.",
        "B)",
        "B:",
        "(B)",
        "(b)",
        "[B]",
        "<B>",
        '"B"',
        "'B'",
        "**B**",
        "**B.**",
        "*B*",
        "`B`",
        "__B__",
        "# B",
        "Ｂ",  # full width
        "$B$",
        r"\boxed{B}",
        r"$\boxed{\text{B}}$",
        "B. Vitamin B12 injection",
        "B) Vitamin B12 injection",
        "(B) Vitamin B12 injection",
        "B: Vitamin B12 injection",
        "B - Vitamin B12 injection",
        "B – it replaces what is missing",
        "**B. Vitamin B12 injection**",
        "**B**. Vitamin B12 injection",
        "B. Because intrinsic factor is lacking.",
        "B\n\nThe patient lacks intrinsic factor.",
        "B.\nExplanation: Aspirin (A) would not help.",
        "Answer: B",
        "Answer: b",
        "answer: B.",
        "Answer: (B)",
        "Answer: **B**",
        "**Answer:** B",
        "**Answer: B**",
        "Answer: B. Vitamin B12 injection",
        "Answer: B) Vitamin B12 injection",
        "Answer: option B",
        "Answer = B",
        "Answer:\nB",
        "Final answer: B",
        "Final Answer: **B**",
        "The final answer is (B).",
        "The final answer is $\\boxed{B}$.",
        "The answer is B",
        "The answer is B.",
        "The answer is (B).",
        "The answer is: B",
        "The answer is B because intrinsic factor is lacking.",
        "The answer is B, since the ileum was removed.",
        "The correct answer is B.",
        "The correct answer is **B. Vitamin B12 injection**.",
        "The correct answer is **(B) Vitamin B12 injection**.",
        "The correct option is B.",
        "The best choice is B.",
        "The most likely answer is B (vitamin B12 injection).",
        "So the answer would be B.",
        "Therefore, the answer is therefore B.",
        "The correct answer is option B.",
        "I would choose B.",
        "I choose option B.",
        "I'd go with B.",
        "I select B because it is safe.",
        "B is correct.",
        "B is the correct answer.",
        "Option B",
        "Option B.",
        "Option (B)",
        "option b",
        "Choice B",
        "Vitamin B12 injection",
        "vitamin b12 injection.",
        "**Vitamin B12 injection**",
        "The answer is vitamin B12 injection.",
        "Answer: Vitamin B12 injection",
        "Vitamin B12 injection, because intrinsic factor is lacking.",
        "The ileum absorbs it.\n\nB",
        "The ileum absorbs it.\n\n**B**",
        "The ileum absorbs it.\n\nB. Vitamin B12 injection",
        "Aspirin does not help. Amoxicillin treats infections.\n\nThe answer is B.",
        "Option A is wrong because it thins the blood. Option C is an antibiotic. The answer is B.",
        "A. Aspirin: wrong\nB. Vitamin B12 injection: right\nC. Amoxicillin: wrong\n\nAnswer: B",
        "The answer is C? No.\nFinal answer: B",
        "Step 1: the ileum is gone.\nStep 2: B12 cannot be absorbed.\nFinal answer: B",
        "> B",
        "B\u200b",
        "- B",
        "• B. Vitamin B12 injection",
        '{"answer": "B"}',
        "<answer>B</answer>",
        "Ans: B",
        "~~A~~ B",
        "The ileum absorbs it, hence \\boxed{B}.",
        "\\boxed{\\text{B. Vitamin B12 injection}}",
        "Therefore, B.",
        "I think B is correct.",
        "I'd say B, but I'm not sure.",
        "B is the most likely answer.",
        "B is most likely.",
        "Option B is the best choice.",
        "The answer B is correct.",
        "Option B, because intrinsic factor is lacking.",
        "The answer is B, not A.",
        "The answer is B rather than A.",
        "B is the correct answer because A is not enough.",
        "B. Vitamin B12 injection. Aspirin is wrong.",
        "The answer is B. Aspirin is wrong.",
        "Correct answer: B\nIncorrect answers: A, C, D",
        "Since the patient is not pregnant, the answer is B.",
        "The patient has no fever so the answer is B.",
        "In the second trimester the answer is B.",
        "Vitamin B12 injection (B)",
        "Vitamin B12 injection is the best next step.",
        "Aspirin is contraindicated; vitamin B12 injection is correct.",
        "The ileum absorbs it.\n\nVitamin B12 injection",
        "Sorry, I misread. The answer is B.",
    ],
)
def test_an_answer_that_names_one_option(answer: str):
    assert extract_option(answer, DRUGS) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   ",
        "...",
        "E",  # there is no such option
        "Answer: F",
        "I cannot answer this question.",
        "I'm sorry, but I can't give medical advice.",
        "As an AI language model, I cannot diagnose.",
        "I don't know.",
        "A patient with an ileal resection needs supplements.",
        "A 45-year-old man was seen.",
        "A case like this is hard.",
        "Be careful with injections.",
        "Do not give anything.",
        "A and C",
        "A or B",
        "A, B",
        "A/B",
        "A & C",
        "(A) and (C)",
        "Answer: A, C",
        "Answer: A and C",
        "Answer: A or B",
        "The answer is A/B.",
        "Both A and C are correct.",
        "The answer is either A or C.",
        "Option A or option C",
        "A\nB",
        "A. Aspirin\nB. Vitamin B12 injection\nC. Amoxicillin",
        "A is correct. C is correct.",
        "The answer is not A.",
        "None of the above.",
        "All of the above",
        "Refused",
        "The answer is B? Perhaps.",
        "Is the answer B?",
        "If she were pregnant, the answer would be B.",
        "The answer is A, unless she is pregnant.",
        "A would be correct if she were pregnant.",
        "A is correct only in children.",
        "The answer is B. Actually, the ileum is fine.",
        "B\nI misread: C is meant.",
        "A is correct, and C is correct.",
        "A is correct, and so is C.",
        "A, B, and C are correct.",
        "B is correct, but C is better.",
        "Vitamin B12 injection (A)",
        "A. Aspirin thins the blood.\nB. This replaces what is missing.\nC. An antibiotic.\nSo the injection it is.",
        "The answer is a (rare) deficiency.",
        "A (rare) deficiency.",
        "The answer is B-lactam.",
        "The answer is A1c.",
    ],
)
def test_an_answer_that_names_none_or_several(answer: str):
    assert extract_option(answer, DRUGS) is None


@pytest.mark.parametrize(
    "answer",
    [
        "Option A is incorrect.",
        "I can rule out (A).",
        "Option A can be excluded",
        "(A) is wrong",
        "(A) can be eliminated.",
        "Eliminate A.",
        "A is likely wrong. C fits better.",
        "B is likely incorrect",
        "B is the best option to avoid.",
        "It is not true that B is correct",
        "It is not true, as some say, that B is correct.",
        "A: B",
        "A. B",
        "A. Aspirin is wrong",
        "A) Aspirin: wrong",
        "A. Aspirin ❌",
        "B: incorrect",
        "B - unlikely",
        "B. Not indicated here.",
        "Answer: B is wrong.",
        "Answer: not A",
        "Answer: anything but A",
        "The answer is A, which is wrong.",
        "The answer is definitely not A.",
        "The answer is unlikely to be A.",
        "The answer cannot be A.",
        "I don't think the answer is A.",
        "I doubt that the answer is A.",
        "Nobody would say the answer is A.",
        "There is no evidence that the answer is A.",
        "The incorrect option is B.",
        "The common wrong answer: A",
        "The trap answer is A.",
        "The second best answer is B.",
        "My initial answer was A.",
        "A is the least likely.",
        "B is not correct.",
        "B isn't right.",
        "All but A.",
        "Neither A nor B.",
        "Option B would be harmful.",
        "Option B is contraindicated.",
        "Option B is the second most likely.",
        "Not aspirin.",
        "Aspirin is wrong.",
        "Aspirin: wrong",
        "Aspirin (contraindicated)",
    ],
)
def test_an_option_that_is_rejected_earns_nothing(answer: str):
    assert extract_option(answer, DRUGS) is None


@pytest.mark.parametrize(
    ("answer", "options", "expected"),
    [
        ("Hepatitis B is the most likely diagnosis.", HEPATITIS, 2),
        ("Hepatitis B is the most likely diagnosis.", DRUGS, None),
        ("The answer is Hepatitis B.", HEPATITIS, 2),
        ("The most likely diagnosis is hepatitis B infection.", HEPATITIS, 2),
        ("The patient has hepatitis A.", HEPATITIS, 0),
        ("Influenza A is the best answer.", DRUGS, None),
        ("Group B is correct.", DRUGS, None),
        ("A.V. fistula", DRUGS, None),
        ("The answer is no longer clear; overall yes.", YES_NO, 0),
        ("No. 1 cause of death.", YES_NO, None),
        ("Yes and no.", YES_NO, None),
        ("Yes. Wait, no.", YES_NO, 1),
        ("No, it is not effective.", YES_NO, 1),
        ("Yes, it is not harmful.", YES_NO, 0),
        ("Answer: B. No, the trial showed no benefit.", YES_NO, 1),
        ("The trial showed a benefit.\n\nYes.", YES_NO, 0),
        ("1.5 mg", ("15 mg", "20 mg"), None),
        ("The answer is 1.5 mg.", ("15 mg", "1.5 mg"), 1),
        ("O-", ("O+", "O-"), 1),
        ("<7 days", (">7 days", "<7 days"), 1),
        ("B. No treatment", ("Aspirin", "No treatment"), 1),
        ("The answer is B. Rule out PE.", ("Aspirin", "Rule out PE"), 1),
        ("D. Can’t be etched", ("10 s", "20 s", "30 s", "Can't be etched"), 3),
        ("All of the above are correct.", ("a", "b", "c", "All of the above"), 3),
        ("Answer: D. A and C", ("x", "y", "z", "A and C"), 3),
    ],
)
def test_names_numbers_and_words_that_hold_an_option(answer, options, expected):
    assert extract_option(answer, options) == expected


def test_a_loop_is_no_choice():
    assert extract_option("The answer is B. " * 300, DRUGS) == 1
    assert extract_option("The answer is B. " * 301, DRUGS) is None
    assert extract_option("B" + " " * 100_000, DRUGS) is None


@pytest.mark.parametrize(
    ("answer", "options", "expected"),
    [
        ("Yes", YES_NO, 0),
        ("yes.", YES_NO, 0),
        ("No, the trial found no difference.", YES_NO, 1),
        ("Maybe", YES_NO, 2),
        ("A. yes", YES_NO, 0),
        ("A. Yes", YES_NO, 0),
        ("(C) maybe", YES_NO, 2),
        ("The answer is maybe.", YES_NO, 2),
        ("Answer: A (yes)", YES_NO, 0),
        ("A. no", YES_NO, None),  # letter and text name different options
        ("A) No", YES_NO, None),
        ("Answer: A (no)", YES_NO, None),
        ("C. difficile", BUGS, 2),
        ("E. coli", BUGS, 1),
        ("E. coli is the usual cause.", BUGS, 1),  # a name, not option E
        ("The answer is E. coli.", BUGS, 1),
        ("The answer is C. difficile because of the antibiotics.", BUGS, 2),
        ("Answer: E. A. baumannii", BUGS, 4),
        ("E. A. baumannii", BUGS, 4),
        ("C. C. difficile", BUGS, 2),
        ("B cells", CELLS, 1),
        ("B cells make antibodies, T cells do not.", CELLS, None),
        ("The answer is B cells.", CELLS, 1),
        ("Answer: T cells", CELLS, 0),
        ("D-dimer", CELLS, 3),
        ("Answer: D-dimer", CELLS, 3),
        ("D", CELLS, 3),
        ("The answer is A patient leaflet.", DRUGS, 3),  # an article is not option A
        ("The answer is B, a vitamin.", DRUGS, 1),
        ("A", ("B", "A"), 0),  # blood groups: a lone letter is the option's letter
        ("A", (), None),
        ("yes", ("yes", "yes"), None),  # two options of one text
    ],
)
def test_letters_that_are_names_and_texts_that_are_letters(answer, options, expected):
    assert extract_option(answer, options) == expected


@given(st.text(alphabet=string.printable, max_size=300))
def test_no_text_breaks_the_reader(answer):
    found = extract_option(answer, DRUGS)
    assert found is None or 0 <= found < len(DRUGS)


@given(
    st.integers(0, 3),
    st.sampled_from(["{}", "({})", "**{}**", "Answer: {}", "The answer is {}.", "{}."]),
)
def test_every_letter_in_every_common_style(index, style):
    assert extract_option(style.format("ABCD"[index]), DRUGS) == index


def test_a_very_long_answer_is_read_in_time():
    rambling = "the answer is (" * 20_000 + "A" * 20_000
    assert extract_option(rambling, DRUGS) in (None, 0)
