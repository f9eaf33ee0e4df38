"""A recogniser for trained spaCy pipelines, which detects the entities of their documents."""

from collections.abc import Mapping
from pathlib import Path

import spacy
from presidio_analyzer import RecognizerResult
from presidio_analyzer.nlp_engine import NlpArtifacts

from agent.io.model_folder import ModelFolderError
from agent.redaction.deadline import Deadline
from agent.redaction.models.other.labels import map_labels
from agent.redaction.models.other.recognizer import ModelOfOthers

_FINDERS = ("ner", "beam_ner", "entity_ruler")  # components that set entities
_NEEDED = ("tok2vec", "sentencizer", "senter")  # components on which those may depend
# Names of architectures whose weights are pickles.
_PICKLED = ("transformer", "torch", "tensorflow", "mxnet")
_SURE = 0.85  # score of every detection, because spaCy gives no probability


class SpacyPipeline(ModelOfOthers):
    """Detects the entities found by a spaCy pipeline.

    Raises:
        ModelFolderError: the folder is not a pipeline, has no entity component, or has a label that is not mapped.
    """

    def __init__(
        self, folder: Path, labels: Mapping[str, str | None], language: str, deadline: Deadline
    ) -> None:
        try:
            config = spacy.util.load_config(folder / "config.cfg")
            components = list(config["nlp"]["pipeline"])
        except Exception as error:  # noqa: BLE001 - a damaged folder may raise any error in the library
            raise ModelFolderError(
                f"config.cfg: expected a spaCy pipeline ({type(error).__name__})"
            ) from None
        finders = [name for name in components if name in _FINDERS]
        if not finders:
            raise ModelFolderError(
                f"it has no component that detects entities ({', '.join(_FINDERS)})"
            )
        if any(word in str(config).casefold() for word in _PICKLED):
            raise ModelFolderError(
                "it has weights of torch or tensorflow, which are pickles: loading one can execute code"
            )
        # Exclude components that are not needed, so that they are not even read.
        excluded = [name for name in components if name not in (*_FINDERS, *_NEEDED)]
        try:
            self._pipeline = spacy.load(folder, exclude=excluded)
        except Exception as error:  # noqa: BLE001 - as above
            raise ModelFolderError(f"spaCy cannot load it ({type(error).__name__})") from None
        labels_by_component = self._pipeline.meta.get("labels", {})
        own_labels: list[str] = []
        for name in finders:
            own_labels += labels_by_component.get(name, ())
        entities = map_labels(own_labels, labels)
        super().__init__("spaCy", folder, entities, language, deadline)

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return the entities in `text`.

        Raises:
            TimeoutError: the deadline passed.
        """
        del entities, nlp_artifacts
        self._deadline.left()
        with self._pipeline.memory_zone():
            results = []
            for span in self._pipeline(text).ents:
                entity = self._entities.get(span.label_)
                if entity is not None:
                    results.append(RecognizerResult(entity, span.start_char, span.end_char, _SURE))
            return results
