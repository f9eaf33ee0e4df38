"""The shipped named-entity models as Presidio recognisers."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import numpy as np
from presidio_analyzer import EntityRecognizer, RecognizerResult
from presidio_analyzer.nlp_engine import NlpArtifacts

from agent.errors import RedactionError
from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity, tag_name
from agent.redaction.finding.network import OTHER, Network, read_network
from agent.redaction.finding.rulebook import SURE
from agent.redaction.finding.tokenizer import TokensOnDemand, Words
from agent.redaction.writing.tags import TAG

_PLAIN_BOUND = 0.8  # for words in lower case, in a text that has capitals

# Never part of a name, place or number: without them a sentence says the opposite. A name may go on behind "DO".
_NEGATIONS = frozenset(("not", "denies", "denied", "never", "cannot", "without", "nor", "neither"))
_NEGATIONS_AT_THE_END = frozenset(("NO", "DO"))

# Of stretches that do not look like an address, nor stand beside a place: "2110 via", "AVR 2019".
_ODD_ADDRESS_BOUND = 0.9
_BESIDE = 3  # tokens
# In small letters these go on with the sentence behind an address.
_GOES_ON = frozenset((
    "are", "but", "can", "cannot", "could", "did", "does", "for", "has", "had", "have", "how", "is", "it", "logged",
    "may", "must", "needs", "should", "still", "that", "then", "there", "was", "we", "were", "what", "when", "where",
    "which", "while", "who", "whom", "why", "will", "with", "would",
))  # fmt: skip
_LIKE_AN_ADDRESS = re.compile(r"\d{5}|[A-Z]\w?\d[\w ]?|[^\W\d_]*[A-ZÀ-Þ][a-zß-ÿ]{2}|#")

# Languages whose model comes with the package: without it their texts are withheld.
SHIPPED: tuple[str, ...] = ("en", "es")

# What the network reads in the place of a tag: something ordinary of its kind.
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


# Whether a finding, as text, start, end and entity, identifies nobody.
Harmless = Callable[[str, int, int, str], bool]


class NoModelError(Exception):
    """The model is missing or damaged: no text can be judged."""


def shipped_model(language: str) -> Path | None:
    """Return the folder in which the package has its model for `language`; None: it has none for that language."""
    return _MODELS / language if language in SHIPPED else None


class StandIns:
    """A text in which something usual stands for what is known, with the way back.

    Attributes:
        text: what is read.
        stretches: where something stands in, in order.
    """

    def __init__(self, text: str, places: Sequence[tuple[int, int, str]]) -> None:
        pieces, at, length = [], 0, 0
        self.stretches: list[tuple[int, int]] = []
        self._places = [(start, end) for start, end, _ in places]
        for start, end, entity in places:
            # Apart from what a tag is glued to, which would otherwise be read as a part of it.
            before, after = text[start - 1 : start].isalnum(), text[end : end + 1].isalnum()
            usual = " " * before + USUAL.get(tag_name(entity), USUAL_NUMBER) + " " * after
            pieces += [text[at:start], usual]
            length += start - at
            self.stretches.append((length, length + len(usual)))
            length, at = length + len(usual), end
        self.text = "".join([*pieces, text[at:]])

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the original of `text[start:end]`, without what is known at its ends."""
        return self._back(start, after=True), self._back(end, after=False)

    def _back(self, place: int, *, after: bool) -> int:
        index = bisect_right(self.stretches, (place, place)) - 1
        if index < 0:
            return place
        (start, end), (known_start, known_end) = self.stretches[index], self._places[index]
        if start <= place < end or (place == end and start < end and not after):
            return known_end if after else known_start
        return place - end + known_end


