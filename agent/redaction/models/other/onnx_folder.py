"""The files of a token classifier in ONNX format beside the model itself: labels, thresholds, lengths. No pickles."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.errors import StoreError
from agent.io.atomic_files import read_bounded
from agent.io.model_folder import ModelFolderError
from agent.redaction.models.other.labels import strip_prefix

MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
CONFIG = "config.json"
_THRESHOLDS = "thresholds.json"

_PICKLES = frozenset((".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib"))
_MAX_BYTES = 2**20  # of config.json and thresholds.json
_DEFAULT = "default"  # stands in thresholds.json for labels that it does not name
_USUAL_THRESHOLD = 0.5
_TOKENS = 512  # per window, unless the model reads fewer
_LEAST_TOKENS = 16  # with fewer, a word has hardly any context
_UNUSED_POSITIONS = 2  # position embeddings that RoBERTa and its relatives never use


def refuse_pickles(folder: Path) -> None:
    """Refuse a folder that contains a pickle, although nothing here would read it.

    Raises:
        ModelFolderError: there is one.
    """
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in _PICKLES:
            raise ModelFolderError(
                f"{path.name}: expected no pickle in the folder, because loading one can run code; remove it"
            )


def read_config(folder: Path) -> dict[str, Any]:
    """Read config.json, as transformers saves it.

    Raises:
        ModelFolderError: the file is missing or is not a JSON object.
    """
    return _read_object(folder, CONFIG)


def list_labels(config: Mapping[str, Any]) -> list[str]:
    """Return the labels in the order of the model's outputs.

    Raises:
        ModelFolderError: the label map is missing or malformed.
    """
    error = ModelFolderError(
        f'{CONFIG}: expected id2label with a label for each output: {{"0": "O", "1": "B-NAME", ...}}'
    )
    id2label = config.get("id2label")
    if not isinstance(id2label, dict) or len(id2label) < 2:
        raise error
    labels: list[str] = []
    for number in range(len(id2label)):
        label = id2label.get(str(number))
        if not isinstance(label, str) or not label:
            raise error
        labels.append(label)
    if len(set(labels)) < len(labels):
        raise ModelFolderError(f"{CONFIG}: id2label: expected each label once")
    return labels


def read_thresholds(folder: Path, labels: Sequence[str]) -> dict[str, float]:
    """Return the threshold of each label without its prefix, from thresholds.json if there is one.

    A threshold is the probability of being part of any identifier from which a token with that label is taken.

    Raises:
        ModelFolderError: the file names an unknown label, or something is not a probability.
    """
    stated: dict[str, Any] = {}
    if (folder / _THRESHOLDS).exists():
        stated = _read_object(folder, _THRESHOLDS)
    names = sorted({strip_prefix(label) for label in labels})
    by_name: dict[str, float] = {}
    for key, threshold in stated.items():
        if key != _DEFAULT and key.upper() not in names:
            raise ModelFolderError(
                f"{_THRESHOLDS}: expected {_DEFAULT} or labels of {CONFIG} without B- and I- ({', '.join(names)}), "
                f"not {key[:40]!r}"
            )
        is_number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if not is_number or not 0 < threshold < 1:
            raise ModelFolderError(
                f"{_THRESHOLDS}: {key[:40]}: expected a number above 0 and below 1"
            )
        by_name[key if key == _DEFAULT else key.upper()] = float(threshold)
    usual = by_name.get(_DEFAULT, _USUAL_THRESHOLD)
    return {name: by_name.get(name, usual) for name in names}


def choose_window(config: Mapping[str, Any], longest: int | None) -> int:
    """Return the number of tokens per window, including those that the tokenizer adds.

    Args:
        config: the contents of config.json.
        longest: the length to which the tokenizer itself truncates texts; None if it does not.

    Raises:
        ModelFolderError: the model reads too few tokens at once, or their number is malformed.
    """
    positions = config.get("max_position_embeddings", _TOKENS + _UNUSED_POSITIONS)
    if isinstance(positions, bool) or not isinstance(positions, int):
        raise ModelFolderError(f"{CONFIG}: max_position_embeddings: expected a whole number")
    window = min(_TOKENS, positions - _UNUSED_POSITIONS, longest or _TOKENS)
    if window < _LEAST_TOKENS:
        raise ModelFolderError(
            f"{CONFIG} and {TOKENIZER}: expected a model that reads at least {_LEAST_TOKENS} tokens, not {window}"
        )
    return window


def _read_object(folder: Path, name: str) -> dict[str, Any]:
    error = ModelFolderError(f"{name}: expected a JSON object of at most 1 MB")
    try:
        content = json.loads(read_bounded(folder / name, _MAX_BYTES, name))
    except StoreError as fault:
        raise ModelFolderError(f"{fault}; expected a JSON object") from None
    except (ValueError, RecursionError):
        raise error from None
    if not isinstance(content, dict):
        raise error
    return content
