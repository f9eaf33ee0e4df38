"""The shipped named-entity models as Presidio recognisers."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
from presidio_analyzer import EntityRecognizer, RecognizerResult
from presidio_analyzer.nlp_engine import NlpArtifacts

from agent.errors import RedactionError
from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity, tag_name
from agent.redaction.models.network import OTHER, Network, read_network
from agent.redaction.models.tokenizer import TokensOnDemand, Words
from agent.redaction.replacements.tags import TAG
from agent.redaction.rules.rulebook import SURE
from agent.redaction.spans.span import Span

_PLAIN_BOUND = 0.8  # bound for lower-case words in a text that has capitals

# Bound for words in small letters that are not in the vocabulary of their language, however the text is written.
_UNLISTED_BOUND = 0.01
_SHORTEST_UNLISTED = 3  # letters

# These words are never part of a name, place or number. Redacting one would reverse the meaning of the sentence. A name
# may continue after "DO".
_NEGATIONS = frozenset(("not", "denies", "denied", "never", "cannot", "without", "nor", "neither"))
_NEGATIONS_AT_THE_END = frozenset(("NO", "DO"))

# A detection that consists only of these words is not an identifier.
_LINKS = frozenset(
    {"of", "the", "and", "at", "in", "on", "to", "from", "for", "by", "with", "a", "an", "or"}
)

# Bound for supposed addresses that neither look like one nor are near a location: "2110 via", "AVR 2019".
_ODD_ADDRESS_BOUND = 0.9
_BESIDE = 3  # tokens on each side
# In lower case, these words continue the sentence after an address.
_GOES_ON = frozenset((
    "are", "but", "can", "cannot", "could", "did", "does", "for", "has", "had", "have", "how", "is", "it", "logged",
    "may", "must", "needs", "should", "still", "that", "then", "there", "was", "we", "were", "what", "when", "where",
    "which", "while", "who", "whom", "why", "will", "with", "would",
))  # fmt: skip
_LIKE_AN_ADDRESS = re.compile(r"\d{5}|[A-Z]\w?\d[\w ]?|[^\W\d_]*[A-ZÀ-Þ][a-zß-ÿ]{2}|#")

# Languages with a shipped model. If the model is missing, their texts are withheld.
SHIPPED: tuple[str, ...] = ("en", "es")

# Typical values of each entity, which the network reads in place of tags.
USUAL = {
    "NAME": "Anna Kowalski",
    "LOCATION": "Boston",
    "FACILITY": "Elm Hospital",
    "ORGANIZATION": "Acme Corp",
    "ADDRESS": "12 Oak Street",
    "DATE": "03/14/2022",
    "PHONE": "617-555-0143",
    "EMAIL": "a.k@ward.example",
    "AGE": "93",
    "URL": "https://ward.example",
    "SEX": "woman",
    "FAMILY": "mother",
    "PROFESSION": "teacher",
    "NATIONALITY": "Dutch",
}
USUAL_NUMBER = "00451234"

_MODELS = Path(__file__).parents[1] / "models"


# A function that returns whether a detection, given as text, start, end and entity, identifies no person.
Harmless = Callable[[str, int, int, str], bool]
# A function that returns whether a word in small letters is not in the vocabulary of its language.
Unlisted = Callable[[str], bool]


def keep_every_detection(text: str, start: int, end: int, kind: str) -> bool:
    """Return that a detection is not harmless, for languages without a test."""
    del text, start, end, kind
    return False


def list_every_word(word: str) -> bool:
    """Return that a word is listed, for languages without a vocabulary."""
    del word
    return False


def scale_bound(bound: float, odds: float) -> float:
    """Return the probability whose odds are those of `bound` times `odds`."""
    return bound * odds / (1 - bound + bound * odds)


class NoModelError(Exception):
    """The model is missing or damaged, so that no text can be analysed."""


def shipped_model(language: str) -> Path | None:
    """Return the folder of the shipped model for `language`, or None if there is none."""
    return _MODELS / language if language in SHIPPED else None


class StandIns:
    """A text in which typical values replace identifiers, with the positions of the original.

    Attributes:
        text: the text with the typical values.
        stretches: positions of the typical values in `text`, in order.
    """

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        pieces: list[str] = []
        end_of_last, length = 0, 0
        self.stretches: list[tuple[int, int]] = []
        self._spans = spans
        for span in spans:
            ordinary = USUAL.get(tag_name(span.entity), USUAL_NUMBER)
            # Separated from adjacent letters, so that it is not read as part of their word.
            if text[span.start - 1 : span.start].isalnum():
                ordinary = " " + ordinary
            if text[span.end : span.end + 1].isalnum():
                ordinary += " "
            pieces += [text[end_of_last : span.start], ordinary]
            length += span.start - end_of_last
            self.stretches.append((length, length + len(ordinary)))
            length += len(ordinary)
            end_of_last = span.end
        self.text = "".join([*pieces, text[end_of_last:]])

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Return the position in the original of `text[start:end]`, excluding identifiers at its ends."""
        return self._locate_position(start, is_start=True), self._locate_position(
            end, is_start=False
        )

    def _locate_position(self, position: int, *, is_start: bool) -> int:
        index = bisect_right(self.stretches, (position, position)) - 1
        if index < 0:
            return position
        start, end = self.stretches[index]
        span = self._spans[index]
        if start <= position < end or (position == end and start < end and not is_start):
            return span.end if is_start else span.start
        return position - end + span.end


