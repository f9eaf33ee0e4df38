"""Surrogates read like the real thing, are the same for the same value, and tell nobody without the key anything."""

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.replacements.people import RecordPeople
from agent.redaction.replacements.surrogate_names import surrogate_words
from agent.redaction.replacements.surrogates import WITH_SURROGATES, KeyedChoice, Surrogates

KEY = bytes(range(32))
LETTERS = str.maketrans("0123456789", "ghijklmnop")


def surrogates(*taken: str, key: bytes = KEY, scope: str = "") -> Surrogates:
    return Surrogates(KeyedChoice(key, scope), frozenset(taken))


def named(surrogate: Surrogates, *names: str) -> list[str | None]:
    people = RecordPeople(names)
    return [surrogate.replace_name(name, people.find_person(name).words) for name in names]


def test_all_ways_to_write_a_name_become_ways_to_write_its_surrogate():
    full, turned, family, initial, possessive, wrong, joined, letters = named(
        surrogates(),
        "Margaret Holloway",
        "HOLLOWAY, MARGARET",
        "Holloway",
        "M. Holloway",
        "Mrs. Holloway's",
        "Hollowya",
        "margaretholloway",
        "MH",
    )
    assert full is not None
    first, last = full.split()
    assert first in surrogate_words("given_female")
    assert last in surrogate_words("family")
    assert turned == f"{last.upper()}, {first.upper()}"
    assert family == wrong == last
    assert initial == f"{first[0]}. {last}"
    assert possessive == f"Mrs. {last}'s"
    assert joined == f"{first}{last}".lower()
    assert letters == f"{first[0]}{last[0]}"


def test_titles_and_particles_stay_and_a_title_says_whether_it_is_a_man_or_a_woman():
    (made,) = named(surrogates(), "Dr. Xochitl van der Wrzesniewski")
    assert made is not None
    assert made.startswith("Dr. ")
    assert " van der " in made
    assert "ochitl" not in made
    assert "rzesniewski" not in made
    woman = surrogates().replace_name("Chidi Okafor", ("chidi", "okafor"), "female")
    man = surrogates().replace_name("Chidi Okafor", ("chidi", "okafor"), "male")
    assert woman is not None
    assert man is not None
    assert woman.split()[0] in surrogate_words("given_female")
    assert man.split()[0] in surrogate_words("given_male")


def test_another_key_or_another_patient_gives_other_surrogates():
    names = ["Margaret Holloway", "Anna Kowalski", "Peter Baker"]
    made = [tuple(named(surrogates(key=key, scope=scope), *names)) for key, scope in
            ((KEY, ""), (bytes(32), ""), (KEY, "patient 1"), (KEY, "patient 2"))]  # fmt: skip
    assert len(set(made)) == 4
    assert made[0] == tuple(named(surrogates(), *names))


def test_no_surrogate_is_a_word_of_the_record_and_no_two_people_share_one():
    everyone = [
        word for name in ("family", "given_female", "given_male") for word in surrogate_words(name)
    ]
    taken = {word.casefold() for word in everyone[::2]}
    people = [
        digest.translate(LETTERS)
        for n in range(40)
        for digest in [hashlib.sha256(bytes([n])).hexdigest()]
    ]
    made = named(surrogates(*taken), *(f"{one[:8]} {one[8:16]}" for one in people))
    words = [word for name in made if name is not None for word in name.split()]
    assert len(words) == 80
    assert not taken & {word.casefold() for word in words}
    assert len(set(words)) == len(words)


def test_when_every_surrogate_is_taken_there_is_none():
    taken = {
        word.casefold()
        for name in ("family", "given_female", "given_male")
        for word in surrogate_words(name)
    }
    assert named(surrogates(*taken), "Anna Kowalski") == [None]


@pytest.mark.parametrize("unreadable", ["john123", "J o h n", "%4a%6fhn", "A" * 300, ""])
def test_a_name_that_cannot_be_read_gets_none(unreadable: str):
    assert named(surrogates(), unreadable) == [None]


@given(
    st.sampled_from(["MRN", "ZIP", "ACCOUNT", "DEVICE", "ID"]),
    st.from_regex(r"[A-Z]{0,3}-?\d{4,9}[a-z]?", fullmatch=True),
)
def test_a_number_keeps_its_form_and_not_its_value(entity: str, value: str):
    made = surrogates("".join(filter(str.isalnum, value)).casefold()).replace_value(entity, value)
    assert made is not None
    assert made != value
    assert [(c.isdigit(), c.isupper(), c.islower()) for c in made] == [
        (c.isdigit(), c.isupper(), c.islower()) for c in value
    ]


def test_a_number_written_otherwise_has_the_same_surrogate():
    made = surrogates()
    grouped = made.replace_value("MRN", "0045-1234") or ""
    joined = made.replace_value("MRN", "00451234") or ""
    assert grouped.replace("-", "") == joined.replace("-", "")


@pytest.mark.parametrize(
    ("entity", "value", "pattern"),
    [
        ("PHONE", "617-555-0143", r"[2-9]\d\d-555-01\d\d"),
        ("PHONE", "+1 (617) 555-0143", r"\+1 \([2-9]\d\d\) 555-01\d\d"),
        ("PHONE", "+44 20 7946 0958", r"\+\d\d \d\d \d{4} \d{4}"),
        ("SSN", "123-45-6789", r"666-\d\d-\d{4}"),
        ("EMAIL", "a.k@ward.example", r"[a-z]+\.[a-z]+@mail\.example"),
        ("URL", "https://x.org/~anna", r"https://www\.example/[a-z]{8}"),
        ("IP", "10.1.2.3", r"192\.0\.2\.\d{1,3}"),
        ("IP", "fe80::1", r"2001:db8::[0-9a-f]{1,4}"),
        ("ADDRESS", "12 Elm Street, Boston, MA 02115", r"\d{1,3} [A-Z]\w+ Street"),
        ("FACILITY", "St. Mary's Hospital", r"[A-Z]\w+ Hospital"),
        ("FACILITY", "Room 412", r"Room \d{3}"),
        ("ORGANIZATION", "Acme Widgets Inc", r"[A-Z]\w+ Inc"),
        ("LOCATION", "BOSTON", r"[A-Z]+"),
    ],
)
def test_values_of_other_kinds_become_what_belongs_to_nobody(entity: str, value: str, pattern: str):
    made = surrogates().replace_value(entity, value)
    assert made is not None
    assert re.fullmatch(pattern, made), made
    assert made != value


def test_what_has_no_surrogate_says_so():
    assert all(
        surrogates().replace_value(entity, "teacher") is None
        for entity in ("PROFESSION", "SEX", "DATE", "AGE")
    )
    assert surrogates().replace_value("MRN", "unknown") is None  # no digit to replace
    assert surrogates().replace_value("ID", "A1" * 300) is None
    assert "NAME" in WITH_SURROGATES


@pytest.mark.parametrize(
    ("entity", "value", "list_name"),
    [
        ("EMAIL", "t.murambinda@lakemail.org", "family"),
        ("ADDRESS", "4417 Larkspur Hollow Road", "family"),
        ("FACILITY", "Willow Fen Clinic", "family"),
        ("ORGANIZATION", "Larkspur Milling", "family"),
        ("LOCATION", "Ouagadougou", "places"),
    ],
)
def test_a_record_that_lists_every_name_gets_a_tag_and_none_of_its_own_names(
    entity: str, value: str, list_name: str
) -> None:
    taken = [name.casefold() for name in surrogate_words(list_name)]
    assert surrogates(*taken).replace_value(entity, value) is None
    assert surrogates().replace_value(entity, value)
