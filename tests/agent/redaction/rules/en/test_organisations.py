"""Employers, insurers, shops, schools, prisons and practices, by a cue or by the last word of their name."""

import pytest

from agent.redaction.rules.en.organisations import JUDGED
from tests.agent.redaction.rules.en.examples import RULES, SAFE_HARBOR, find_leaked

ORGANISATIONS = ["ORGANIZATION", "ADDRESS"]


@pytest.mark.parametrize(
    "example",
    [
        "Employer: «Granite Falls Smelting & Alloy» (Plant 2",
        "Union: «Amalgamated Furnace Workers Local 318»",
        "his union («Pilots' Guild Federation», rep",
        "team, one more from «BluegrassOPA»",
        "Charter «SkyLarch Aviation» tail",
        "reordered thru «Pelican Home Oxygen». Source",
        "deployed w/ «Navy Seabees», video",
        "parked behind the «Dobson's Hardware» in",
        "outside «Harcastle Tyres», corner",
        "MD / «Lake Sable Urology»",
        "F/u: «Sunflower Pediatrics» 3/4",
        "@ «Canal Street Endodontics»",
        "between «Good Anchor Shelter» and his car",
        "released from «Orrin County Jail» on bail",
        "nurse at «St Bede's C of E Primary», with",
        "rm «Hadley Pavilion 212-B»",
        "try «Sycamore Glen». Fluid",
        "headmistress of «Thornaby Girls' Grammar» until",
        "at bedside «Winthrop 5». Pt",
        "move to «Osler 5» on 6/15",
        "insured through «Blackmoor Mutual»",
        "Oduya   «The Old Forge, Nether Wick, near Thornaby Cross TC9 2BB»",
        "Add: «h.no 4-118, behind ganesh temple, 2nd cross»",
        "Name given: «Lakshmi d/o Venkatappa», approx",
        "kind regards\n\n«GRM/lt»   hosp",
        "dict: «BO»/tr",
        "OB «Trask» / peds",
        "text him, «555 0 1 3 9»",
    ],
)
def test_an_organisation_among_words_is_found_whole(example: str):
    assert find_leaked(example, SAFE_HARBOR) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Consult Cardiology; to Pediatric Cardiology",
        "Paged General Surgery, at Radiation Oncology, with Hip Surgery",
        "by Magnetic Resonance Imaging",
        "Insurance: Medicare; Employer: none; insurance is pending",
        "union (Delayed healing), non-union (Type II)",
        "the company was told",
        "from Blood Bank, the Bone Bank",
        "with Portable Oxygen, to Home Oxygen",
        "moved to Stage 3, up to Grade 2, up to Day 5",
        "The Shelter, a Garage, Social Workers",
        "Moderate to High",
        "RN Aware of plan; Baby Boy",
        "rates of 120 5 4",
    ],
)
def test_departments_and_kinds_stay(text: str):
    assert RULES.analyze(text, ORGANISATIONS) == []


def test_each_word_before_a_judge_is_one_word_in_small_letters():
    words = {word for _, begins, _ in JUDGED for word in begins}
    assert all(word.isalpha() and word == word.lower() for word in words)