class ModelRecognizer(EntityRecognizer):
    """What a trained network takes for an identifier."""

    def __init__(
        self, language: str, folder: Path, deadline: Deadline, is_harmless: Harmless = lambda *_: False
    ) -> None:
        """Read the model in `folder`; one that cannot be read fails when it is asked.

        Args:
            language: of the texts.
            folder: of the model.
            deadline: that ends its work.
            is_harmless: told of a text, and the start, end and entity of a finding in it: whether to drop that.
        """
        self._deadline = deadline
        self._is_harmless = is_harmless
        self._network: Network | None = None
        self._kinds: list[str] = []
        with suppress(RedactionError):
            self._network = read_network(folder)
        if self._network is not None:
            self._kinds = [kind for kind in self._network.meta.kinds if kind != OTHER]
            self._bounds = np.array([self._network.meta.bounds[kind] for kind in self._kinds], dtype=np.float32)
        super().__init__(
            supported_entities=self._kinds or list(get_args(Entity)),
            name=f"{language} model",
            supported_language=language,
        )

    def load(self) -> None:
        """Do nothing: the network was read before."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return the places that the network takes for one of `entities`.

        A tag in `text` is read as what it stands for, so that it neither hides its neighbours nor makes them look odd.

        Raises:
            NoModelError: the model could not be read.
            TimeoutError: the deadline passed.
        """
        if not isinstance(nlp_artifacts, TokensOnDemand) or not text.strip():
            return []
        if "[" in text and TAG.search(text):
            return self.beside(text, [], entities, nlp_artifacts.words_of)
        return self._found(text, nlp_artifacts.words(), entities, [])

    def beside(
        self, text: str, places: Sequence[tuple[int, int, str]], entities: list[str], words_of: Callable[[str], Words]
    ) -> list[RecognizerResult]:
        """Return what the network finds beside `places` and tags when it reads something usual of their kind instead.

        Args:
            text: what is read.
            places: start, end and entity of what is known, in order and without overlaps.
            entities: that are asked for.
            words_of: splits a text.

        Raises:
            NoModelError, TimeoutError: see `analyze`.
        """
        tags = [(*tag.span(), tag["entity"] or "ID") for tag in TAG.finditer(text)] if "[" in text else []
        if tags:
            places = sorted(
                [*(p for p in places if not any(p[0] < end and start < p[1] for start, end, _ in tags)), *tags]
            )
        reading = StandIns(text, places)
        words = words_of(reading.text)
        known = [token for stretch in reading.stretches for token in words.touching(*stretch)]
        found = self._found(reading.text, words, entities, known)
        for one in found:
            one.start, one.end = reading.original(one.start, one.end)
        return [one for one in found if one.start < one.end]

    def _found(self, text: str, words: Words, entities: list[str], known: Sequence[int]) -> list[RecognizerResult]:
        """Return the findings among the tokens that are not `known`.

        A word counts where the probability that it is anything but harmless reaches the bound of its most probable
        kind. Neighbours of a kind are one place. In a text with capitals, words without one need strong evidence, as
        do stretches that are no address by their look.
        """
        self._deadline.left()
        if self._network is None:
            raise NoModelError
        probabilities = self._network.probabilities(words.texts)
        kinds = probabilities[:, 1:].argmax(axis=1)
        evident = 1 - probabilities[:, 0] >= self._bounds[kinds]
        evident[list(known)] = False
        for place in np.flatnonzero(evident).tolist():
            before_more = place + 1 < len(evident) and bool(evident[place + 1])
            evident[place] = not _ends(words.texts[place], self._kinds[kinds[place]], before_more=before_more)
        taken = np.flatnonzero(evident)
        self._name_on(words.texts, kinds, taken)
        wanted = {self._kinds.index(entity) for entity in entities if entity in self._kinds}
        mixed = not (text.islower() or text.isupper())
        found = []
        for (kind, _), group in groupby(enumerate(taken.tolist()), lambda at: (int(kinds[at[1]]), at[1] - at[0])):
            if kind not in wanted:
                continue
            places = [place for _, place in group]
            if all(word in _LINKS or not any(map(str.isalnum, word)) for word in (words.texts[at] for at in places)):
                continue
            if (
                mixed
                and 1 - probabilities[places, 0].min() < _PLAIN_BOUND
                and all(_plain(words.texts[place]) for place in places)
            ):
                continue
            if (
                mixed
                and self._kinds[kind] == "ADDRESS"
                and 1 - probabilities[places, 0].max() < _ODD_ADDRESS_BOUND
                and not self._like_an_address(words.texts, places, kinds, evident)
            ):
                continue
            start = words.starts[places[0]]
            stretch = text[start : words.starts[places[-1]] + len(words.texts[places[-1]])]
            start += len(stretch) - len(stretch.lstrip())
            end = start + len(stretch.strip())
            if any(character.isalnum() for character in stretch) and not self._is_harmless(
                text, start, end, self._kinds[kind]
            ):
                found.append(RecognizerResult(self._kinds[kind], start, end, SURE))
        return found

    def _like_an_address(self, words: Sequence[str], places: Sequence[int], kinds: Any, evident: Any) -> bool:
        """Tell whether a stretch has a word or number as addresses have, or stands beside a place."""
        if any(_LIKE_AN_ADDRESS.match(words[place]) for place in places):
            return True
        near = (
            *range(max(0, places[0] - _BESIDE), places[0]),
            *range(places[-1] + 1, min(len(words), places[-1] + 1 + _BESIDE)),
        )
        return any(
            evident[at]
            and (
                self._kinds[kinds[at]] == "LOCATION"
                or (self._kinds[kinds[at]] == "ADDRESS" and _LIKE_AN_ADDRESS.match(words[at]))
            )
            for at in near
        )

    def _name_on(self, words: Sequence[str], kinds: Any, taken: Any) -> None:
        """Take a word alone, or right behind a name, for a name where it looks like a street: "Anna Holloway"."""
        if not {"NAME", "ADDRESS"} <= set(self._kinds):
            return
        name, address = self._kinds.index("NAME"), self._kinds.index("ADDRESS")
        places = set(taken.tolist())
        for place in sorted(places):
            if kinds[place] != address or not words[place].isalpha():
                continue
            alone = not any(at in places and kinds[at] == address for at in (place - 1, place + 1))
            if alone or (place - 1 in places and kinds[place - 1] == name):
                kinds[place] = name


def _ends(word: str, kind: str, *, before_more: bool) -> bool:
    """Tell whether a place of `kind` ends before `word`, which may stand before more of it."""
    if word.lower() in _NEGATIONS or (word in _NEGATIONS_AT_THE_END and not before_more):
        return True
    return "\n" in word if kind == "NAME" else kind == "ADDRESS" and (word in ("?", ":") or word in _GOES_ON)


# By themselves they are a part of nothing.
_LINKS = frozenset({"of", "the", "and", "at", "in", "on", "to", "from", "for", "by", "with", "a", "an", "or"})


def _plain(word: str) -> bool:
    """Tell whether `word` has letters only, all of them small."""
    return word.islower() and word.isalpha()
