"""ICD-10 codes in answers as models give them."""

import time

import pytest

from agent.metrics.icd10 import CATEGORIES, find_named_codes, read_listed_codes


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        ("S72.001A", "S72001A"),
        ("M1A.0110, C7B.00", "M1A0110 C7B00"),
        ("W19.XXXA", "W19XXXA"),
        ("s72.001a, c7b.00 and w19.xxxa", "S72001A C7B00 W19XXXA"),
        ("g43.a0", "G43A0"),
        ("Z3A.08; O9A.119; D3A.010; C4A.0", "Z3A08 O9A119 D3A010 C4A0"),
        ("I10", "I10"),
        ("i10", "I10"),
        ("I10.", "I10"),
        ("I10., E11.9.", "I10 E119"),
        ("I10,E119,S72001A", "I10 E119 S72001A"),
        ("I10 E11.9 N18.6", "I10 E119 N186"),
        ("I10; E11.9; N18.6", "I10 E119 N186"),
        ("I10, E11.9, and N18.6", "I10 E119 N186"),
        ("I10\nE11.9\nN18.6", "I10 E119 N186"),
        ("- I10\n- E11.9", "I10 E119"),
        ("1. I10\n2) E119\n3: N18", "I10 E119 N18"),
        ("**I10**, **J18.9**", "I10 J189"),
        ("**I10.** Hypertension", "I10"),
        ("`I10`", "I10"),
        ("I10 - Essential hypertension\nE11.9 - Diabetes", "I10 E119"),
        ("I10: Essential hypertension", "I10"),
        ("I10 Essential (primary) hypertension", "I10"),
        ("I10, essential hypertension", "I10"),
        ("E11.9 (DM); I10 (HTN)", "E119 I10"),
        ("E11.9 (DM, type 2), I10 (HTN)", "E119 I10"),
        ("E11.9: DM, I10: HTN", "E119 I10"),
        ("E11.9 - DM; I10 - HTN", "E119 I10"),
        ("E11.9 Type 2 DM, I10 hypertension", "E119 I10"),
        ("1. S72.001A 2. W19.XXXA 3. I10", "S72001A W19XXXA I10"),
        ("1) I10 2) E119 (DM)", "I10 E119"),
        ("**S72.001A** – hip fracture; **I10**", "S72001A I10"),
        ("Hypertension I10, Diabetes E11.9", "I10 E119"),
        ("Diabetes E11.9; hypertension I10.", "I10 E119"),
        ("E11.9, vitamin B12 low, T4 normal, L5 fracture", "E119"),
        ("E11.9; B12; T4; L5", "E119"),
        ("Diabetes E11.9, lumbar L5, thyroid T4, low B12", "E119"),
        ("The patient, who wore an N95, was seen for E11.9", "E119"),
        ("E11.9, given T20 and L50 for B12", "E119"),
        ("given D10, then D50", ""),
        ("low vitamin B12, free T4, fracture of L5", ""),
        ("hip fracture, I10", ""),
        ("no J18.9", "J189"),
        ("J18.9: denied", "J189"),
        ("I10 (essential hypertension)", "I10"),
        ("Essential hypertension: I10", "I10"),
        ("Essential hypertension - I10", "I10"),
        ("Essential hypertension -> I10", "I10"),
        ("Essential hypertension (I10)", "I10"),
        ("Essential hypertension (I10), diabetes (E11.9)", "I10 E119"),
        ("Essential hypertension (ICD-10: I10)", "I10"),
        ("ICD-10-CM code I10", "I10"),
        ("The ICD-10 codes are I10 and E119.", "I10 E119"),
        ("Codes: I10, E119, N186", "I10 E119 N186"),
        ("The patient has hypertension and pneumonia, so J18.9 and I10 apply.", "J189 I10"),
        (
            "| Code | Diagnosis |\n|---|---|\n| I10 | Hypertension |\n| E119 | Diabetes |",
            "I10 E119",
        ),
        ('{"codes": ["I10", "E119"]}', "I10 E119"),
        ('{"code": "I10", "name": "Hypertension"}', "I10"),
        ("['I10', 'S72.001A']", "I10 S72001A"),
        ("0DJ08ZZ", "0DJ08ZZ"),
        ("0DJ08ZZ, I10, 02HV33Z", "0DJ08ZZ I10 02HV33Z"),
        ("Endoscopy: 0dj08zz", "0DJ08ZZ"),
        ("Pneumonia is coded as J189.", "J189"),
        # What only looks like a code.
        ("Vitamin B12 deficiency.", ""),
        ("B12", ""),
        ("B12, folate, T4 and TSH were normal; L5 radiculopathy, fracture of T12.", ""),
        ("Labs: B12, T4, L5", ""),
        ("protein S100 and BRAF V600E, parvovirus B19", ""),
        ("He takes coenzyme Q10 daily.", ""),
        ("A 1-year-old with HbA1c of 9 and an SpO2 of 88, H1N1, CA125, CD20, COVID19", ""),
        ("T12.", ""),
        ("see www.b12.com or v1.2.3", ""),
        ("E10-E14", ""),
        ("1234567", ""),
        ("ABCDEFG", ""),
        ("AI10B", ""),
        ("No codes apply.", ""),
        ("I cannot give billing codes.", ""),
        ("", ""),
    ],
)
def test_the_codes_that_an_answer_names(answer, codes):
    assert find_named_codes(answer) == set(codes.split())


@pytest.mark.parametrize(
    ("gold", "codes"),
    [
        ("S72.001A,I10,0DJ08ZZ", "S72001A I10 0DJ08ZZ"),
        ("S72001A,I10", "S72001A I10"),
        ("['B20', 'M1A.0110']", "B20 M1A0110"),
        ("i10; e11.9.", "I10 E119"),
        ("", ""),
        (" , .", ""),
    ],
)
def test_a_gold_column_is_a_list_with_or_without_points(gold, codes):
    assert read_listed_codes(gold) == set(codes.split())


def test_the_table_of_categories_is_whole():
    assert len(CATEGORIES) == 1918
    assert {"A00", "C4A", "Z3A", "U07", "T88", "Z99"} <= CATEGORIES
    assert not {"B12", "T12", "L50X"} & CATEGORIES


@pytest.mark.parametrize(
    "piece",
    ["I10 ", "I10,", "I10 and ", "A", "1", "(", "E11.", "I10 (", " ", "0DJ08ZZ", "code ", "I10 - "],
)
def test_reading_codes_is_fast_whatever_repeats(piece):
    text = (piece * 100_000)[:100_000]
    before = time.process_time()
    find_named_codes(text)
    assert time.process_time() - before < 4
