"""Capitalised words that no list knows, at the strict level."""

import pytest

from tests.agent.redaction.rules.en.examples import covered, find_leaked

STRICTER = {
    "UNKNOWN_WORD": (
        "then «Xochitl» came",
        "in a «Wartburg»",
        "with «Quirin» and «Mbeki-Ola»",
        "saw «Rose» here",
        "of «Zarbeck's» aunt",
        "«SZCZEPANIK» called",
        "the «Holloways»",
        "met «Grace»",
        "at «Kvitfjell»",
        "by «O'Dowd»",
    ),
}


@pytest.mark.parametrize(
    ("entity", "example"), [(e, x) for e, examples in STRICTER.items() for x in examples]
)
def test_the_strict_level_also_takes(entity: str, example: str):
    assert find_leaked(example, [entity]) == ""


KEPT = (
    "Assessment: Atrial Fibrillation, COPD; MRI and ECG were normal. Continue Metoprolol 50 mg.",
    "PAST MEDICAL HISTORY: Hypertension, Type II Diabetes Mellitus. HbA1c 7.2, SpO2 97 %.",
    "Parkinson's disease, Crohn's disease and Bell's palsy.",
    "Will the dose change? Rose fever is hay fever.",
    "1. Chest pain\n2. Dyspnea\n- Pneumonia",
)


@pytest.mark.parametrize("text", KEPT)
def test_words_of_the_field_are_known_to_the_strict_level(text: str):
    found = covered(text, ["UNKNOWN_WORD"])
    assert "".join(c for c, hit in zip(text, found, strict=True) if hit) == ""
