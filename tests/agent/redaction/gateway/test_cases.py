"""What the dataset says of a record's people is gone from every text of it, and from no other record."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent.redaction import Redacted, Withheld
from agent.redaction.engine import Engine
from agent.redaction.gateway.cases import Redacting
from agent.redaction.redacted import CuedText
from agent.vocabulary import Identifier, Reference
from tests.agent.service.filled_site import Case, case, filled_site


def named(number: int, *identifiers: Identifier, unit: str = "u", **texts: str) -> Case:
    made = case(number, references=(Reference(texts.get("gold", "yes"), True),), unit=unit, **{
        name: text for name, text in texts.items() if name != "gold"
    })  # fmt: skip
    return replace(made, instance=replace(made.instance, identifiers=identifiers))


def test_a_record_is_cleared_of_what_its_dataset_says(tmp_path: Path, engine: Engine):
    filled = filled_site(tmp_path)
    of_one = (
        Identifier("NAME", "Vale, Ottoline Q."),
        Identifier("MRN", "7-0441"),
        Identifier("DATE", "1951-03-14"),
    )
    texts = {
        "prompt": "so ottoline has gout",
        "answer": "ottoline vale has gout, chart 70441",
        "reasoning": "born 14.3.51; the vale chart; mrs. o. q. vale; ottolinevale",
        "gold": "Ottolien has gout",
    }
    run_id = filled.add([named(0, *of_one, **texts)])
    with filled.site.store() as store:
        (one,) = Redacting(engine).clear(run_id, store.answers.read_instances(run_id, 0, 1))
    shown = "\n".join(
        [m.text for m in one.prompt or ()]
        + [r.text for r in one.references or ()]
        + [str(one.answer), str(one.reasoning)]
    ).casefold()
    assert [word for word in ("ottol", "vale", "70441", "1951", "14.3") if word in shown] == []


class Listener:
    """A redactor that notes whose each record is."""

    policy = "none 1"
    shows_published = True
    withheld: Mapping[Withheld, int] = {}

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.heard: list[tuple[list[str], str | None]] = []

    def redact(self, text: str) -> Redacted:
        return self._engine.redact(text)

    def redact_record(
        self,
        texts: Sequence[str | CuedText],
        identifiers: Sequence[Identifier] = (),
        unit: str | None = None,
        published: Sequence[str] = (),
    ) -> list[Redacted]:
        self.heard.append(([one.value for one in identifiers], unit))
        return self._engine.redact_record(texts, identifiers, unit, published)


def test_each_record_goes_with_its_own_people_and_no_others(tmp_path: Path, engine: Engine):
    filled, listener = filled_site(tmp_path), Listener(engine)
    run_id = filled.add(
        [named(0, Identifier("NAME", "Ottoline Vale"), unit="PX-88-12"), named(1, unit="ward")]
    )
    with filled.site.store() as store:
        Redacting(listener).clear(run_id, store.answers.read_instances(run_id, 0, 2))
    assert listener.heard == [(["Ottoline Vale", "PX-88-12-0"], "PX-88-12-0"), ([], "ward-1")]


def test_a_patients_number_is_gone_though_no_text_says_what_it_is(tmp_path: Path, engine: Engine):
    filled = filled_site(tmp_path)
    run_id = filled.add([named(0, unit="PX-88-123", prompt="so px881230 has gout")])
    with filled.site.store() as store:
        (found,) = Redacting(engine).clear(run_id, store.answers.read_instances(run_id, 0, 1))
    assert found.prompt is not None
    assert "88" not in found.prompt[0].text
