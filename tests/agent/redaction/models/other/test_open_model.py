"""A model of others is opened by its kind."""

import json

import pytest

from agent.errors import RedactionError
from agent.redaction.models.other import open_model
from tests.agent.redaction.models.other.deadlines import deadline


@pytest.mark.parametrize("kind", ["transformers", "gliner", "onnx"])
def test_a_kind_whose_packages_are_missing_says_what_to_install(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("agent.redaction.models.other.find_spec", lambda name: None)
    (tmp_path / "config.json").write_text(json.dumps({}))
    with pytest.raises(RedactionError, match="not installed") as refused:
        open_model(kind, tmp_path, {}, ["en"], deadline())
    assert f"intramural[{kind}]" in refused.value.advice
