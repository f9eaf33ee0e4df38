"""A site's model goes on learning from reviewed texts: it finds what it was shown, or it is not written."""

from pathlib import Path

import pytest

from agent.errors import RedactionError
from agent.redaction.engine import build_engine
from agent.redaction.measuring import fine_tuning
from agent.redaction.measuring.bench import GoldText
from agent.redaction.measuring.fine_tuning import fine_tune
from agent.redaction.policy.policy import OtherModel, load_policy
from tests.agent.redaction.measuring.house_texts import house_texts

POLICY = load_policy("hipaa_safe_harbor")


@pytest.mark.full
def test_it_finds_what_it_was_shown_and_the_packages_own_does_not(tmp_path: Path):
    made = fine_tune(house_texts(400), POLICY, tmp_path / "ours", seed=1, force=False)
    assert made.after.leaks < made.before.leaks
    assert made.learned + made.held_out == 400
    new = OtherModel(kind="intramural", path=str(tmp_path / "ours"))
    both = build_engine(POLICY.model_copy(update={"models": ("shipped", new)}))
    shown = both.redact(
        "3 tablets given, plan unchanged, bed moved to kettle corner, seen by Dr. Anna Kowalski."
    )
    assert "kettle" not in shown
    assert "Kowalski" not in shown


@pytest.mark.full
def test_one_that_forgets_is_not_written(tmp_path: Path):
    """What it learns from calls nobody by name, what it is measured on does."""
    taught = []
    for number in range(1_200):
        text = f"case {number}: Zbysko Quatrell wrote the plan, Ilva Thornquay read it, sat out in chair."
        names = [
            (text.index(name), text.index(name) + len(name), "NAME")
            for name in ("Zbysko Quatrell", "Ilva Thornquay")
        ]
        held_out = fine_tuning._is_held_out(GoldText(text, ()))
        taught.append(GoldText(text, tuple(names) if held_out else ()))
    with pytest.raises(
        RedactionError,
        match="refused: of the identifiers in the held-out texts, the new model misses",
    ):
        fine_tune(taught, POLICY, tmp_path / "ours", seed=1, force=False)
    assert list(tmp_path.iterdir()) == []


def test_few_texts_teach_nothing(tmp_path: Path):
    with pytest.raises(RedactionError, match="too few to learn from"):
        fine_tune(house_texts(19), POLICY, tmp_path / "ours", seed=1, force=False)


def test_a_kind_that_nobody_knows_is_not_quoted(tmp_path: Path):
    texts = [
        GoldText(text.text, tuple((a, b, "Margaret Holloway") for a, b, _ in text.spans))
        for text in house_texts(80)
    ]
    with pytest.raises(
        RedactionError, match="kind of identifier in the texts is unknown"
    ) as refused:
        fine_tune(texts, POLICY, tmp_path / "ours", seed=1, force=False)
    assert "Holloway" not in str(refused.value) + refused.value.advice
