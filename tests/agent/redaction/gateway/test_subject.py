"""What the dataset says of a record's people is gone from every text of it, and from no other record."""

import pytest

from agent.redaction.entities import PRECEDENCE
from agent.redaction.gateway.subject import Subject
from agent.vocabulary import IDENTIFIER_KINDS, Instance, Message


@pytest.mark.parametrize(
    ("unit", "identity", "numbers"),
    [
        ("10000032", "10000032-DS-21", ["10000032", "10000032-DS-21"]),
        ("MRN-99120-jabberwock", "17", ["MRN-99120-jabberwock"]),
        ("12", "12", []),
        ("99999", "99999", []),
        ("Sleep problems", "row-12", []),
        ("Gout of 3 toes", "topic 4", []),
        ("patient:115967096/guo", "1", ["patient:115967096/guo", "115967096"]),
    ],
)
def test_units_and_ids_count_where_they_look_like_numbers_somebody_was_given(
    unit: str, identity: str, numbers: list[str]
):
    instance = Instance(identity, unit, (Message("user", "q"),), ())
    assert [(one.entity, one.value) for one in Subject.read_instance(instance).identifiers] == [
        ("ID", n) for n in numbers
    ]
    assert Subject.read_instance(instance).unit == unit
    assert Subject.read_instance(None) == Subject()


def test_every_kind_of_a_column_is_one_that_redaction_knows():
    assert set(IDENTIFIER_KINDS) < set(PRECEDENCE)
