"""A site's model goes on learning from reviewed texts: it finds what it was shown, or it is not written."""

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.cli.redact_train import train
from agent.errors import RedactionError
from agent.redaction.engine import build_engine
from agent.redaction.measuring import fine_tuning
from agent.redaction.measuring.bench import GoldText, read_gold
from agent.redaction.measuring.fine_tuning import fine_tune
from agent.redaction.policy.policy import OtherModel, load_policy

POLICY = load_policy("hipaa_safe_harbor")
WORDS = "harvest copper pebble thimble lantern saddle barley walnut kettle".split()  # noqa: SIM905 (a row of words)


def house_texts(count: int, seed: int = 0) -> list[GoldText]:
    """Texts of a hospital that calls its wards by everyday words, where nobody else would look for a name."""
    chance = random.Random(seed)
    texts = []
    for number in range(count):
        ward = chance.choice(WORDS)
        before = f"{chance.randint(2, 9)} tablets given, plan unchanged, sat out in chair, bed moved to "
        text = f"{before}{ward} corner, case {number}, potassium {chance.randint(30, 50) / 10} mmol/l."
        texts.append(GoldText(text, ((len(before), len(before) + len(ward), "FACILITY"),)))
    return texts


@pytest.mark.full
def test_it_finds_what_it_was_shown_and_the_packages_own_does_not(tmp_path: Path):
    made = fine_tune(house_texts(400), POLICY, tmp_path / "ours", seed=1, force=False)
    assert made.after.leaks < made.before.leaks
    assert made.learned + made.held_out == 400
    new = OtherModel(kind="intramural", path=str(tmp_path / "ours"))
    both = build_engine(POLICY.model_copy(update={"models": ("shipped", new)}))
    shown = both.redact("3 tablets given, plan unchanged, bed moved to kettle corner, seen by Dr. Anna Kowalski.")
    assert "kettle" not in shown
    assert "Kowalski" not in shown


def test_one_that_forgets_is_not_written(tmp_path: Path):
    """What it learns from calls nobody by name, what it is measured on does."""
    taught = []
    for number in range(400):
        text = f"case {number}: Zbysko Quatrell wrote the plan, Ilva Thornquay read it, sat out in chair."
        names = [
            (text.index(name), text.index(name) + len(name), "NAME") for name in ("Zbysko Quatrell", "Ilva Thornquay")
        ]
        held_out = fine_tuning._is_held_out(GoldText(text, ()))
        taught.append(GoldText(text, tuple(names) if held_out else ()))
    with pytest.raises(RedactionError, match="refused: of the identifiers in texts kept back it leaves"):
        fine_tune(taught, POLICY, tmp_path / "ours", seed=1, force=False)
    assert list(tmp_path.iterdir()) == []


def test_few_texts_teach_nothing(tmp_path: Path):
    with pytest.raises(RedactionError, match="too few to learn from"):
        fine_tune(house_texts(19), POLICY, tmp_path / "ours", seed=1, force=False)


def test_a_kind_that_nobody_knows_is_not_quoted(tmp_path: Path):
    texts = [
        GoldText(text.text, tuple((a, b, "Margaret Holloway") for a, b, _ in text.spans)) for text in house_texts(80)
    ]
    with pytest.raises(RedactionError, match="kind of identifier in the texts is unknown") as refused:
        fine_tune(texts, POLICY, tmp_path / "ours", seed=1, force=False)
    assert "Holloway" not in str(refused.value) + refused.value.advice


def test_the_command_says_what_came_of_it(tmp_path: Path):
    rows = [{"text": text.text, "spans": [list(place) for place in text.spans]} for text in house_texts(120)]
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert len(read_gold(gold)) == 120
    said = CliRunner().invoke(train, ["--gold", str(gold), "--out", str(tmp_path / "ours")])
    assert said.exit_code == 0, said.exception
    assert "kept back to measure on" in said.output
    assert f"path: {tmp_path / 'ours'}" in said.output
    again = CliRunner().invoke(train, ["--gold", str(gold), "--out", str(tmp_path / "ours")])
    assert "is not empty" in str(again.exception)
