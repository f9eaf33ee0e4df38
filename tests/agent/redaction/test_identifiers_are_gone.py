"""Identifiers of every Safe Harbor class, in many contexts: none may be left. And harmless text stays as it is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.redaction import Redactor

# What is planted, and what of it identifies.
PLANTED = {
    "full name": ("Margaret Holloway", ["Margaret", "Holloway"]),
    "name with initial": ("Desmond T.", ["Desmond"]),
    "family name first": ("HOLLOWAY, MARGARET A", ["HOLLOWAY", "MARGARET"]),
    "name in lower case": ("margaret henderson", ["margaret", "henderson"]),
    "doctor": ("Dr. Szczepanik", ["Szczepanik"]),
    "nurse by cue": ("signed by Thandiwe Mokoena", ["Thandiwe", "Mokoena"]),
    "name with credential": ("Quirin Zellweger, MD", ["Quirin", "Zellweger"]),
    "name with apostrophe": ("Mr. Siobh\u00e1n O\u2019Dowd", ["Siobh", "Dowd"]),
    "date in numbers": ("03/14/2022", ["03/14"]),
    "date ISO with time": ("2022-03-14T08:15:00Z", ["03-14", "08:15"]),
    "date in words": ("March 14th, 2022", ["March", "14"]),
    "date day first": ("14 Mar 2022", ["Mar", "14"]),
    "date with dots": ("14.03.2022", ["14.03"]),
    "date spelled out": ("the fourteenth of March, 2022", ["fourteenth", "March"]),
    "month and year": ("March 2022", ["March"]),
    "age": ("a 94-year-old woman", ["94"]),
    "age in words": ("a ninety-three year old man", ["ninety"]),
    "age by cue": ("aged 91", ["91"]),
    "MRN": ("MRN: 0045-1234", ["0045-1234", "0045"]),
    "MRN spelled out": ("medical record number is AB12345", ["AB12345"]),
    "encounter": ("CSN 998877665", ["998877665"]),
    "account": ("account #: BX-4411", ["BX-4411", "4411"]),
    "member": ("member ID W1234", ["W1234"]),
    "beneficiary": ("HICN 1EG4TE5MK73", ["1EG4TE5MK73"]),
    "SSN": ("123-45-6789", ["123-45-6789", "6789"]),
    "SSN in part": ("SSN: XXX-XX-6789", ["6789"]),
    "phone": ("(617) 555-0143", ["555-0143", "617"]),
    "phone with extension": ("617.555.0143 ext. 4421", ["0143", "4421"]),
    "phone abroad": ("+44 20 7946 0958", ["7946", "0958"]),
    "pager": ("pager 55012", ["55012"]),
    "e-mail": ("m.holloway@ward7.example", ["holloway", "ward7"]),
    "e-mail inside": ("root@localhost.lan", ["root@", "localhost"]),
    "URL": ("https://portal.example/p/4411?x=1", ["portal.example", "4411"]),
    "IP": ("10.20.30.40", ["10.20.30.40"]),
    "IPv6": ("fe80::1ff:fe23:4567:890a", ["fe23", "4567"]),
    "MAC": ("00:1B:44:11:3A:B7", ["44:11"]),
    "street": ("4411 North Willow Creek Road, Apt 12", ["4411", "Willow", "Apt 12"]),
    "PO box": ("P.O. Box 9921", ["9921"]),
    "city and state": ("Poughkeepsie, NY 12601", ["Poughkeepsie", "12601"]),
    "ZIP": ("ZIP code 02139-4307", ["02139"]),
    "city": ("Milwaukee", ["Milwaukee"]),
    "hospital": ("Willow Creek Regional Medical Center", ["Willow", "Creek", "Regional"]),
    "hospital of": ("University of Northbrook Hospital", ["Northbrook"]),
    "clinic by name": ("Mayo Clinic", ["Mayo"]),
    "room": ("room 7B", ["7B"]),
    "NPI": ("NPI 1234567893", ["1234567893"]),
    "DEA": ("DEA# AB1234563", ["AB1234563"]),
    "plate": ("license plate 7ABC123", ["7ABC123"]),
    "VIN": ("1HGCM82633A004352", ["1HGCM82633A004352"]),
    "device": ("serial number PM-88231-X", ["88231"]),
    "bare number": ("4471182299", ["4471182299"]),
    "credit card": ("4111 1111 1111 1111", ["1111"]),
    "full-width": (
        "MRN: \uff10\uff10\uff14\uff15\uff11\uff12\uff13\uff14",
        ["\uff10\uff14", "0045"],
    ),
    "split by zero-width": ("617-5\u200b55-0143", ["0143", "555"]),
    "typographic dashes": ("123\u201345\u20136789", ["6789", "123\u2013"]),
    "encoded": ("TWFyZ2FyZXQgSG9sbG93YXk" * 5, ["TWFyZ2F"]),
}

CONTEXTS = (
    "{}",
    "The patient, {}, was admitted with chest pain and given aspirin.",
    "Follow-up: {}\nAssessment: stable angina, continue metoprolol 50 mg.",
    "({})",
    "Discharged in good condition; see {}.",
    "BP 128/76 and HR 64 were noted with {} and no fever.",
)


@pytest.mark.sample(60)
@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("context", CONTEXTS)
def test_a_planted_identifier_is_gone(redactor: Redactor, kind: str, context: str):
    planted, identifying = PLANTED[kind]
    shown = redactor.redact(context.format(planted))
    assert [part for part in identifying if part in shown] == []


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    chosen=st.lists(st.sampled_from(sorted(PLANTED)), min_size=2, max_size=8),
    gap=st.sampled_from([". ", "\n", "; "]),
)
def test_identifiers_side_by_side_are_all_gone(redactor: Redactor, chosen: list[str], gap: str):
    shown = redactor.redact(
        "Seen today" + gap + gap.join(PLANTED[kind][0] for kind in chosen) + gap + "No fever."
    )
    # Single characters and short words may well be in the text around.
    left = [part for kind in chosen for part in PLANTED[kind][1] if len(part) > 2 and part in shown]
    assert left == []


HARMLESS = (
    "Does low-dose aspirin reduce the risk of colorectal cancer in adults over 50?",
    "A 45-year-old woman with type 2 diabetes has an HbA1c of 8.4% and an eGFR of 42 mL/min/1.73 m2.",
    "Hepatitis B. Vitamin D. Influenza A. Factor V Leiden. Grade II tumour, stage C disease.",
    "BP 120/80 mmHg, HR 72, RR 16, T 98.6 F, SpO2 97% on room air; strength 5/5, murmur 2/6.",
    "Compare warfarin 5 mg with apixaban 2.5 mg twice daily for atrial fibrillation (CHA2DS2-VASc 4).",
    "Parkinson's disease, Crohn's disease, Bell's palsy and Cushing's syndrome were considered.",
    "Patients were followed for 24 months; 1,204 of 3,310 responded (36.4%, p < 0.001).",
    "Guidelines were updated in 2021. The patient may have had a stroke in 2019.",
    "Answer: B. The correct choice is C. Options: A, B, C, D.",
    "WBC 11.2, Hgb 13.1, platelets 250,000, Na 138, K 4.1, creatinine 1.02 mg/dL, LDL 130 mg/dL.",
    "Take 1-2 tablets every 4-6 hours for 3-5 days; do not exceed 4 g in 24 hours.",
    "Calculate the QTc with the Bazett formula at a rate of 88 beats per minute.",
)


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_medical_text_is_left_alone(redactor: Redactor, text: str):
    assert redactor.redact(text) == text
