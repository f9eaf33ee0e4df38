"""spaCy's rule-based tokenizers as Presidio's NLP engine. They need no model, so nothing is downloaded."""

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
from spacy.language import Language
from spacy.tokens import Doc

_FORGOTTEN_AFTER = 400_000  # characters after which a vocabulary (a few megabytes) is emptied
_STRETCH = re.compile(r"\s+|\S+")
# Words that the marks of JSON, XML, HL7 or a table join: `answer":"B`, `Smith^John`, `a|b`.
_JOINED_BY_SYNTAX = re.compile(r"""\w(?:\\*"[\]}]*[:,;][\[{]*\\*"|["|^~<>]+[/\w:,]*?)\w""")
_SYNTAX_OR_TEXT = re.compile(r"""[\]\[{}"|^~\\&<>=;]+|[^\]\[{}"|^~\\&<>=;]+""")
# Digits and marks, with so many digits in a row that no special case of spaCy's ("8)", "0.0") applies.
_LONG_NUMBER = re.compile(r"[^\w\s]{0,9}[0-9]{4,40}(?:[^\w\s]{1,3}[0-9]{4,40}){0,9}[^\w\s]{0,9}")
_DIGIT = re.compile("[0-9]")
_MAX_LENGTH = 400  # maximum characters without white space between them that are split into tokens
_KNOWN_STRETCHES = 30_000  # maximum number of cached runs of characters, about 10 MB


@dataclass(frozen=True, slots=True)
class Words:
    """A text split into spaCy's tokens. White space beyond a single space is a token of its own.

    Attributes:
        texts: the tokens, in order.
        starts: the start of each token in the text.
    """

    texts: Sequence[str]
    starts: Sequence[int]

    def touching(self, start: int, end: int) -> range:
        """Return the indices of the tokens that overlap the range from `start` to `end`, exclusive."""
        first = max(0, bisect_right(self.starts, start) - 1)
        if first < len(self.starts) and self.starts[first] + len(self.texts[first]) <= start:
            first += 1
        return range(first, bisect_left(self.starts, end, first))


class TokensOnDemand(NlpArtifacts):
    """The NLP artifacts of one text. Tokens are computed on demand, because only doubtful detections need context."""

    def __init__(self, text: str, engine: "TokenizerEngine", language: str) -> None:
        self._text = text
        self._engine = engine
        self._spoken = language

    @cached_property
    def tokens(self) -> Doc:  # type: ignore[override]  # a plain attribute in Presidio, like the next three
        """The text as tokens."""
        return self._engine.tokenised(self._text, self._spoken)

    def words(self) -> Words:
        """Return the text split into the tokens that the models read."""
        return self._engine.words(self._text, self._spoken)

    def words_of(self, text: str) -> Words:
        """Split another text, written in the language of this one, into the tokens that the models read."""
        return self._engine.words(text, self._spoken)

    @cached_property
    def tokens_indices(self) -> list[int]:  # type: ignore[override]
        """The start of each token."""
        return [token.idx for token in self.tokens]

    @cached_property
    def lemmas(self) -> list[str]:  # type: ignore[override]
        """Each token in lower case, since there is no model for lemmas."""
        return [token.lower_ for token in self.tokens]

    @cached_property
    def keywords(self) -> list[str]:  # type: ignore[override]
        """The tokens that Presidio uses as context."""
        keywords: list[str] = self.set_keywords(self._engine, self.lemmas, self._spoken)
        return keywords


