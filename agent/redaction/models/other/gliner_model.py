"""A recogniser for GLiNER models, which detect kinds of identifiers given by name."""

import logging
import re
import warnings
from collections.abc import Mapping
from pathlib import Path

from presidio_analyzer import RecognizerResult
from presidio_analyzer.nlp_engine import NlpArtifacts

from agent.io.model_folder import ModelFolderError, check_weights
from agent.redaction.deadline import Deadline
from agent.redaction.models.other.labels import map_labels
from agent.redaction.models.other.recognizer import ModelOfOthers

# The names of the kinds to detect, unless the policy's labels list others.
_ASKED: dict[str, str | None] = {
    "person": "NAME",
    "location": "LOCATION",
    "hospital": "FACILITY",
    "organization": "ORGANIZATION",
    "street address": "ADDRESS",
    "date": "DATE",
    "phone number": "PHONE",
    "email": "EMAIL",
    "medical record number": "MRN",
    "identification number": "ID",
}
_WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")  # the same as GLiNER's own word pattern
_WORDS = 250  # per window; GLiNER truncates longer inputs, most models at 384
_SHARED = 40  # words shared by consecutive windows
_MIN_PROBABILITY = 0.3  # low, to favour recall


class GlinerModel(ModelOfOthers):
    """Detects entities with a GLiNER model, given the policy's labels.

    Raises:
        ModelFolderError: the folder is not a GLiNER model with weights in safetensors format.
    """

    def __init__(
        self, folder: Path, labels: Mapping[str, str | None], language: str, deadline: Deadline
    ) -> None:
        if not (folder / "gliner_config.json").is_file():
            raise ModelFolderError("it has no gliner_config.json")
        check_weights(folder)
        if any(folder.glob("*.bin")) or any(folder.glob("*.pt")):
            raise ModelFolderError(
                "it also has weights in a pickle, which GLiNER might load; remove them"
            )
        entity_of_label = dict(labels) or _ASKED
        entities = map_labels(entity_of_label, entity_of_label)
        from gliner import GLiNER

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._model = GLiNER.from_pretrained(str(folder), local_files_only=True)
        except Exception as error:  # noqa: BLE001 - a damaged folder may raise any error in the library
            raise ModelFolderError(f"GLiNER cannot load it ({type(error).__name__})") from None
        logging.getLogger("gliner").disabled = True  # it may log a text that it truncates
        self._words = min(_WORDS, int(self._model.config.max_len) - 1)
        super().__init__("GLiNER", folder, entities, language, deadline)

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return the model's detections in `text`, which is processed in overlapping windows.

        Raises:
            TimeoutError: the deadline passed.
        """
        del entities, nlp_artifacts
        words = [match.span() for match in _WORD.finditer(text)]
        results = []
        step = max(1, self._words - min(_SHARED, self._words // 4))
        for first in range(0, len(words), step):
            self._deadline.left()
            end_of_window = min(first + self._words, len(words))
            start, end = words[first][0], words[end_of_window - 1][1]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                spans = self._model.predict_entities(
                    text[start:end], list(self._entities), threshold=_MIN_PROBABILITY
                )
            for span in spans:
                entity = self._entities[span["label"]]
                score = float(span["score"])
                results.append(
                    RecognizerResult(entity, start + span["start"], start + span["end"], score)
                )
            if end_of_window == len(words):
                break
        return results
