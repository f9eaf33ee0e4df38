"""spaCy's rule-based tokenizers as Presidio's language engine: no model, so nothing to download."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import spacy
from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine
from spacy.attrs import LOWER
from spacy.tokens import Doc

_FORGOTTEN_AFTER = 400_000  # characters: some megabytes of words
_STRETCH = re.compile(r"\s+|\S+")
_MAX_LENGTH = 400  # characters without a blank that are still taken apart
_KNOWN_STRETCHES = 30_000  # some 10 MB


@dataclass(frozen=True, slots=True)
class Words:
    """A text as spaCy's tokenizer splits it, white space that is more than one blank included.

    Attributes:
        texts: of the tokens, in order.
        starts: where each begins in the text.
    """

    texts: Sequence[str]
    starts: Sequence[int]

    def touching(self, start: int, end: int) -> range:
        """Return the tokens that hold any character from `start` to `end`, exclusive."""
        first = max(0, bisect_right(self.starts, start) - 1)
        if first < len(self.starts) and self.starts[first] + len(self.texts[first]) <= start:
            first += 1
        return range(first, bisect_left(self.starts, end, first))


class TokensOnDemand(NlpArtifacts):
    """One text as Presidio wants it. Tokens are made when asked for: only a finding in doubt asks for its context."""

    def __init__(self, text: str, engine: "TokenizerEngine", language: str) -> None:
        self._text = text
        self._engine = engine
        self._spoken = language

    @cached_property
    def tokens(self) -> Doc:  # type: ignore[override]  # Presidio reads it as a plain attribute, as all four
        """The text in tokens."""
        return self._engine.tokenised(self._text, self._spoken)

    def words(self) -> Words:
        """Return the text as the models read it."""
        return self._engine.words(self._text, self._spoken)

    def words_of(self, text: str) -> Words:
        """Return another text in the same language as the models read it."""
        return self._engine.words(text, self._spoken)

    @cached_property
    def tokens_indices(self) -> list[int]:  # type: ignore[override]
        """Where each token begins."""
        return [token.idx for token in self.tokens]

    @cached_property
    def lemmas(self) -> list[str]:  # type: ignore[override]
        """Each token in lower case: without a model it is its own lemma."""
        return [token.lower_ for token in self.tokens]

    @cached_property
    def keywords(self) -> list[str]:  # type: ignore[override]
        """The tokens that Presidio counts as context."""
        keywords: list[str] = self.set_keywords(self._engine, self.lemmas, self._spoken)
        return keywords


class TokenizerEngine(NlpEngine):
    """What Presidio asks of a language engine, answered with tokens alone."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._languages = {language: spacy.blank(language) for language in languages}
        self._known: dict[str, dict[str, tuple[tuple[int, str], ...]]] = {
            language: {} for language in languages
        }
        self._zones: dict[str, tuple[AbstractContextManager[object], int]] = {}
        for spoken in self._languages.values():
            # Of what spaCy works out of each new word, only its lower case is asked for.
            vocabulary: Any = spoken.vocab  # spaCy's stubs leave this attribute out
            vocabulary.lex_attr_getters = {LOWER: vocabulary.lex_attr_getters[LOWER]}

    @contextmanager
    def memory_zone(self, language: str, characters: int) -> Iterator[None]:
        """Forget the words read, from time to time, on entering: memory stays bounded, and common words stay known.

        Tokens made in the block must not be used after it.

        Args:
            language: of the text that is read in the block.
            characters: of that text.
        """
        zone, read = self._zones.get(language, (None, 0))
        if zone is not None and read > _FORGOTTEN_AFTER:
            zone.__exit__(None, None, None)
            zone = None
        if zone is None:
            zone, read = self._languages[language].memory_zone(), 0
            zone.__enter__()
        self._zones[language] = (zone, read + characters)
        yield

    def load(self) -> None:
        """Do nothing: the tokenizer comes with the object."""

    def is_loaded(self) -> bool:
        """Return True."""
        return True

    def process_text(self, text: str, language: str) -> NlpArtifacts:
        """Return the tokens of `text`, made when they are first asked for."""
        return TokensOnDemand(text, self, language)

    def words(self, text: str, language: str) -> Words:
        """Split `text` as `tokenised` does, in a fraction of its time: each stretch of it is split once."""
        known = self._known[language]
        texts: list[str] = []
        starts: list[int] = []
        for match in _STRETCH.finditer(text):
            stretch, at = match.group(), match.start()
            if stretch.isspace():
                if at and stretch[0] == " ":  # belongs to the token before
                    stretch, at = stretch[1:], at + 1
                if stretch:
                    texts.append(stretch)
                    starts.append(at)
                continue
            if len(stretch) > _MAX_LENGTH:  # no word, and spaCy's time would grow with its square
                texts.append(stretch)
                starts.append(at)
                continue
            pieces = known.get(stretch)
            if pieces is None:
                if len(known) >= _KNOWN_STRETCHES:
                    known.clear()
                pieces = known[stretch] = tuple(
                    (t.idx, t.text) for t in self.tokenised(stretch, language)
                )
            for offset, piece in pieces:
                texts.append(piece)
                starts.append(at + offset)
        return Words(texts, starts)

    def tokenised(self, text: str, language: str) -> Doc:
        """Return the tokens of `text`."""
        return self._languages[language].make_doc(text)

    def process_batch(
        self,
        texts: Iterable[str],
        language: str,
        batch_size: int = 1,
        n_process: int = 1,
        **kwargs: Any,
    ) -> Iterator[tuple[str, NlpArtifacts]]:
        """Process texts one by one; the sizes are Presidio's and change nothing here."""
        del batch_size, n_process, kwargs
        return ((text, self.process_text(text, language)) for text in texts)

    def is_stopword(self, word: str, language: str) -> bool:
        """Return False: every word counts as context."""
        del word, language
        return False

    def is_punct(self, word: str, language: str) -> bool:
        """Return whether `word` has neither letter nor digit."""
        del language
        return not any(character.isalnum() for character in word)

    def get_supported_entities(self) -> list[str]:
        """Return none: a tokenizer finds no entities."""
        return []

    def get_supported_languages(self) -> list[str]:
        """Return those it was made for."""
        return list(self._languages)