class ModelRecognizer(EntityRecognizer):
    """Detects identifiers with a trained network."""

    def __init__(
        self,
        language: str,
        folder: Path,
        deadline: Deadline,
        odds: float = 1.0,
        is_harmless: Harmless = keep_every_detection,
        is_unlisted: Unlisted = list_every_word,
    ) -> None:
        """Read the model in `folder`. If it cannot be read, `analyze` raises an error.

        Args:
            language: the language of the texts.
            folder: the folder of the model.
            deadline: the time limit for analysis.
            odds: factor for the odds of all bounds (see `RedactionPolicy.model_odds`).
            is_harmless: returns whether to drop a detection, given as its text, start, end and entity.
            is_unlisted: returns whether a word in small letters may be a name because no list has it.
        """
        self._deadline = deadline
        self._is_harmless = is_harmless
        self._is_unlisted = is_unlisted
        self._network: Network | None = None
        self._kinds: list[str] = []
        with suppress(RedactionError):
            self._network = read_network(folder)
        if self._network is not None:
            self._kinds = [kind for kind in self._network.meta.kinds if kind != OTHER]
            bounds = self._network.meta.bounds
            self._bounds = np.array(
                [scale_bound(bounds[kind], odds) for kind in self._kinds], dtype=np.float32
            )
        self._plain_bound = scale_bound(_PLAIN_BOUND, odds)
        self._unlisted_bound = scale_bound(_UNLISTED_BOUND, odds)
        self._odd_address_bound = scale_bound(_ODD_ADDRESS_BOUND, odds)
        super().__init__(
            supported_entities=self._kinds or list(get_args(Entity)),
            name=f"{language} model",
            supported_language=language,
        )

    def load(self) -> None:
        """Do nothing: the network has already been read."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return the detections of `entities`.

        Tags in `text` are read as typical values, so that they neither hide their context nor make it look unusual.

        Raises:
            NoModelError: the model could not be read.
            TimeoutError: the deadline passed.
        """
        if not isinstance(nlp_artifacts, TokensOnDemand) or not text.strip():
            return []
        if "[" in text and TAG.search(text):
            return self.analyze_beside(text, [], entities, nlp_artifacts.words_of)
        return self._detect(text, nlp_artifacts.words(), entities, [])

    def read_ahead(self, texts: Sequence[Words]) -> None:
        """Prepare the analysis of short texts, so that `analyze` takes less time for each of them."""
        if self._network is not None:
            self._network.read_ahead(words.texts for words in texts)

    def analyze_beside(
        self,
        text: str,
        known: Sequence[Span],
        entities: list[str],
        words_of: Callable[[str], Words],
    ) -> list[RecognizerResult]:
        """Return the detections outside `known` spans and tags, both of which are read as typical values.

        Args:
            text: the text to analyse.
            known: spans of the text, in order and without overlaps.
            entities: the entities to detect.
            words_of: splits a text into words.

        Raises:
            NoModelError, TimeoutError: see `analyze`.
        """
        stand_ins = StandIns(text, _add_tags(known, text))
        words = words_of(stand_ins.text)
        known_tokens = [
            token for stretch in stand_ins.stretches for token in words.touching(*stretch)
        ]
        results = self._detect(stand_ins.text, words, entities, known_tokens)
        for result in results:
            result.start, result.end = stand_ins.locate(result.start, result.end)
        return [result for result in results if result.start < result.end]

    def _detect(
        self, text: str, words: Words, entities: list[str], known_tokens: Sequence[int]
    ) -> list[RecognizerResult]:
        """Return the detections among the tokens that no known span covers.

        A token is detected if its probability of being anything but harmless reaches the bound of its most probable
        kind. Adjacent tokens of one kind form one detection.
        """
        self._deadline.left()
        if self._network is None:
            raise NoModelError
        guesses = self._guess(self._network, words, known_tokens)
        if not guesses.is_evident.any():
            return []
        self._take_as_names(words.texts, guesses)
        has_capitals = not (text.islower() or text.isupper())
        results = []
        for kind_index, tokens in guesses.group_neighbours():
            kind = self._kinds[kind_index]
            if kind not in entities or self._is_weak(
                words.texts, tokens, guesses, has_capitals=has_capitals
            ):
                continue
            start, end = _locate_tokens(words, tokens, text)
            if not self._is_harmless(text, start, end, kind):
                results.append(RecognizerResult(kind, start, end, SURE))
        return results

    def _guess(self, network: Network, words: Words, known_tokens: Sequence[int]) -> "_Guesses":
        probabilities = network.probabilities(words.texts)
        sensitive = 1 - probabilities[:, 0]
        kinds = probabilities[:, 1:].argmax(axis=1)
        is_evident = sensitive >= self._bounds[kinds]
        for token in np.flatnonzero(~is_evident & (sensitive >= self._unlisted_bound)).tolist():
            is_evident[token] = self._may_be_name(words.texts[token])
        if known_tokens:
            is_evident[list(known_tokens)] = False
        for token in np.flatnonzero(is_evident).tolist():
            more_follows = token + 1 < len(is_evident) and bool(is_evident[token + 1])
            kind = self._kinds[kinds[token]]
            is_evident[token] = not _ends_before(
                words.texts[token], kind, more_follows=more_follows
            )
        return _Guesses(sensitive, kinds, is_evident)

    def _is_weak(
        self,
        words: Sequence[str],
        tokens: Sequence[int],
        guesses: "_Guesses",
        *,
        has_capitals: bool,
    ) -> bool:
        """Return whether the evidence for a detection is too weak, given how it is written.

        In a text with capitals, lower-case words need strong evidence, as does an address that does not look like one.
        """
        texts = [words[token] for token in tokens]
        if all(text in _LINKS or not any(map(str.isalnum, text)) for text in texts):
            return True
        if not has_capitals or any(map(self._may_be_name, texts)):
            return False
        if guesses.sensitive[tokens].max() < self._plain_bound and all(map(_is_small_word, texts)):
            return True
        return (
            self._kinds[guesses.kinds[tokens[0]]] == "ADDRESS"
            and guesses.sensitive[tokens].min() < self._odd_address_bound
            and not self._is_like_address(words, tokens, guesses)
        )

    def _may_be_name(self, word: str) -> bool:
        """Return whether a word in small letters is not in the vocabulary."""
        return len(word) >= _SHORTEST_UNLISTED and _is_small_word(word) and self._is_unlisted(word)

    def _is_like_address(
        self, words: Sequence[str], tokens: Sequence[int], guesses: "_Guesses"
    ) -> bool:
        """Return whether the tokens contain a word or number typical of an address, or are near a place or address."""
        if any(_LIKE_AN_ADDRESS.match(words[token]) for token in tokens):
            return True
        before = range(max(0, tokens[0] - _BESIDE), tokens[0])
        after = range(tokens[-1] + 1, min(len(words), tokens[-1] + 1 + _BESIDE))
        for token in (*before, *after):
            if not guesses.is_evident[token]:
                continue
            kind = self._kinds[guesses.kinds[token]]
            if kind == "LOCATION" or (kind == "ADDRESS" and _LIKE_AN_ADDRESS.match(words[token])):
                return True
        return False

    def _take_as_names(self, words: Sequence[str], guesses: "_Guesses") -> None:
        """Treat a word that looks like a street as a name if it is alone or follows a name: "Anna Holloway"."""
        if not {"NAME", "ADDRESS"} <= set(self._kinds):
            return
        name, address = self._kinds.index("NAME"), self._kinds.index("ADDRESS")
        kinds = guesses.kinds
        tokens = np.flatnonzero(guesses.is_evident).tolist()
        evident = set(tokens)
        for token in tokens:
            if kinds[token] != address or not words[token].isalpha():
                continue
            is_alone = not any(
                near in evident and kinds[near] == address for near in (token - 1, token + 1)
            )
            if is_alone or (token - 1 in evident and kinds[token - 1] == name):
                kinds[token] = name


