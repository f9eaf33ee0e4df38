"""Streets, counties, schools, shops and employers typed without capitals."""

import pytest

from agent.redaction.rules.en.small_letter_places import JUDGED
from tests.agent.redaction.rules.en.examples import RULES

PLACES = ["ADDRESS", "LOCATION", "FACILITY", "ORGANIZATION"]


def found_in(text: str) -> list[tuple[str, str]]:
    return [
        (result.entity_type, text[result.start : result.end])
        for result in RULES.analyze(text, PLACES)
    ]


@pytest.mark.parametrize(
    ("text", "entity", "value"),
    [
        ("drug store on front st (not the", "ADDRESS", "front st"),
        ("the one on airport hwy)", "ADDRESS", "airport hwy"),
        ("found down on delphine ave near", "ADDRESS", "delphine ave"),
        ("mvc at mill lane and st bedes rd", "ADDRESS", "st bedes rd"),
        ("lives on birch ct", "ADDRESS", "birch ct"),
        ("chart wrong -> 903 sw kelpie , zip", "ADDRESS", "903 sw kelpie"),
        ("lives in yamhill county now", "LOCATION", "yamhill county"),
        ("to sandoval county detention center", "LOCATION", "sandoval county detention center"),
        ("referred by harbor point pediatrics", "ORGANIZATION", "harbor point pediatrics"),
        ("held at larkin county jail", "LOCATION", "larkin county jail"),
        ("was at sunny acorns preschool monday", "ORGANIZATION", "sunny acorns preschool"),
        ("nurse at tillman middle. next", "ORGANIZATION", "tillman middle"),
        ("Ins: buckhorn health plan id#", "ORGANIZATION", "buckhorn health plan"),
        ("works nights at basin casino, on", "ORGANIZATION", "basin casino"),
        ("laid off from quillon software dec 2", "ORGANIZATION", "quillon software"),
        ("drives for zipload", "ORGANIZATION", "zipload"),
        ("cleared: marrow creek behavioral has", "ORGANIZATION", "marrow creek behavioral"),
        ("m    6 north    dec 18", "FACILITY", "6 north"),
    ],
)
def test_a_name_before_a_kind_of_place_is_found(text: str, entity: str, value: str):
    assert (entity, value) in found_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "on st elevation, with st depression in v4",
        "seen on head ct by her dr",
        "in the fast lane, on the road, on his way to drive",
        "in the supreme court",
        "the county jail, rural county, at county",
        "at the local high school and in middle school",
        "went to church, to nursing home, to inpatient rehab",
        "from the blood bank",
        "by prescription drug, of the following drug, antithyroid drug",
        "stay away from salty foods",
        "works from home at a bank, works with children",
        "the drug works by blocking",
        "insurance is pending; pharmacy: to dose",
        "moved 2 west coast",
    ],
)
def test_places_of_no_name_stay(text: str):
    assert found_in(text) == []


def test_each_word_before_a_judge_is_one_word():
    words = {word for _, begins, _ in JUDGED for word in begins}
    assert all(word.isalpha() for word in words)
