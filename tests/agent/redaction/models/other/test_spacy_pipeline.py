"""A spaCy pipeline of a site's own finds under our words, and a folder that is none is refused."""

import time

import pytest
import spacy

from agent.errors import RedactionError
from agent.redaction.deadline import Deadline
from agent.redaction.models.other import open_model
from tests.agent.redaction.models.other.deadlines import deadline


def test_a_spacy_pipeline_finds_under_our_words(pipeline):
    model = open_model("spacy", pipeline, {"ward_name": "FACILITY"}, ["en"], deadline())
    text = "Seven days ago seven nurses of Elm Ward met Xochitl."
    found = [(r.entity_type, text[r.start : r.end]) for r in model.analyze(text, [])]
    assert found == [("FACILITY", "Elm Ward"), ("NAME", "Xochitl")]
    assert model.supported_entities == ["FACILITY", "NAME"]


def test_a_label_that_nobody_explained_is_refused(pipeline):
    with pytest.raises(
        RedactionError, match=r"spacy:rules: the policy does not map the model's labels WARD_NAME"
    ) as refused:
        open_model("spacy", pipeline, {}, ["en"], deadline())
    assert "labels" in refused.value.advice


def test_a_label_explained_by_a_word_that_is_no_entity_is_refused(pipeline):
    with pytest.raises(RedactionError, match="labels: unknown entities: WARDS"):
        open_model("spacy", pipeline, {"WARD_NAME": "WARDS"}, ["en"], deadline())


def test_folders_that_are_no_pipeline_are_refused(pipeline, tmp_path):
    with pytest.raises(RedactionError, match=r"config\.cfg"):
        open_model("spacy", tmp_path, {}, ["en"], deadline())
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(RedactionError, match="no component that detects entities"):
        open_model("spacy", tmp_path / "blank", {}, ["en"], deadline())
    config = (pipeline / "config.cfg").read_text("utf-8")
    (tmp_path / "config.cfg").write_text(
        config.replace('["entity_ruler"]', '["transformer","ner"]'), "utf-8"
    )
    with pytest.raises(RedactionError, match="pickle"):
        open_model("spacy", tmp_path, {}, ["en"], deadline())
    pickled = '[components.entity_ruler]\nweights = "spacy.TorchBiLSTMEncoder.v1"'
    (tmp_path / "config.cfg").write_text(
        config.replace("[components.entity_ruler]", pickled), "utf-8"
    )
    with pytest.raises(RedactionError, match="pickle"):
        open_model("spacy", tmp_path, {}, ["en"], deadline())


def test_a_text_past_its_time_is_not_passed_as_searched(pipeline):
    late = Deadline()
    late.start(0.01)
    model = open_model("spacy", pipeline, {"WARD_NAME": "FACILITY"}, ["en"], late)
    time.sleep(0.02)
    with pytest.raises(TimeoutError):
        model.analyze("Xochitl", [])
