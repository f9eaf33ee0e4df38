"""A number beside which another one stands, without a choice between them, is not read."""

import pytest

from agent.reading.numbers import find_number
from agent.reading.quantity import find_quantity

STROKE = "What is the patient's CHA2DS2-VASc Score?"
WEIGHT = "Based on the patient's height and target BMI, what is the patient's target weight in kg?"
FLUID = "Based on the patient's weight, what is the patient's maintenance fluid in mL/hr?"
MASS = "What is the patient's body mass mass index (BMI)? Your answer should be in terms of kg/m²."
WATER = "What is the patient's free water deficit in terms of liters?"
QT = (
    "Using the Fridericia Formula for corrected QT interval, what is the patient's corrected QT interval in"
    " terms of msec?"
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (WEIGHT, "144.7 lb"),
        (FLUID, "1560 mL per day."),
        (FLUID, "65 mL/hr. Check: 40 + 20 + 8 = 68 mL/hr."),
        (MASS, "BMI: 27.4 kg/m². (84 / 1.72² = 28.4)"),
        (
            WATER,
            "With 0.6 as the TBW factor the free water deficit is 4.2 L; with 0.5 it is 3.5 L.",
        ),
        (STROKE, "CHA2DS2-VASc 4. Actually the TIA in 2015 counts 2 more."),
        (STROKE, "Sum: 1 + 2 + 1 = 4. But she also has heart failure."),
        (STROKE, "CHA2DS2-VASc: 5\n- CHF 1\n- HTN 1\n- Age 2\nTotal 4"),
        (STROKE, "- Age 65-74: 1\n- Female: 1\n- HTN: 1"),
        (STROKE, "CHA2DS2-VASc 3, or 4 with the aortic plaque."),
        (STROKE, "The note says 5."),
        (QT, "QTc = 453 ms using Bazett's formula."),
        (QT, "431 ms (Fridericia: 388/0.732^0.333 = 440 ms)"),
    ],
)
def test_a_value_against_which_another_stands_is_not_read(question: str, answer: str):
    assert find_quantity(question) is not None
    assert find_number(answer, question) is None


@pytest.mark.parametrize(
    ("question", "answer", "value"),
    [
        (WEIGHT, "65.6 kg (144.7 lb)", 65.6),
        (FLUID, "1560 mL/24 h = 65 mL/h", 65),
        (MASS, "BMI: 28.4 kg/m². (84 / 1.72² = 28.39)", 28.4),
        (WATER, "With 0.5 as the TBW factor the free water deficit is 3.5 L.", 3.5),
        (STROKE, "CHA2DS2-VASc: 4\n- CHF 0\n- HTN 1\n- Age 2\n- Female 1\nTotal 4", 4),
        (STROKE, "The note says 5, but the CHA2DS2-VASc is 4.", 4),
        (QT, "By Bazett 453 ms; by Fridericia 431 ms.", 431),
        (QT, "388 / 0.901 = 430.6, i.e. about 431 msec", 431),
        (QT, "QTc = 453.5 ms. Rounded, 454 ms.", 454),
    ],
)
def test_what_explains_or_repeats_a_value_does_not_stand_against_it(question, answer, value):
    assert find_number(answer, question) == value
