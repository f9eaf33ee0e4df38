"""A short answer is cut off inside an option's text: the text that it began must be that of its letter."""

import pytest

from agent.reading.choice import extract_option

OPTIONS = (
    "Small fragments of DNA that contain a stop codon.",
    "Small fragments of RNA that are synthesized first.",
    "Hydration; thiolysis.",
    "Thiolysis; hydration.",
)


@pytest.mark.parametrize(
    "answer",
    [
        "A. Small fragments of RNA that are",
        "C. Thiolysis",
        "(D) Hydration",
        "B) Small fragments of DNA that contain",
    ],
)
def test_a_letter_with_the_beginning_of_another_options_text_is_not_read(answer: str) -> None:
    assert extract_option(answer, OPTIONS) is None


@pytest.mark.parametrize(
    ("answer", "option"),
    [
        ("A. Small fragments", 0),
        ("B. Small fragments of RNA that are synth", 1),
        ("D. Thiolysis", 3),
        ("C. It is first", 2),
        ("B", 1),
    ],
)
def test_a_letter_with_the_beginning_of_its_own_text_is_read(answer: str, option: int) -> None:
    assert extract_option(answer, OPTIONS) == option
