"""What the strict level takes of a person."""

import pytest

from tests.agent.redaction.rules.en.examples import find_leaked

STRICTER = {
    "SEX": (
        "a «woman» of note",
        "«she» fell",
        "Sex: «F»",
        "67yo«M»",
        "gender: «non-binary»",
        "«Male»",
        "«his» arm",
        "«boys»",
        "45«F» with pain",
        "«transgender» man",
    ),
    "FAMILY": (
        "«mother» has asthma",
        "two «sisters»",
        "«married»",
        "his «father-in-law»",
        "a «widow»",
        "«wife»",
        "one «son»",
        "«twins»",
        "the «grandparents»",
        "«cousin's» wedding",
    ),
    "PROFESSION": (
        "a «retired truck driver»",
        "works as a «dental hygienist»",
        "«teacher»",
        "«police officer»",
        "Occupation: «welder»",
        "employed as an «account clerk»",
        "«farmers»",
        "a «software engineer»",
        "«lawyer»",
        "the «miner»",
    ),
    "NATIONALITY": (
        "a «Ghanaian» man",
        "«Hispanic»",
        "«South Korean»",
        "«African-American»",
        "a «Sikh»",
        "«Jehovah's Witness»",
        "«Native American»",
        "«Poles»",
        "«Filipina»",
        "two «Germans»",
    ),
}


@pytest.mark.parametrize(
    ("entity", "example"), [(e, x) for e, examples in STRICTER.items() for x in examples]
)
def test_the_strict_level_also_takes(entity: str, example: str):
    assert find_leaked(example, [entity]) == ""
