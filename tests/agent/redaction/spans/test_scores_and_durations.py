"""Scores, durations in British shorthand, hours and tables of values stay; the same numbers as dates are taken."""

import pytest

from agent.redaction.engine import Engine

HARMLESS = (
    "ER Allred 8/8, PR 6/8, HER2 negative.",
    "AMTS 8/10 on admission, 4AT 0.",
    "neuro obs 4/24 until morning",
    "trimethoprim x 3/7 then stop",
    "low mood 4/12 since redundancy",
    "pred 30 mg, 5/7 course",
    "cough 2/52, weight loss 3/12 hx",
    "review 6/52, bloods every 2/12",
    "PC 18/8, FiO2 0.4",
    "IOP 12/11 on Goldmann, Ishihara 11/12",
    "TOF 2/4, then 4/4.",
    "Nurse on shift 0715-1930, breaks covered.",
    "visiting 1400-1700 daily",
    "May-Grünwald and Giemsa stains are used.",
    "Wound check with PHN, then dietetics.",
    "Spoke to the family in Tamil.",
    "He visits on Sundays.",
    "Inj. Monocef 1 g, Tab. Telma 40, Syp. Ascoril 5 mL",
    "Sodium       129      131      134      135-145 mmol/L\nCreatinine   512      466      391      60-110 umol/L\n",
)
TAKEN = (
    ("seen in ER 6/8, sent home", "6/8"),
    ("appointment 4/12 at 9 am", "4/12"),
    ("admitted 2/12, discharged 2/24", "2/12"),
    ("last seen 3/7 in clinic", "3/7"),
    ("fell on 4/24 at home", "4/24"),
    ("Tel 0715-1930", "0715-1930"),
    ("MRN: 1400-1700", "1400-1700"),
    ("May 14 she fell", "May 14"),
    ("surgery 8/10, home 8/14", "8/10"),
    ("Phone:   129   131   1345   ask for Ada", "1345"),
    ("Surname: Tamil", "Tamil"),
)


@pytest.mark.parametrize("text", HARMLESS)
def test_a_score_or_a_duration_stays(engine: Engine, text: str):
    assert engine.redact(text) == text


@pytest.mark.parametrize(("text", "value"), TAKEN)
def test_the_same_as_a_date_or_a_number_is_taken(engine: Engine, text: str, value: str):
    assert value not in engine.redact(text)
