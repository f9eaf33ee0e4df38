"""Numbers, dates and durations out of real answer styles."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.reading.numbers import find_date, find_days, find_number


@pytest.mark.parametrize(
    "answer",
    [
        "25.238",
        " 25.238\n",
        "25.238.",
        "**25.238**",
        "`25.238`",
        "$25.238$",
        r"\boxed{25.238}",
        r"$\boxed{25.238 \text{ mL/min}}$",
        "25.238 mL/min",
        "25.238 mL/min/1.73 m²",
        "25.238 mL/min per 1.73 m2",
        "25.238 kg/m2",
        "25.238 kg/m^2",
        "25.238%",
        "≈ 25.238",
        "~25.238 mg",
        "The answer is 25.238.",
        "The answer is 25.238 mL/min.",
        "The final answer is: **25.238**",
        "Answer: 25.238",
        "The estimated clearance is 25.238 mL/min.",
        "Result: 25.238 ng/mL",
        "CrCl = ((140 - 87) * 48) / (72 * 1.4) = 25.238",
        "(140-87)*48/(72*1.4)*1 = 25.238 mL/min",
        "BMI = 48 / 1.63^2\nThe answer is 25.238",
        "2.5238 × 10^1",
        "2.5238e1",
        "25.238\n",
        "The answer is 25.238. So it is 25.238.",
    ],
)
def test_a_number_in_the_ways_models_write_it(answer):
    assert find_number(answer) == pytest.approx(25.238)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1,234.5", 1234.5),
        ("12,345", 12345),
        ("-2", -2),
        ("−2", -2),  # a real minus sign
        ("+3", 3),
        (".5", 0.5),
        ("5.0", 5),
        ("The score is 7 out of 10.", 7),
        ("7/10", 7),
        ("7 points", 7),
        ("4.2 x 10^9/L", 4.2e9),
        ("The patient's CHA2DS2-VASc score is 4.", 4),
        ("HAS-BLED score: 3", 3),
        ("between 20 and 25", None),
        ("20-25 mg", None),
        ("120/80", None),
        ("I cannot compute it.", None),
        ("not enough data", None),
        ("five", None),
        ("", None),
        ("1 + 1 + 2 = 4", 4),
        ("Age 75: 2 points, stroke: 2 points. Total: 4", 4),
        ("The answer is either 3 or 4.", None),
        # What stands in brackets behind the value explains it, or is another value.
        ("The score is 5 (2 for age, 1 for sex, 2 for stroke)", 5),
        ("5 (age 2, sex 1, stroke 2)", 5),
        ("106.2 (using adjusted weight of 75 kg)", 106.2),
        ("Creatinine clearance: 106.19 mL/min (adjusted body weight 73.5 kg)", 106.19),
        ("106.2 (rounded from 106.19)", 106.2),
        ("5 (using 3)\nThe answer is 6", 6),
        ("5 (2 for age, 2 for stroke)", None),
        ("5 (6 with albumin)", None),
        ("5 (or 6)", None),
        ("5 (2 for age, 3 for sex) or 6", None),
        ("20 (18-22)", None),
        ("20 (18 to 22)", None),
        ("106 (95 adjusted)", None),
        ("106 (adjusted: 95)", None),
        ("106 (using 75 kg, not 80)", None),
        ("12 (using a corrected sodium of 140)", None),
        ("5 (using 3) and 6", None),
        ("at least 5 (2 for age, 3 for sex)", None),
        ("(5) 6", None),
    ],
)
def test_numbers_that_are_there_once_or_not_at_all(answer, expected):
    assert find_number(answer) == expected


@pytest.mark.parametrize(
    "dash", ["-", "\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2015", "\u2212"]
)
def test_any_dash_before_a_digit_is_a_minus(dash):
    assert find_number(f"{dash}2.5") == -2.5
    assert find_number(f"The base excess is {dash}2.5 mEq/L.") == -2.5
    assert find_number(f"BE = {dash} 2.5") == -2.5
    assert find_number(f"20{dash}25 mg") is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("10^3", 1000),
        ("10³", 1000),
        ("10**3", 1000),
        ("4.2 × 10³/µL", 4200),
        ("10^-3", 0.001),
        ("2*3", None),
        ("3 x 100 mg", None),
        ("1.5.2", None),
        ("1e999", None),
        ("1/2", None),
        ("½", None),
        ("- 5", 5),  # an item of a list
        ("Result:\n- 5", 5),
        ("<b>5</b>", 5),
        ("\\boxed{\\text{5 points}}", 5),
        ("The maximum score is 9. The patient's total score is 4.", 4),
        ("Total score: 4 (a score of 9 is the maximum).", 4),
    ],
)
def test_powers_products_and_scales(answer, expected):
    assert find_number(answer) == (expected if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    "answer",
    [
        "< 5",
        "<5",
        ">= 5",
        "≥5",
        "≤ 5",
        "≠ 5",
        "5+",
        "at least 5",
        "up to 5",
        "more than 5",
        "greater than or equal to 5",
        "5 or more",
        "5 mg/dL or higher",
        "exceeds 5",
        "not 5",
        "The answer is not 5.",
        "The answer is < 5.",
        "The score is at least 5.",
        "I don't think the answer is 5.",
        "It is not true that the score is 5.",
    ],
)
def test_a_bound_or_a_denial_is_no_value(answer):
    assert find_number(answer) is None


@pytest.mark.parametrize(
    "answer", ["approximately 5", "about 5", "~5", "≈ 5", "The answer is about 5.", "5, not more"]
)
def test_an_approximate_value_is_a_value(answer):
    assert find_number(answer) == 5


@pytest.mark.parametrize(
    "answer",
    [
        "14.5 weeks",
        "14.5 weeks, 2 days",
        "14 weeks, 2.5 days",
        "14½ weeks",
        "14-15 weeks",
        "14 to 15 weeks",
        "14 weeks and 2–3 days",
        "1,014 weeks",
        "at least 14 weeks",
        "14 weeks or more",
        "not 14 weeks",
    ],
)
def test_no_part_of_a_duration_is_taken_for_it(answer):
    assert find_days(answer) is None


@pytest.mark.parametrize(
    "answer",
    [
        "before 09/03/2014",
        "after September 3, 2014",
        "not 09/03/2014",
        "09/03/2014 or later",
        "03/09/2014 (DD/MM/YYYY)",
    ],
)
def test_a_date_that_is_a_bound_or_another_order(answer):
    assert find_date(answer) is None


@pytest.mark.parametrize(
    "answer",
    [
        "09/03/2014",
        "9/3/2014",
        "2014-09-03",
        "September 3, 2014",
        "Sept 3rd, 2014",
        "3 September 2014",
        "3rd of September 2014",
        "**09/03/2014**",
        "The due date is 09/03/2014.",
        "The last period was 11/27/2013, so the answer is 09/03/2014.",
        "11/27/2013 + 280 days = 09/03/2014",
    ],
)
def test_a_date_in_the_ways_models_write_it(answer):
    assert find_date(answer) == datetime.date(2014, 9, 3)


@pytest.mark.parametrize(
    "answer", ["13/40/2014", "2014", "09/2014", "", "soon", "09/03/2014 or 09/04/2014"]
)
def test_no_date_or_several(answer):
    assert find_date(answer) is None


@pytest.mark.parametrize(
    "answer",
    [
        "('14 weeks', '2 days')",
        "(14 weeks, 2 days)",
        "14 weeks, 2 days",
        "14 weeks and 2 days",
        "14 weeks 2 days",
        "14w2d",
        "14w 2d",
        "14 wks 2 d",
        "14+2",
        "100 days",
        "The gestational age is 14 weeks and 2 days.",
        "**14 weeks, 2 days**",
    ],
)
def test_a_duration_in_the_ways_models_write_it(answer):
    assert find_days(answer) == 100


def test_weeks_alone_are_whole_weeks():
    assert find_days("14 weeks") == 98
    assert find_days("('14 weeks', '0 days')") == 98


@given(st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3)))
def test_any_number_comes_out_again(value):
    assert find_number(f"The answer is {value} mg/dL.") == value


@given(st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 12, 31)))
def test_any_date_comes_out_again(value):
    assert find_date(f"{value.month}/{value.day}/{value.year}") == value
    assert find_date(f"The date is {value:%B} {value.day}, {value.year}.") == value


@given(st.text(max_size=200))
def test_no_text_breaks_the_readers(text):
    find_number(text)
    find_date(text)
    find_days(text)
