"""Probabilities of all options: the highest one is the answer, if there is one."""

import pytest

from agent.reading.choice import extract_option

OPTIONS = ("Aspirin", "Clopidogrel", "Heparin", "Warfarin")


@pytest.mark.parametrize(
    ("answer", "option"),
    [
        ("A: 0.08\nB: 0.11\nC: 0.58\nD: 0.23", 2),
        ("A: 8%, B: 11%, C: 58%, D: 23%", 2),
        ("- Aspirin: about 8%\n- Clopidogrel: 11%\n- Heparin: 58%\n- Warfarin: 23%", 2),
        ("A: 0.4\nB: 0.4\nC: 0.1\nD: 0.1", None),
        ("A: 0.4\nB: 0.9\nC: 0.1\nD: 0.1", None),
        ("B - 60%, C - 40%... hard to say.", None),
    ],
)
def test_the_most_probable_option_is_read(answer, option):
    assert extract_option(answer, OPTIONS) == option
