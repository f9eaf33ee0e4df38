"""What an engine cannot clear is withheld, and the rest of the record is shown."""

from pathlib import Path

import pytest

from agent.redaction import Redactor, Withheld, open_redactor
from agent.redaction.engine import Engine
from agent.vocabulary import Identifier
from tests.agent.redaction.policies import POLICY


def policy_with(tmp_path: Path, **changes: str) -> str:
    content = POLICY.read_text()
    for old, new in changes.items():
        assert f"{old}:" in content
        content = "\n".join(
            f"{line.split(old)[0]}{old}: {new}" if f"{old}:" in line else line
            for line in content.split("\n")
        )
    path = tmp_path / "changed.yaml"
    path.write_text(content)
    return str(path)


def test_an_over_long_field_is_withheld_and_the_rest_of_the_record_shown(tmp_path: Path):
    redactor = open_redactor(policy_with(tmp_path, field_characters="1000"))
    assert redactor.redact_record(["gout " * 300, "Mr. Holloway has gout."]) == [
        "[WITHHELD: too long]",
        "[NAME-1] has gout.",
    ]
    assert redactor.withheld == {Withheld.TOO_LONG: 1}


def test_a_field_past_its_time_is_withheld(tmp_path: Path):
    redactor = open_redactor(policy_with(tmp_path, field_seconds="1"))
    shown = redactor.redact("SMITH, Anna of 12 Oak Street saw Dr. Lee. " * 4700)
    assert shown == "[WITHHELD: time limit]"
    assert redactor.withheld == {Withheld.TIME_LIMIT: 1}


@pytest.mark.parametrize(
    "junk", ["Mr. Holl\x00oway", "MRN \ud800 123", "caf\ufffd", "\x1b[31mred", "\x9b"]
)
def test_what_is_no_text_is_withheld(redactor: Redactor, junk: str):
    assert redactor.redact(junk) == "[WITHHELD: undecodable]"


def test_an_engine_that_breaks_withholds_and_does_not_quote(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object, **__: object) -> None:
        raise ValueError("Margaret Holloway")

    monkeypatch.setattr(engine._analyzer, "analyze", broken)
    assert engine.redact("Margaret Holloway") == "[WITHHELD: engine error]"


def test_a_long_stretch_without_spaces_is_tagged_whole(redactor: Redactor):
    assert redactor.redact("seen " + "Holloway|" * 60 + " today") == "seen [ID-1] today"


def test_identifiers_at_every_place_of_a_long_text_are_found(redactor: Redactor):
    filler = "He denies chest pain at rest and takes metoprolol daily. "
    text = "".join(
        f"{filler * 7}MRN: {10_000_000 + number} and Dr. Szczepanik. " for number in range(90)
    )
    assert len(text) > 30_000
    shown = redactor.redact(text)
    assert "Szczepanik" not in shown
    assert not any(str(10_000_000 + number) in shown for number in range(90))


def test_what_a_policy_keeps_stays_though_a_column_says_it(engine: Engine):
    assert engine.redact_record(["gout at 94 years"], [Identifier("SEX", "gout")]) == [
        "gout at [AGE-1] years"
    ]
