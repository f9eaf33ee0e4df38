"""A spaCy pipeline in a folder."""

import os
from pathlib import Path

import pytest
import spacy

# As `open_model` does, for the test modules that import onnxruntime themselves.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"


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
