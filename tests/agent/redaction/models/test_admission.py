"""Models take the place of the package's own only as they were measured, and only if they find no less."""

import json
from pathlib import Path

import pytest
import spacy

from agent.errors import RedactionError
from agent.redaction.engine import open_engine
from agent.redaction.models.admission import FILE, admit, check_admitted
from agent.redaction.policy.policy import RedactionPolicy, load_policy
from agent.redaction.rules_digest import rules_digest


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    made = spacy.blank("en")
    patterns = [
        {"label": "PERSON", "pattern": "lantern"},
        {"label": "ORG", "pattern": "Zzyx Works"},
    ]
    made.add_pipe("entity_ruler").add_patterns(patterns)
    made.to_disk(tmp_path / "rules")
    return tmp_path / "rules"


def policy_with(pipeline: Path, *, shipped: bool) -> RedactionPolicy:
    models = [{"kind": "spacy", "path": str(pipeline)}]
    content = load_policy("hipaa_safe_harbor").model_dump() | {
        "models": ["shipped", *models] if shipped else models
    }
    return RedactionPolicy.model_validate(content)


def written(pipeline: Path, *, shipped: bool) -> Path:
    path = pipeline.parent / "ours.yaml"
    path.write_text(
        policy_with(pipeline, shipped=shipped).model_dump_json(), "utf-8"
    )  # JSON is YAML
    return path


def test_a_model_beside_the_packages_own_adds_its_findings(pipeline: Path):
    written(pipeline, shipped=True)
    text = "the wound was seen by lantern, says Dr. Anna Kowalski"
    assert "lantern" in open_engine("hipaa_safe_harbor").redact(text)
    shown = open_engine("ours.yaml", pipeline.parent).redact(text)
    assert "lantern" not in shown
    assert "Kowalski" not in shown


def test_a_model_in_its_place_must_have_been_measured(pipeline: Path):
    written(pipeline, shipped=False)
    with pytest.raises(
        RedactionError, match="have not been measured in their current state"
    ) as refused:
        open_engine("ours.yaml", pipeline.parent)
    assert "--admit" in refused.value.advice
    admit(policy_with(pipeline, shipped=False), pipeline.parent, (10, 30), 0.99, 0.99, force=False)
    assert "lantern" not in open_engine("ours.yaml", pipeline.parent).redact("seen by lantern")


def test_a_model_that_finds_less_is_refused_unless_forced(pipeline: Path):
    policy = policy_with(pipeline, shipped=False)
    with pytest.raises(RedactionError, match=r"0\.9000 with these models and 0\.9900"):
        admit(policy, pipeline.parent, (10, 30), 0.90, 0.99, force=False)
    assert not (pipeline.parent / FILE).exists()
    assert admit(policy, pipeline.parent, (10, 30), 0.90, 0.99, force=True).forced
    check_admitted(policy, pipeline.parent)


def test_a_folder_that_changed_must_be_measured_again(pipeline: Path):
    policy = policy_with(pipeline, shipped=False)
    before = rules_digest(policy)
    admit(policy, pipeline.parent, (10, 30), 1.0, 0.99, force=False)
    (pipeline / "meta.json").write_text((pipeline / "meta.json").read_text() + " ")
    with pytest.raises(RedactionError, match="have not been measured in their current state"):
        check_admitted(policy, pipeline.parent)
    assert rules_digest(policy) != before  # nor does what was found before count any more


def test_a_spoilt_list_of_admissions_admits_nothing(pipeline: Path):
    (pipeline.parent / FILE).write_text('[{"models": 3}]')
    with pytest.raises(RedactionError, match=FILE):
        check_admitted(policy_with(pipeline, shipped=False), pipeline.parent)


@pytest.mark.parametrize(
    ("models", "place"),
    [
        ([], "models"),
        (["theirs"], "models.0"),
        ([{"kind": "spacy", "path": "relative"}], "models.0"),
        ([{"kind": "pickle", "path": "/m"}], "models.0"),
        ([{"kind": "spacy", "path": "/m", "labels": {"X": "NOBODY"}}], "models.0"),
    ],
)
def test_models_that_are_none_are_refused_by_place(
    models: list[object], place: str, tmp_path: Path
):
    content = load_policy("hipaa_safe_harbor").model_dump(mode="json") | {"models": models}
    (tmp_path / "ours.yaml").write_text(json.dumps(content))
    with pytest.raises(RedactionError, match=place):
        load_policy("ours.yaml", tmp_path)
