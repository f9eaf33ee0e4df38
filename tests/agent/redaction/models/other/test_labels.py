"""Models of others by local path: a spaCy pipeline finds what it finds; a label that nobody explained is refused."""

import json
import time
from pathlib import Path

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import RedactionError
from agent.io.model_folder import ModelFolderError
from agent.redaction.deadline import Deadline
from agent.redaction.models.admission import folder_digest
from agent.redaction.models.other import open_model
from agent.redaction.models.other.labels import KNOWN, map_labels


def deadline(seconds: float = 10) -> Deadline:
    made = Deadline()
    made.start(seconds)
    return made


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = spacy.blank("en")
    made.add_pipe("entity_ruler").add_patterns(
        [
            {"label": "PERSON", "pattern": "Xochitl"},
            {"label": "WARD_NAME", "pattern": "Elm Ward"},
            {"label": "CARDINAL", "pattern": "seven"},
        ]
    )
    folder = tmp_path_factory.mktemp("models") / "rules"
    made.to_disk(folder)
    return folder


def test_a_spacy_pipeline_finds_under_our_words(pipeline):
    model = open_model("spacy", pipeline, {"ward_name": "FACILITY"}, ["en"], deadline())
    text = "Seven days ago seven nurses of Elm Ward met Xochitl."
    found = [(r.entity_type, text[r.start : r.end]) for r in model.analyze(text, [])]
    assert found == [("FACILITY", "Elm Ward"), ("NAME", "Xochitl")]
    assert model.supported_entities == ["FACILITY", "NAME"]


def test_a_label_that_nobody_explained_is_refused(pipeline):
    with pytest.raises(RedactionError, match=r"spacy:rules: nothing says what its labels WARD_NAME mean") as refused:
        open_model("spacy", pipeline, {}, ["en"], deadline())
    assert "labels" in refused.value.advice


def test_a_label_explained_by_a_word_that_is_no_entity_is_refused(pipeline):
    with pytest.raises(RedactionError, match="WARDS is no kind of identifier"):
        open_model("spacy", pipeline, {"WARD_NAME": "WARDS"}, ["en"], deadline())


def test_folders_that_are_no_pipeline_are_refused(pipeline, tmp_path):
    with pytest.raises(RedactionError, match=r"config\.cfg"):
        open_model("spacy", tmp_path, {}, ["en"], deadline())
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(RedactionError, match="no component that finds entities"):
        open_model("spacy", tmp_path / "blank", {}, ["en"], deadline())
    config = (pipeline / "config.cfg").read_text("utf-8")
    (tmp_path / "config.cfg").write_text(config.replace('["entity_ruler"]', '["transformer","ner"]'), "utf-8")
    with pytest.raises(RedactionError, match="pickle"):
        open_model("spacy", tmp_path, {}, ["en"], deadline())
    pickled = '[components.entity_ruler]\nweights = "spacy.TorchBiLSTMEncoder.v1"'
    (tmp_path / "config.cfg").write_text(config.replace("[components.entity_ruler]", pickled), "utf-8")
    with pytest.raises(RedactionError, match="pickle"):
        open_model("spacy", tmp_path, {}, ["en"], deadline())


def test_a_text_past_its_time_is_not_passed_as_searched(pipeline):
    late = Deadline()
    late.start(0.01)
    model = open_model("spacy", pipeline, {"WARD_NAME": "FACILITY"}, ["en"], late)
    time.sleep(0.02)
    with pytest.raises(TimeoutError):
        model.analyze("Xochitl", [])


def test_the_digest_changes_with_any_byte_of_the_folder(pipeline, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/weights").write_bytes(b"one")
    first = folder_digest(tmp_path)
    (tmp_path / "a/weights").write_bytes(b"two!")
    second = folder_digest(tmp_path)
    (tmp_path / "a/weights").rename(tmp_path / "a/weight")
    assert len({first, second, folder_digest(tmp_path), folder_digest(pipeline)}) == 4
    with pytest.raises(RedactionError, match="no such folder"):
        folder_digest(tmp_path / "missing")


@pytest.mark.parametrize("prefix", ["", "B-", "I-", "E-", "S-", "L-", "U-", "b-"])
def test_prefixes_of_a_tagging_scheme_are_no_part_of_a_label(prefix):
    assert map_labels([f"{prefix}PER", "O"], {}) == {f"{prefix}PER": "NAME"}


@given(st.text(min_size=1, max_size=12).filter(lambda label: label.upper() not in KNOWN and label[1:2] != "-"))
def test_no_unknown_label_passes(label: str):
    with pytest.raises(ModelFolderError):
        map_labels(["PER", label], {})


def test_a_model_of_labels_that_identify_nobody_is_refused():
    with pytest.raises(ModelFolderError, match="none of its labels"):
        map_labels(["O", "CARDINAL"], {})
    with pytest.raises(ModelFolderError, match="none of its labels"):
        map_labels(["PER"], {"PER": None})


@pytest.mark.parametrize("kind", ["transformers", "gliner"])
def test_a_kind_whose_packages_are_missing_says_what_to_install(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("agent.redaction.models.other.find_spec", lambda name: None)
    (tmp_path / "config.json").write_text(json.dumps({}))
    with pytest.raises(RedactionError, match="not installed") as refused:
        open_model(kind, tmp_path, {}, ["en"], deadline())
    assert f"intramural[{kind}]" in refused.value.advice
