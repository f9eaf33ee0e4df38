"""A replacement follows the policy, is the same for a patient, and never the value."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.io.packaged import shipped
from agent.redaction.engine import Engine
from agent.redaction.policy.policy import RedactionPolicy, load_policy
from agent.redaction.replacements.date_values import read_date
from agent.redaction.replacements.operators import Operators, RecordOperators
from agent.redaction.replacements.tags import TAG
from agent.vocabulary import Identifier

KEY = b"\x01" * 32
SHIPPED = load_policy("hipaa_safe_harbor")


def with_operators(**operators: str) -> RedactionPolicy:
    return RedactionPolicy.model_validate({**SHIPPED.model_dump(), "operators": operators})


def record(
    policy: RedactionPolicy,
    *found: tuple[str, str],
    unit: str | None = None,
    key: bytes = KEY,
    text: str = "",
) -> RecordOperators:
    return Operators(policy, key, 2026).for_record(
        [text, *(value for _, value in found)], found, unit
    )


def moved_by(operators: RecordOperators, day: str) -> int:
    then, now = read_date(operators.get_replacement("DATE", day)), read_date(day)
    assert then is not None
    assert now is not None
    return (then.date - now.date).days


def test_dates_of_one_patient_move_together_in_every_record_and_those_of_another_otherwise():
    policy = with_operators(DATE="shift")
    one = [
        moved_by(record(policy, unit="p1", text=text), day)
        for text in "ab"
        for day in ("03/14/2022", "2019-01-02")
    ]
    others = {moved_by(record(policy, unit=f"p{number}"), "03/14/2022") for number in range(2, 40)}
    assert len(set(one)) == 1
    assert len(others) > 20
    assert all(0 < abs(days) <= 364 and days % 7 == 0 for days in (*one, *others))


def test_without_a_patient_each_record_moves_by_its_own_days_and_always_the_same():
    policy = with_operators(DATE="shift")
    days = [moved_by(record(policy, text=text), "03/14/2022") for text in ("a", "b", "c", "a")]
    assert days[0] == days[3]
    assert len(set(days)) > 1


def test_another_key_moves_otherwise():
    policy = with_operators(DATE="shift")
    assert (
        len(
            {
                moved_by(record(policy, unit="p", key=bytes([n]) * 32), "03/14/2022")
                for n in range(9)
            }
        )
        > 3
    )


@pytest.mark.parametrize(
    "value", ["March 14", "Christmas", "03/14", "Monday, March 14, 2022", "March 14-16, 2022"]
)
def test_a_date_that_cannot_be_moved_is_tagged(value: str):
    assert record(with_operators(DATE="shift")).get_replacement("DATE", value) == "[DATE-1]"


def test_dates_found_as_one_move_each_or_not_at_all():
    operators = record(with_operators(DATE="shift"), unit="p")
    one, other = (operators.get_replacement("DATE", day) for day in ("03/14/2022", "2022-03-16"))
    assert operators.get_replacement("DATE", "03/14/2022 to 2022-03-16") == f"{one} to {other}"
    assert operators.get_replacement("DATE", "March 14 and March 16, 2022") == "[DATE-1]"


@pytest.mark.parametrize(
    ("value", "replacement"),
    [
        ("March 14, 2022", "2022"),
        ("3/14/22", "2022"),
        ("March 14", "[DATE-1]"),
        ("2021-2022", "[DATE-1]"),
        ("03/14/1937", "1937"),
        ("03/14/1936", "[DATE-1]"),  # somebody born then may be over 89 in 2026
    ],
)
def test_only_the_year_is_kept_unless_it_tells_an_age_over_89(value: str, replacement: str):
    assert record(with_operators(DATE="year")).get_replacement("DATE", value) == replacement


def test_a_birth_date_that_tells_an_age_over_89_is_not_moved_either():
    assert (
        record(with_operators(DATE="shift"), unit="p").get_replacement("DATE", "03/14/1936")
        == "[DATE-1]"
    )


def test_ages_over_89_become_90_or_more_and_stay_so():
    operators = record(with_operators(AGE="cap"))
    assert [
        operators.get_replacement("AGE", "94"),
        operators.get_replacement("AGE", "90", "+"),
    ] == ["90+", "90"]


def test_a_surrogate_that_cannot_be_made_is_a_tag():
    operators = record(with_operators(default="surrogate"), ("NAME", "J0hn"), ("ID", "x" * 500))
    assert [
        operators.get_replacement("NAME", "J0hn"),
        operators.get_replacement("ID", "x" * 500),
    ] == [
        "[NAME-1]",
        "[ID-1]",
    ]


def test_surrogates_by_default_move_dates_and_cap_ages_and_an_entity_can_have_tags_all_the_same():
    policy = with_operators(default="surrogate", MRN="tag")
    operators = record(policy, ("NAME", "Anna Kowalski"), ("MRN", "00451234"), unit="p")
    assert operators.get_replacement("MRN", "00451234") == "[MRN-1]"
    assert operators.get_replacement("AGE", "94") == "90+"
    assert read_date(operators.get_replacement("DATE", "03/14/2022")) is not None
    assert not operators.get_replacement("NAME", "Anna Kowalski").startswith("[")


def test_days_and_numbers_written_otherwise_have_one_tag():
    operators = record(SHIPPED)
    days = ("03/14/2022", "2022-03-14", "March 14th, 2022", "14 Mar 2022", "3/14/22 14:30")
    assert {operators.get_replacement("DATE", day) for day in days} == {"[DATE-1]"}
    assert (
        operators.get_replacement("DATE", "March 2022")
        == operators.get_replacement("DATE", "03/2022")
        == "[DATE-2]"
    )
    assert {
        operators.get_replacement("MRN", number) for number in ("00451234", "0045-1234", "451234")
    } == {"[MRN-1]"}
    assert operators.get_replacement("MRN", "451235") == "[MRN-2]"


def test_numbers_of_tags_end_where_a_number_of_a_record_could_begin():
    operators = record(SHIPPED, text="[MRN-998]")
    assert [operators.get_replacement("MRN", f"77{n}31") for n in range(4)] == ["[MRN-999]"] * 4
    assert not TAG.fullmatch("[MRN-1000]")


NOTES = [
    "Dr. Anna Kowalski saw Margaret Holloway (MRN: 00451234) on March 14, 2022 and again on March 21, 2022.",
    "Ms. Holloway can be reached at 617-555-0143 or m.holloway@ward.example, SSN 123-45-6789.",
]
PLANTED = (
    "Kowalski",
    "Holloway",
    "00451234",
    "March 14",
    "617-555-0143",
    "ward.example",
    "123-45-6789",
)


@pytest.fixture(scope="module")
def hiding() -> Engine:
    return Engine(with_operators(default="surrogate"), KEY)


@pytest.mark.full
def test_a_record_with_surrogates_reads_like_a_record_and_holds_nothing_of_the_first(
    hiding: Engine,
):
    first, second = hiding.redact_record(NOTES, unit="p1")
    assert not [one for one in PLANTED if one in first + second]
    assert "[" not in first + second
    family = first.split(" (MRN")[0].split()[-1]
    assert f"{family} can be reached at" in second


def test_a_patient_has_the_same_surrogates_in_the_next_record_and_under_the_same_key(
    hiding: Engine,
):
    again = Engine(with_operators(default="surrogate"), KEY)
    assert hiding.redact_record(NOTES, unit="p1") == again.redact_record(NOTES, unit="p1")
    assert hiding.redact_record(NOTES, unit="p1") != hiding.redact_record(NOTES, unit="p2")


VALUES = st.lists(
    st.one_of(
        st.tuples(
            st.just("NAME"),
            st.from_regex(r"[A-Z][a-z]{3,8} (?:[A-Z]\. )?[A-Z][a-z]{3,9}", fullmatch=True),
        ),
        st.tuples(st.just("DATE"), st.dates().map(lambda day: day.strftime("%m/%d/%Y"))),
        st.tuples(st.just("MRN"), st.from_regex(r"[0-9]{6,9}", fullmatch=True)),
        st.tuples(
            st.sampled_from(["PHONE", "EMAIL", "FACILITY", "ADDRESS", "ID", "URL"]),
            st.text(max_size=20),
        ),
    ),
    max_size=8,
)


@given(
    VALUES,
    st.sampled_from(["tag", "surrogate"]),
    st.sampled_from(["tag", "year", "shift"]),
    st.booleans(),
)
def test_nothing_written_holds_the_value_or_another_of_the_record(
    found: list[tuple[str, str]], default: str, dates: str, unit: bool
):
    policy = with_operators(default=default, DATE=dates)
    operators = record(policy, *found, unit="p" if unit else None)
    texts = [operators.get_replacement(entity, value) for entity, value in found]
    assert all(texts)
    names = {
        word.casefold()
        for entity, value in found
        if entity == "NAME"
        for word in value.split()
        if len(word) > 2
    }
    numbers = {value for entity, value in found if entity == "MRN"}
    for (entity, value), text in zip(found, texts, strict=True):
        assert text != value
        assert text not in numbers
        if entity == "NAME":
            assert not names & {word.casefold() for word in text.split()}
    if found:
        again = record(policy, *found, unit="p" if unit else None)
        assert texts[0] == again.get_replacement(*found[0])


def test_a_name_that_the_dataset_knows_is_never_a_surrogate(hiding: Engine):
    chosen = hiding.redact_record(["Mr. Quillfeather has gout."])[0].split()[-3]
    (other,) = hiding.redact_record(["Mr. Quillfeather has gout."], [Identifier("NAME", chosen)])
    assert chosen not in other
    assert "Quillfeather" not in other


def test_nothing_in_the_package_hashes_without_a_key_what_people_see():
    source = [(Path(__file__).parents[4] / "agent/redaction/replacements" / name).read_text("utf-8") for name in
              ("surrogates.py", "operators.py", "tags.py", "people.py", "date_values.py")]  # fmt: skip
    assert not [
        text
        for text in source
        if "hashlib" in text or "hash(" in text or "random" in text.split('"""')[2]
    ]


def test_every_shipped_policy_is_what_its_name_says():
    names = sorted(path.stem for path in (shipped("policies") / "redaction").glob("*.yaml"))
    assert names == ["gdpr", "hipaa_safe_harbor", "limited_data_set", "readable", "strict"]
    policies = {name: load_policy(name) for name in names}
    assert {name: policy.name for name, policy in policies.items()} == {
        name: name for name in names
    }
    harbor = set(policies["hipaa_safe_harbor"].entities)
    assert set(policies["strict"].entities) > harbor
    assert set(policies["gdpr"].entities) >= harbor
    assert set(policies["readable"].entities) == harbor
    odds = {name: policy.model_odds for name, policy in policies.items()}
    assert odds["strict"] < 1 < odds["readable"]
    assert {odds["gdpr"], odds["hipaa_safe_harbor"], odds["limited_data_set"]} == {1}
    assert not {"DATE", "AGE", "LOCATION", "ZIP"} & set(policies["limited_data_set"].entities)
    assert harbor - {"DATE", "AGE", "LOCATION", "ZIP"} == set(policies["limited_data_set"].entities)
    assert not any(policy.keyed_operators or policy.outside_judges for policy in policies.values())
