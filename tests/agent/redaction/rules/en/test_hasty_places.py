"""Places made of ordinary words in hasty notes, with a label, a kind or a landscape, and what is written like them."""

import pytest

from tests.agent.redaction.rules.en.examples import RULES

KINDS = ["ADDRESS", "LOCATION", "FACILITY", "ORGANIZATION"]
PLACES = (
    ("winnie, from the beeches, frail", "beeches"),
    ("not to The Limes again", "Limes"),
    ("yr 4 st oswalds primary, epipen", "st oswalds primary"),
    ("at saint brendans hospice", "saint brendans hospice"),
    ("loc 41 tanner's row, caller", "41 tanner's row"),
    ("lives alone at 12 quarry bank, dtr", "12 quarry bank"),
    ("driver sunrise cabs late", "sunrise cabs"),
    ("imms at lowther road practice", "lowther road practice"),
    ("f/u at riverbend ortho", "riverbend ortho"),
    ("scene 90 mill rise, fall", "90 mill rise"),
    ("from pine ridge cah, dr called", "pine ridge cah"),
    ("xfer from silver creek hospital at 2", "silver creek hospital"),
    ("prev adm kukui unit nov", "kukui unit"),
    ("gp mill lane surgery, letter sent", "mill lane surgery"),
    ("nursery = little acorns, 2 others", "little acorns"),
    ("school: willow park primary. mum aware", "willow park primary"),
    ("lost job at pacific tile & stone last week", "pacific tile & stone"),
    ("works nights @ tyrell freight, call after 2", "tyrell freight"),
    ("f/u at cedar hollow peds in 48h", "cedar hollow peds"),
    ("employer: brindle & tate roofing", "brindle & tate roofing"),
    ("funder: silver birch trust", "silver birch trust"),
    ("from eagle butte by ems", "eagle butte"),
    ("lives near maple falls w/ son", "maple falls"),
    ("picked up at bay junction", "bay junction"),
    ("to Hibiscus Suite", "Hibiscus Suite"),
    ("Seen on Kestrel Ward", "Kestrel Ward"),
    ("moved to Willow House", "Willow House"),
    ("works at stone harbor bakery", "stone harbor bakery"),
    ("at juniper lodge overnight", "juniper lodge"),
    ("seen at foxglove medical", "foxglove medical"),
    ("sch: thistledown academy", "thistledown academy"),
    ("pharm: riverside chemist", "riverside chemist"),
    ("gp: orchard surgery", "orchard surgery"),
    ("placed in sycamore house", "sycamore house"),
    ("admitted via heron unit", "heron unit"),
    ("transfer to mayflower hospice", "mayflower hospice"),
)
OTHERS = (
    "rash to the palms, pain to the limbs",
    "in st segment, st elevation house",
    "to the ashes of the fire",
    "loc 2 days, loc 3 min",
    "scene 5 other people",
    "lives with 2 children",
    "driver home, crew on scene",
    "seen by ortho, ref to gastro",
    "from the pharmacy, at the road",
    "in the oak tree",
    "from stroke unit to rehab unit",
    "admitted to acute medical unit",
    "gp to review, gp surgery informed",
    "nursery = closed, home",
    "school: missing a lot, work: off sick",
    "works from home, works at night",
    "lost job at 50, works nights",
    "f/u at peds clinic in 48h",
    "employer: supportive, pharmacy: aware",
    "daycare: full time",
    "bed by window, house bound",
    "funder: unknown",
    "from left ridge, from iliac crest",
    "lives near work w/ son",
    "drove in from work",
    "picked up at front desk",
    "works at a bakery, works at the farm",
    "at lodge of kidney",
    "seen at medical clinic",
    "sch: attends well",
    "pharm: to dose vanc",
    "job @ risk",
    "gp: informed by letter",
    "placed in open ward",
    "admitted via emergency unit",
    "transfer to hospice, in spring",
    "pain at lake, water from river",
    "in burns unit, on renal ward, in side ward",
    "at dialysis unit, at infusion centre",
    "from high dependency unit to general ward",
    "walks to shop, at home, at dental office",
    "at law court, at health centre, in council house",
    "iv unit, 2 units, in prbc unit",
    "to Endoscopy Suite",
)


def find(text: str) -> list[str]:
    return [text[result.start : result.end] for result in RULES.analyze(text, KINDS)]


@pytest.mark.parametrize(("text", "place"), PLACES)
def test_a_place_of_ordinary_words_is_found(text: str, place: str):
    assert place in find(text)


@pytest.mark.parametrize("text", OTHERS)
def test_units_and_states_of_no_name_stay(text: str):
    assert find(text) == []
