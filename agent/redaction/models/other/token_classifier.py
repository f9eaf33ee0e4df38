"""A recogniser for transformers token classifiers, which detects every word with a token labelled as an identifier."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from presidio_analyzer import RecognizerResult
from presidio_analyzer.nlp_engine import NlpArtifacts
from transformers import AutoModelForTokenClassification, AutoTokenizer

from agent.io.model_folder import ModelFolderError, check_weights
from agent.redaction.deadline import Deadline
from agent.redaction.models.other.labels import map_labels
from agent.redaction.models.other.recognizer import ModelOfOthers, widen_to_word

_TOKENS = 512  # per window, unless the model supports fewer
_SHARED = 64  # tokens shared by consecutive windows
_AT_ONCE = 8  # windows per batch


class _LabelledToken(NamedTuple):
    entity: str
    start: int
    end: int
    score: float


class TokenClassifier(ModelOfOthers):
    """Detects identifiers with a model that labels tokens.

    Raises:
        ModelFolderError: the folder is not a token classifier with a fast tokenizer, or a label is not mapped.
    """

    def __init__(
        self, folder: Path, labels: Mapping[str, str | None], language: str, deadline: Deadline
    ) -> None:
        check_weights(folder)
        try:
            config = json.loads((folder / "config.json").read_bytes())
            self._labels = [
                config["id2label"][str(number)] for number in range(len(config["id2label"]))
            ]
            if any("ForTokenClassification" not in kind for kind in config["architectures"]):
                raise ModelFolderError("config.json: `architectures` names no token classifier")
        except (OSError, ValueError, LookupError, TypeError):
            raise ModelFolderError(
                "config.json: expected id2label and architectures, as transformers saves them"
            ) from None
        entities = map_labels(self._labels, labels)
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
            self._model = AutoModelForTokenClassification.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, use_safetensors=True
            ).eval()
        except Exception as error:  # noqa: BLE001 - a damaged folder may raise any error in the library
            raise ModelFolderError(
                f"transformers cannot load it ({type(error).__name__})"
            ) from None
        if not self._tokenizer.is_fast:
            raise ModelFolderError(
                "its tokenizer does not report the positions of tokens (tokenizer.json is missing)"
            )
        positions = getattr(self._model.config, "max_position_embeddings", None) or _TOKENS
        self._width = min(_TOKENS, positions - 2, self._tokenizer.model_max_length)
        super().__init__("transformers", folder, entities, language, deadline)

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return the words in `text` with at least one token that is labelled as an identifier.

        Raises:
            TimeoutError: the deadline passed.
        """
        del entities, nlp_artifacts
        if not text.strip():
            return []
        results = []
        for token in self._label_tokens(text):
            start, end = widen_to_word(text, token.start, token.end)
            results.append(RecognizerResult(token.entity, start, end, token.score))
        return results

    def _label_tokens(self, text: str) -> Iterator[_LabelledToken]:
        """Yield the tokens that the model labels as part of an identifier, window by window."""
        encoded = self._tokenizer(
            text,
            truncation=True,
            max_length=self._width,
            stride=min(_SHARED, self._width // 4),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            padding=True,
            return_tensors="pt",
        )
        offsets = encoded["offset_mapping"].tolist()
        for first in range(0, len(offsets), _AT_ONCE):
            self._deadline.left()
            batch = {
                name: encoded[name][first : first + _AT_ONCE]
                for name in ("input_ids", "attention_mask")
            }
            with torch.inference_mode():
                best = self._model(**batch).logits.softmax(-1).max(-1)
            labels, scores = best.indices.tolist(), best.values.tolist()
            for index in range(len(labels)):
                for (start, end), label, score in zip(
                    offsets[first + index], labels[index], scores[index], strict=True
                ):
                    entity = self._entities.get(self._labels[label])
                    if entity and end > start:
                        yield _LabelledToken(entity, start, end, score)
