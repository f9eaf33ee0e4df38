"""What all models of others are for Presidio: a recogniser, loaded with its object."""

from collections.abc import Mapping
from pathlib import Path

from presidio_analyzer import EntityRecognizer

from agent.redaction.deadline import Deadline


class ModelOfOthers(EntityRecognizer):
    """A model in a folder.

    Args:
        library: that it is of.
        folder: where it lies.
        entities: what each of its labels means.
        language: of the policy, in which it is asked once for every text.
        deadline: of the field that is looked at.
    """

    def __init__(
        self,
        library: str,
        folder: Path,
        entities: Mapping[str, str],
        language: str,
        deadline: Deadline,
    ) -> None:
        self._entities = entities
        self._deadline = deadline
        super().__init__(
            supported_entities=sorted(set(entities.values())),
            name=f"{library} {folder.name}",
            supported_language=language,
        )

    def load(self) -> None:
        """Do nothing: the model is loaded with the object."""
