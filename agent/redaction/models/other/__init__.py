"""Models from elsewhere, loaded from a local folder: spaCy pipelines, token classifiers (transformers, ONNX), GLiNER.

Each becomes one Presidio recogniser. Nothing is downloaded, no pickle is read, and no code in the folder is executed.
"""

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from presidio_analyzer import EntityRecognizer

from agent.errors import RedactionError
from agent.io.install_hint import describe_install
from agent.io.model_folder import ModelFolderError
from agent.redaction.deadline import Deadline

_PACKAGES = {
    "spacy": ("spacy",),
    "transformers": ("torch", "transformers"),
    "gliner": ("torch", "gliner"),
    "onnx": ("onnxruntime", "tokenizers"),
}


def open_model(
    kind: str,
    folder: Path,
    labels: Mapping[str, str | None],
    languages: Sequence[str],
    deadline: Deadline,
    odds: float = 1.0,
) -> EntityRecognizer:
    """Load a model, and return it as a recogniser that analyses every text once.

    Args:
        kind: "spacy", "transformers", "gliner" or "onnx".
        folder: the folder of the model.
        labels: the entity of each of the model's labels, or None for labels that do not identify a person. Only
            needed for labels outside the common schemes.
        languages: languages of the policy.
        deadline: time limit for the current field.
        odds: see `RedactionPolicy.model_odds`; only for models with thresholds, which are those of kind "onnx".

    Raises:
        RedactionError: the packages are not installed, the folder is not a valid model, or a label is unknown.
    """
    missing = [name for name in _PACKAGES[kind] if find_spec(name) is None]
    if missing:
        raise RedactionError(
            f"a model of kind {kind} needs {', '.join(missing)}, which is not installed",
            describe_install(kind),
        )
    # Set before the libraries are imported, because they read these variables only once.
    os.environ |= {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        # Otherwise onnxruntime, from 1.29, writes an id of the machine to disk and reports to its makers.
        "ORT_DISABLE_TELEMETRY": "1",
    }
    try:
        if kind == "spacy":
            from agent.redaction.models.other.spacy_pipeline import SpacyPipeline

            return SpacyPipeline(folder, labels, languages[0], deadline)
        if kind == "transformers":
            from agent.redaction.models.other.token_classifier import TokenClassifier

            return TokenClassifier(folder, labels, languages[0], deadline)
        if kind == "onnx":
            from agent.redaction.models.other.onnx_classifier import OnnxClassifier

            return OnnxClassifier(folder, labels, languages[0], deadline, odds)
        from agent.redaction.models.other.gliner_model import GlinerModel

        return GlinerModel(folder, labels, languages[0], deadline)
    except ModelFolderError as error:
        raise RedactionError(
            f"model {kind}:{folder.name}: {error}",
            "Give the folder of a model as its library saves it, and map its labels to entities under `labels`.",
        ) from None
