"""What the dataset says of a record's people is gone from every text of it, and from no other record."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.redaction.clearing import Redacting
from agent.redaction.engine import Engine
from agent.redaction.entities import PRECEDENCE
from agent.redaction.whose import Whose
from agent.vocabulary import IDENTIFIER_KINDS, Identifier, Instance, Message, Reference
from tests.agent.service.filled_site import Case, case, filled_site


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
    assert [(one.entity, one.value) for one in Whose.of(instance).identifiers] == [("ID", n) for n in numbers]
    assert Whose.of(instance).unit == unit
    assert Whose.of(None) == Whose()


def test_every_kind_of_a_column_is_one_that_redaction_knows():
    assert set(IDENTIFIER_KINDS) < set(PRECEDENCE)


def named(number: int, *identifiers: Identifier, unit: str = "u", **texts: str) -> Case:
    made = case(number, references=(Reference(texts.get("gold", "yes"), True),), unit=unit, **{
        name: text for name, text in texts.items() if name != "gold"
    })  # fmt: skip
    return replace(made, instance=replace(made.instance, identifiers=identifiers))


def test_a_record_is_cleared_of_what_its_dataset_says_and_another_is_not(tmp_path: Path, engine: Engine):
    filled = filled_site(tmp_path)
    of_one = (Identifier("NAME", "Vale, Ottoline Q."), Identifier("MRN", "7-0441"), Identifier("DATE", "1951-03-14"))
    texts = {
        "prompt": "so ottoline has gout",
        "answer": "ottoline vale has gout, chart 70441",
        "reasoning": "born 14.3.51; the vale chart; mrs. o. q. vale; ottolinevale",
        "gold": "Ottolien has gout",
    }
    run_id = filled.add([named(0, *of_one, **texts), named(1, **texts)])
    with filled.site.store() as store:
        page = store.instances(run_id, 0, 2)
    one, other = Redacting(engine).clear(run_id, page)
    shown = "\n".join(
        [m.text for m in one.prompt or ()]
        + [r.text for r in one.references or ()]
        + [str(one.answer), str(one.reasoning)]
    ).casefold()
    assert [word for word in ("ottol", "vale", "70441", "1951", "14.3") if word in shown] == []
    assert other.prompt is not None
    assert other.prompt[0].text == "so ottoline has gout"  # nobody said who that is


def test_a_patients_number_is_gone_though_no_text_says_what_it_is(tmp_path: Path, engine: Engine):
    filled = filled_site(tmp_path)
    run_id = filled.add([named(0, unit="PX-88-123", prompt="so px881230 has gout")])
    with filled.site.store() as store:
        (found,) = Redacting(engine).clear(run_id, store.instances(run_id, 0, 1))
    assert found.prompt is not None
    assert "88" not in found.prompt[0].text


def test_what_a_policy_keeps_stays_though_a_column_says_it(engine: Engine):
    assert engine.redact_record(["gout at 94 years"], [Identifier("SEX", "gout")]) == ["gout at [AGE-1] years"]