@dataclass(frozen=True, slots=True)
class _Guesses:
    """The network's predictions for each token.

    Attributes:
        sensitive: the probability of being anything but harmless.
        kinds: the index of the most probable kind.
        is_evident: whether the token is part of a detection.
    """

    sensitive: Any
    kinds: Any
    is_evident: Any

    def group_neighbours(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each sequence of adjacent tokens of one kind that are part of a detection."""
        run: list[int] = []
        for token in np.flatnonzero(self.is_evident).tolist():
            if run and (token != run[-1] + 1 or self.kinds[token] != self.kinds[run[-1]]):
                yield int(self.kinds[run[-1]]), run
                run = []
            run.append(token)
        if run:
            yield int(self.kinds[run[-1]]), run


def _add_tags(spans: Sequence[Span], text: str) -> Sequence[Span]:
    """Return the spans together with the tags in `text` as spans; a span that overlaps a tag is dropped."""
    if "[" not in text:
        return spans
    tags = [Span(tag.start(), tag.end(), tag["entity"] or "ID") for tag in TAG.finditer(text)]
    apart = [
        span
        for span in spans
        if not any(span.start < tag.end and tag.start < span.end for tag in tags)
    ]
    return sorted([*apart, *tags], key=lambda span: (span.start, span.end))


def _locate_tokens(words: Words, tokens: Sequence[int], text: str) -> tuple[int, int]:
    """Return the start and end of adjacent tokens, excluding white space at the ends."""
    start = words.starts[tokens[0]]
    end = words.starts[tokens[-1]] + len(words.texts[tokens[-1]])
    stretch = text[start:end]
    start += len(stretch) - len(stretch.lstrip())
    return start, start + len(stretch.strip())


def _ends_before(word: str, kind: str, *, more_follows: bool) -> bool:
    """Return whether a detection of `kind` ends before `word`; `more_follows` means that the detection could go on."""
    if word.lower() in _NEGATIONS or (word in _NEGATIONS_AT_THE_END and not more_follows):
        return True
    if kind == "NAME":
        return "\n" in word
    return kind == "ADDRESS" and (word in ("?", ":") or word in _GOES_ON)


def _is_small_word(word: str) -> bool:
    """Return whether `word` consists only of lower-case letters."""
    return word.islower() and word.isalpha()
