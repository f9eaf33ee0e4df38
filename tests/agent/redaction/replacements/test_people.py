"""One person, however the name is written, and two people who are not one."""

import time

import pytest

from agent.redaction.replacements.people import RecordPeople

RECORD = ["Dr. Anna Kowalski", "Margaret Holloway", "Peter O'Brien-Smith"]


@pytest.mark.parametrize(
    "written",
    [
        "HOLLOWAY, Margaret",
        "Mrs. Holloway",
        "Holloway's",
        "M. Holloway",
        "Holloway M",
        "margaret",
        "margaretholloway",
        "hollowaymargaret",
        "MH",
        "Margret Holloway",
        "Hollowya",
        "Ms Margaret Hollowway",
    ],
)
def test_the_same_person_is_known_however_the_name_is_written(written: str):
    assert RecordPeople([*RECORD, written]).find_person(written).words == ("margaret", "holloway")


@pytest.mark.parametrize(
    "other",
    [
        "Peter Holloway",
        "Mary Holloway-Jones",
        "J. Holloway",
        "Anna Holloway",
        "Hall",
        "Marg",
        "Holl",
        "K. K.",
    ],
)
def test_somebody_else_of_a_similar_name_is_somebody_else(other: str):
    assert RecordPeople([*RECORD, other]).find_person(other).words != ("margaret", "holloway")


def test_a_name_in_the_record_before_its_full_form_is_the_same_person():
    people = RecordPeople(["Holloway", "holloway, m.", "Margaret Anne Holloway"])
    for name in ("Holloway", "holloway, m."):
        assert people.find_person(name).words == ("margaret", "anne", "holloway")


def test_of_two_people_of_one_family_name_the_first_in_the_record_is_meant():
    people = RecordPeople(["Peter Holloway", "Anna Holloway", "Holloway"])
    assert people.find_person("Holloway").words == ("peter", "holloway")


def test_a_title_alone_is_a_name_of_its_own():
    assert RecordPeople(["Dr."]).find_person("Dr.").words == ("dr",)


def test_a_name_of_its_own_is_no_misspelling_of_another():
    names = ["Maria Hernandez", "Fernandez"]
    assert RecordPeople(names).find_person("Fernandez").words == ("maria", "hernandez")
    assert RecordPeople(names, {"hernandez", "fernandez"}).find_person("Fernandez").words == (
        "fernandez",
    )


def test_a_list_of_thousands_of_names_takes_no_time_that_grows_with_its_square():
    names = [f"{'abcdefghij'[n % 10]}{n:x}na Sm{n * 7919 % 9973:x}th" for n in range(3000)]
    began = time.process_time()
    RecordPeople(names)
    assert time.process_time() - began < 4


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mr. Long", "Mrs. Long"),
        ("Tyrell Washington", "Tyrell Sr."),
        ("John Long Jr.", "John Long Sr."),
        ("John Long", "John Long Jr."),
        ("Tyrell Washington", "Ms. Loretta Washington"),
        ("Margaret Long", "Mr. Long"),
    ],
)
def test_titles_suffixes_and_given_names_tell_people_of_one_name_apart(one: str, other: str):
    people = RecordPeople([one, other])
    assert people.find_person(one) != people.find_person(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("John Long Jr.", "John Long"),
        ("Mr. Long", "Long"),
        ("Sr. Pérez", "Pérez"),
        ("Dr. Long", "Mr. Long"),
        ("Kim Long", "Ms. Long"),
    ],
)
def test_what_a_title_or_suffix_leaves_open_is_one_person(one: str, other: str):
    people = RecordPeople([one, other])
    assert people.find_person(one) == people.find_person(other)


def test_a_title_means_whoever_it_is_known_to_fit():
    people = RecordPeople(
        ["Tyrell Washington", "Ms. Loretta Washington", "Ms. Washington", "Mr. Washington"]
    )
    assert people.find_person("Ms. Washington").words == ("loretta", "washington")
    assert people.find_person("Mr. Washington").words == ("tyrell", "washington")
