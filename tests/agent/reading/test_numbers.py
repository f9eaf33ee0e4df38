"""Numbers, dates and durations out of real answer styles."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.reading.numbers import (
    RULES,
    find_date,
    find_days,
    find_number,
    read_date,
    read_duration,
    read_number,
)
from agent.reading.stated_value import ASKED


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
        ("five", 5),
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
        ("½", 0.5),
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


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # The final statement comes before an earlier equation.
        ("Weight = 80 kg.\n\n25.238 mL/min", 25.238),
        (
            "Step 1: BMI = 48/1.63² = 18.1\nStep 2: use 48 kg\nStep 3: 53×48/100.8 = 25.2 mL/min",
            25.2,
        ),
        ("BMI = 80/1.6² = 31.25, so CrCl = (140−50)×68/(72×1.0) = 85 mL/min", 85),
        ("Weight: 80 kg\nHeight: 160 cm\nBMI: 31.25 kg/m²", 31.25),
        ("The anion gap is 6.0. Hence, the patient's delta gap is -6.0 mEq/L.", -6),
        ("With a weight of 48 kg and an age of 87, the clearance is 25.2 mL/min.", 25.2),
        ("The answer is 3. Let me check: 1 + 1 + 2 = 4. The answer is 4.", 4),
        ("### Final Answer\n\n**25.24 mL/min**", 25.24),
        ("<answer>25.24</answer>", 25.24),
        ("#### 25.24", 25.24),
        (
            r"$$\text{CrCl} = \frac{53 \times 48}{72 \times 1.4} \approx 25.24 \, \text{mL/min}$$",
            25.24,
        ),
        # The answer comes first, its explanation after it.
        ("31.25\n\nThe weight is 80 kg and the height 1.6 m.", 31.25),
        ("Answer: 4\nAge 65-74: 1\nFemale: 1\nStroke: 2", 4),
        ("4. Age 65-74 gives 1, female 1 and stroke 2.", 4),
        ("CHA2DS2-VASc = 4:\n- Age 75: 2\n- Female: 1\n- Hypertension: 1", 4),
        # Criteria with points, then their total.
        ("1. Age 70: 1 point\n2. Hypertension: 1 point\n3. Female: 1 point\n\nTotal = 3 points", 3),
        ("| Criterion | Points |\n|---|---|\n| Age | 2 |\n| HTN | 1 |\n| **Total** | **3** |", 3),
        ("Age (1) + female (1) + stroke (2) = 4 points", 4),
        ("She gets 1 point for age, 1 for sex and 2 for stroke, for a total of 4.", 4),
        ("Eye opening: 3\nVerbal: 4\nMotor: 5\nGCS: 12", 12),
        # Sentences that interpret the result are passed over.
        ("The anion gap is 15 mEq/L. The normal range is 8-12 mEq/L.", 15),
        ("The CHA2DS2-VASc score is 4, which corresponds to a 7.2% annual stroke risk.", 4),
        ("HEART score: 4\n\nRisk: 12-16%\nRecommendation: admit for 24 hours", 4),
        ("The QTc is 487.6 ms (prolonged; normal < 450 ms).", 487.6),
        ("103 mL/hr (2472 mL/day)", 103),
        # Digits of names, scales and units.
        ("CURB-65: 3", 3),
        ("The FIB-4 index is 2.45.", 2.45),
        ("Using the 2021 CKD-EPI equation, the eGFR is 127.7 mL/min/1.73 m².", 127.7),
        ("The 10-year risk is 12.3 %.", 12.3),
        ("GCS = 12/15", 12),
        ("1.5 / 12.5", 1.5),
        ("3 of 4 criteria are met", 3),
        ("25,24 mL/min", 25.24),
        ("delta gap = minus 6 mEq/L", -6),
        ("The score is zero.", 0),
        ("MELD Na score: 21.6, rounded to 22", 22),
        # JSON, also as Python writes it, and cut off.
        ('{"step_by_step_thinking": "80 kg ... = 25.2", "answer": "25.2 mL/min"}', 25.2),
        ("{'step_by_step_thinking': '80 kg', 'answer': '25.2'}", 25.2),
        ('{"step_by_step_thinking": "= 20.", "answer": "25.2', 25.2),
        ('{"rcri": 2, "event_risk_percent": 6.6, "class": 3}', 2),
    ],
)
def test_the_stated_result_among_other_numbers(answer, expected):
    assert find_number(answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "The weight is 80 kg and the height is 160 cm.",
        "Weight: 80 kg\nHeight: 160 cm",
        "Age over 75: 2\nStroke: 2\nHypertension: 1",
        "CrCl = (140 - 87) × 48 / (72 ×",
        "Using actual weight, the clearance is 25; using ideal weight, it is 30.",
        "38.26 if not Black, 46.4 if Black",
        "The score is 4.\n\nAlternatively, if hypertension is counted, it is 5.",
        "4\n\nAge: 2 points. Stroke: 2 points. Sex: 1 point. Total = 5",
        "Centor Score: 1\n\nExplanation: cough (+1), nodes (+1). The patient's Centor Score is 2.",
        "5\n\n6",
        "3? Or maybe 4.",
        "25.2 ± 0.5",
        "1:1",
        "Corrected calcium: 9.32 mg/dL = 2.33 mmol/L",
        "The answer is 25.2. Wait, I made a mistake.",
        "The patient weighs 80 kg. Therefore, the clearance cannot be determined.",
        "Answer: not calculable (only the age of 87 is given)",
        "If the patient were older, the score would be 5.",
        '{"reasoning": "fever (+1)", "score": null}',
    ],
)
def test_several_candidates_and_no_clear_statement(answer):
    assert find_number(answer) is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("9/23/14", (2014, 9, 23)),
        ("23/09/2014", (2014, 9, 23)),  # there is no month 23
        ("03.09.2014", None),  # with points, the day may come first
        ("2014/09/23", (2014, 9, 23)),
        ("23-Sep-2014", (2014, 9, 23)),
        ("Tuesday, September 23rd, 2014", (2014, 9, 23)),
        ("Due date: September 23, 2014. Based on LMP December 11, 2013.", (2014, 9, 23)),
        ("The last period began on 12/11/2013. Hence, it is due on 09/23/2014.", (2014, 9, 23)),
        ("09/23/2014, not 09/17/2014.", (2014, 9, 23)),
        ("The patient's last period began on 12/17/2009.", None),
        ("between 09/11/2014 and 09/17/2014", None),
    ],
)
def test_the_stated_date_among_others(answer, expected):
    assert find_date(answer) == (expected and datetime.date(*expected))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("14 2/7 weeks", 100),
        ("The gap is 100 days, i.e. 14 weeks and 2 days.", 100),
        ("100 days / 7 = 14.29 weeks, so 14 weeks and 2 days", 100),
        ("Gestational age: 14 weeks and 2 days\n\nTerm is at 40 weeks.", 100),
        ("fourteen weeks and two days", 100),
        ("14 semanas y 2 días", 100),
        ('{"weeks": 14, "days": 2}', 100),
        ("6 days", 6),
        ("10 weeks by LMP, 11 weeks by ultrasound", None),
    ],
)
def test_the_stated_duration_among_others(answer, expected):
    assert find_days(answer) == expected


@pytest.mark.parametrize(("rule", "example"), [(rule, RULES[rule][1]) for rule in RULES])
def test_each_rule_reads_its_example(rule, example):
    question = "What is the patient's CHA2DS2-VASc Score?" if rule == ASKED else ""
    reading = read_number(example, question)
    assert reading is not None
    assert reading.rule == rule


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Weight = **80** kg.\n\n  ≈ **25.238** mL/min", "25.238"),
        (r"\[ \boxed{25.24 \; \text{mL/min}} \]", "25.24"),
        ("It is 4.2 × 10³ per µL.", "4.2 × 10³"),
        ("Ｔｏｔａｌ： ７ points", "７"),
        ('{"answer": "25.2 mL/min"}', "25.2"),
    ],
)
def test_a_reading_shows_where_the_number_stands(answer, expected):
    reading = read_number(answer)
    assert reading is not None
    assert answer[reading.start : reading.end] == expected
    assert float(reading.value) == find_number(answer)


def test_a_reading_shows_where_a_date_or_duration_stands():
    answer = "LMP: **12/11/2013**.\n\nThe due date is **September 23, 2014**."
    date = read_date(answer)
    assert date is not None
    assert (date.value, answer[date.start : date.end]) == ("2014-09-23", "September 23, 2014")
    answer = "She is at *14 weeks and 2 days* today."
    duration = read_duration(answer)
    assert duration is not None
    assert (duration.value, answer[duration.start : duration.end]) == ("100", "14 weeks and 2 days")


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


@given(st.text(alphabet="0123456789.,:=*|{}\\\n -²½é\u0301％weks", max_size=80))
def test_a_shown_value_is_the_scored_value(text):
    number, reading = find_number(text), read_number(text)
    assert (number is None) == (reading is None)
    if reading is not None:
        assert float(reading.value) == number
        assert 0 <= reading.start < reading.end <= len(text)