class TokenizerEngine(NlpEngine):
    """An NLP engine for Presidio that provides only tokens."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._supported = list(languages)
        self._opened: dict[str, Language] = {}
        self._known: dict[str, dict[str, tuple[tuple[int, str], ...]]] = {
            language: {} for language in languages
        }
        self._zones: dict[str, tuple[AbstractContextManager[object], int]] = {}

    def _open(self, language: str) -> Language:
        """Return spaCy's tokenizer of a language, opened for its first text."""
        spoken = self._opened.get(language)
        if spoken is None:
            spoken = self._opened[language] = spacy.blank(language)
            # spaCy computes several attributes of each new word, of which only the lower-case form is needed.
            vocabulary: Any = spoken.vocab  # missing in spaCy's stubs
            vocabulary.lex_attr_getters = {LOWER: vocabulary.lex_attr_getters[LOWER]}
        return spoken

    @contextmanager
    def memory_zone(self, language: str, characters: int) -> Iterator[None]:
        """On entry, discard the vocabulary if it has grown too large. This bounds memory but keeps common words cached.

        Tokens created in the block must not be used after it.

        Args:
            language: the language of the text that is processed in the block.
            characters: the length of that text.
        """
        zone, read = self._zones.get(language, (None, 0))
        if zone is not None and read > _FORGOTTEN_AFTER:
            zone.__exit__(None, None, None)
            zone = None
        if zone is None:
            zone, read = self._open(language).memory_zone(), 0
            zone.__enter__()
        self._zones[language] = (zone, read + characters)
        yield

    def load(self) -> None:
        """Do nothing: the tokenizer is already loaded."""

    def is_loaded(self) -> bool:
        """Return True."""
        return True

    def process_text(self, text: str, language: str) -> NlpArtifacts:
        """Return the tokens of `text`, computed on demand."""
        return TokensOnDemand(text, self, language)

    def words(self, text: str, language: str) -> Words:
        """Split `text` like `tokenised` but much faster, because equal runs of characters are split only once."""
        known = self._known[language]
        texts: list[str] = []
        starts: list[int] = []
        for match in _STRETCH.finditer(text):
            stretch, at = match.group(), match.start()
            if stretch.isspace():
                if at and stretch[0] == " ":  # belongs to the previous token
                    stretch, at = stretch[1:], at + 1
                if stretch:
                    texts.append(stretch)
                    starts.append(at)
                continue
            if len(stretch) > _MAX_LENGTH:  # not a word, and spaCy would take quadratic time
                texts.append(stretch)
                starts.append(at)
                continue
            pieces = known.get(stretch)
            if pieces is None:
                pieces = self._split_unknown(stretch, language)
            for offset, piece in pieces:
                texts.append(piece)
                starts.append(at + offset)
        return Words(texts, starts)

    def _split_unknown(self, stretch: str, language: str) -> tuple[tuple[int, str], ...]:
        """Return the start and text of each token in a run of characters without white space, and cache them.

        Long numbers are cached by their shape: spaCy splits those of one shape alike.
        """
        known = self._known[language]
        shape = _DIGIT.sub("0", stretch) if _LONG_NUMBER.fullmatch(stretch) else stretch
        pieces = known.get(shape)
        if pieces is None:
            if len(known) >= _KNOWN_STRETCHES:
                known.clear()
            pieces = known[shape] = tuple(self._split_stretch(shape, language))
        if shape == stretch:
            return pieces
        return tuple((start, stretch[start : start + len(piece)]) for start, piece in pieces)

    def _split_stretch(self, stretch: str, language: str) -> Iterator[tuple[int, str]]:
        """Yield the start and text of each token in a run of characters without white space.

        Data whose syntax is damaged is split at its marks first: `answer":"B` is no word.
        """
        parts = [(0, stretch)]
        if _JOINED_BY_SYNTAX.search(stretch):
            parts = [(part.start(), part.group()) for part in _SYNTAX_OR_TEXT.finditer(stretch)]
        for start, part in parts:
            for token in self.tokenised(part, language):
                yield start + token.idx, token.text

    def tokenised(self, text: str, language: str) -> Doc:
        """Return the tokens of `text`."""
        return self._open(language).make_doc(text)

    def process_batch(
        self,
        texts: Iterable[str],
        language: str,
        batch_size: int = 1,
        n_process: int = 1,
        **kwargs: Any,
    ) -> Iterator[tuple[str, NlpArtifacts]]:
        """Process texts one by one; the batch parameters of Presidio's interface have no effect."""
        del batch_size, n_process, kwargs
        return ((text, self.process_text(text, language)) for text in texts)

    def is_stopword(self, word: str, language: str) -> bool:
        """Return False: every word counts as context."""
        del word, language
        return False

    def is_punct(self, word: str, language: str) -> bool:
        """Return whether `word` contains neither letters nor digits."""
        del language
        return not any(character.isalnum() for character in word)

    def get_supported_entities(self) -> list[str]:
        """Return an empty list: a tokenizer detects no entities."""
        return []

    def get_supported_languages(self) -> list[str]:
        """Return the languages of this engine."""
        return list(self._supported)
