"""The base class of recognisers for other models, which are loaded on construction."""

import unicodedata
from collections.abc import Mapping
from pathlib import Path

from presidio_analyzer import EntityRecognizer

from agent.redaction.deadline import Deadline


class ModelOfOthers(EntityRecognizer):
    """A recogniser for a model in a folder.

    Args:
        library: the library that loads the model.
        folder: the folder of the model.
        entities: the entity for each of its labels.
        language: a language of the policy, for which the model is registered so that it analyses each text once.
        deadline: time limit for the current field.
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
        """Do nothing: the model is already loaded."""


def widen_to_word(text: str, start: int, end: int) -> tuple[int, int]:
    """Extend part of a word to the whole word, so that a name is never shown in part."""
    while start > 0 and _is_part(text[start - 1]) and _is_part(text[start]):
        start -= 1
    while end < len(text) and _is_part(text[end]) and _is_part(text[end - 1]):
        end += 1
    return start, end


def _is_part(character: str) -> bool:
    """Return whether a character is a letter, a digit, or a mark on one, such as a separate accent."""
    return character.isalnum() or unicodedata.category(character).startswith("M")
