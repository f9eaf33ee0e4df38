"""The letter extraction over a corpus of real answer styles: nothing right is missed, nothing is guessed."""

from pathlib import Path

import pytest

from agent.reading.choice import extract_option

OPTIONS = {
    "drugs": ("Aspirin", "Vitamin B12 injection", "Amoxicillin", "Vitamin K"),
    "yesno": ("yes", "no", "maybe"),
    "clear": (
        "Has a history of homelessness",
        "Does not have a history of homelessness",
        "Uncertain",
    ),
    "heparin": ("Aspirin", "Clopidogrel", "Heparin", "Warfarin"),
    "denials": (
        "Cannot be etched",
        "Should be avoided in pregnancy",
        "Is not a substrate",
        "Contraindicated in asthma",
    ),
    "bins": ("Red", "Yellow", "Blue", "Black"),
    "causes": ("Dementia", "Opioid intoxication", "Delirium", "Urinary tract infection"),
    "counts": ("400", "900", "1800", "3600"),
    "neck": (
        "Lateral radiographs of the neck",
        "Racemic epinephrine and corticosteroids",
        "Intravenous antibiotics",
        "Trial of bronchodilators",
    ),
    "statements": (
        "It raises the blood pressure",
        "It lowers the heart rate",
        "It is excreted by the kidney",
        "It crosses the placenta",
    ),
    "letters": ("a", "c", "bc", "ad"),  # of MedMCQA: combinations of statements
}


def corpus() -> list[tuple[str, str, str]]:
    lines = Path(__file__).with_name("answer_styles.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("# ")]
    return [(question, expected, unescaped(answer)) for question, expected, answer in rows]


def unescaped(text: str) -> str:
    return "\\".join(part.replace("\\n", "\n") for part in text.split("\\\\"))


CORPUS = corpus()
NAMED = [row for row in CORPUS if row[1] != "-"]
UNREAD = [row for row in CORPUS if row[1] == "-"]


@pytest.mark.parametrize(("question", "expected", "answer"), NAMED)
def test_the_option_that_an_answer_names_is_not_missed(question, expected, answer):
    found = extract_option(answer, OPTIONS[question])
    assert found is not None
    assert "ABCD"[found] == expected


@pytest.mark.parametrize(("question", "_", "answer"), UNREAD)
def test_an_answer_that_names_none_or_several_is_not_guessed(question, _, answer):
    assert extract_option(answer, OPTIONS[question]) is None


def test_the_corpus_is_large_and_says_nothing_twice():
    assert len(NAMED) >= 150
    assert len(UNREAD) >= 100
    assert len({(question, answer) for question, _, answer in CORPUS}) == len(CORPUS)
