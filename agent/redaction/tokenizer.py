"""spaCy's rule-based English tokenizer as Presidio's language engine: no model, so nothing to download."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import spacy
from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine


class TokenizerEngine(NlpEngine):
    """What Presidio asks of a language engine, answered with tokens alone."""

    def __init__(self) -> None:
        self._language = spacy.blank("en")

    def memory_zone(self) -> AbstractContextManager[object]:
        """Forget, on leaving the block, every word that was tokenised in it: memory stays bounded."""
        zone: AbstractContextManager[object] = self._language.memory_zone()
        return zone

    def load(self) -> None:
        """Do nothing: the tokenizer comes with the object."""

    def is_loaded(self) -> bool:
        """Return True."""
        return True

    def process_text(self, text: str, language: str) -> NlpArtifacts:
        """Tokenise; each token in lower case is its own lemma, and there are no entities."""
        tokens = self._language.make_doc(text)
        return NlpArtifacts([], tokens, [t.idx for t in tokens], [t.lower_ for t in tokens], self, language)

    def process_batch(
        self, texts: Iterable[str], language: str, batch_size: int = 1, n_process: int = 1, **kwargs: Any
    ) -> Iterator[tuple[str, NlpArtifacts]]:
        """Tokenise texts one by one; the sizes are Presidio's and change nothing here."""
        del batch_size, n_process, kwargs
        return ((text, self.process_text(text, language)) for text in texts)

    def is_stopword(self, word: str, language: str) -> bool:
        """Return False: every word counts as context."""
        del word, language
        return False

    def is_punct(self, word: str, language: str) -> bool:
        """Tell whether `word` has neither letter nor digit."""
        del language
        return not any(character.isalnum() for character in word)

    def get_supported_entities(self) -> list[str]:
        """Return none: a tokenizer finds no entities."""
        return []

    def get_supported_languages(self) -> list[str]:
        """Return English."""
        return ["en"]
