"""The shipped named-entity models as Presidio recognisers."""

from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import numpy as np
from presidio_analyzer import EntityRecognizer, RecognizerResult
from presidio_analyzer.nlp_engine import NlpArtifacts
from spacy.tokens import Doc

from agent.errors import RedactionError
from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.network import OTHER, Network, read_network
from agent.redaction.recognizers import SURE
from agent.redaction.tags import TAG

_PLAIN_BOUND = 0.8  # for words in lower case, in a text that has capitals

# Languages whose model comes with the package: without it their texts are withheld.
SHIPPED: tuple[str, ...] = ("en", "es")

_MODELS = Path(__file__).parent / "models"


class NoModelError(Exception):
    """The model is missing or damaged: no text can be judged."""


def shipped_model(language: str) -> Path | None:
    """Return the folder in which the package has its model for `language`; None: it has none for that language."""
    return _MODELS / language if language in SHIPPED else None


class ModelRecognizer(EntityRecognizer):
    """What a trained network takes for an identifier."""

    def __init__(self, language: str, folder: Path, deadline: Deadline) -> None:
        """Read the model in `folder`; one that cannot be read fails when it is asked."""
        self._deadline = deadline
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

        A word counts where the probability that it is anything but harmless reaches the bound of its most probable
        kind.
        Neighbours of a kind are one place. In a text with capitals, words without one need strong evidence.

        Raises:
            NoModelError: the model could not be read.
            TimeoutError: the deadline passed.
        """
        self._deadline.left()
        if self._network is None:
            raise NoModelError
        if nlp_artifacts is None or not text.strip():
            return []
        doc = nlp_artifacts.tokens
        probabilities = self._network.probabilities(doc)
        kinds = probabilities[:, 1:].argmax(axis=1)
        taken = np.flatnonzero((1 - probabilities[:, 0] >= self._bounds[kinds]) & ~self._near_tags(doc, text))
        self._name_on(doc, kinds, taken)
        wanted = {self._kinds.index(entity) for entity in entities if entity in self._kinds}
        mixed = not (text.islower() or text.isupper())
        found = []
        for (kind, _), group in groupby(enumerate(taken.tolist()), lambda at: (int(kinds[at[1]]), at[1] - at[0])):
            if kind not in wanted:
                continue
            places = [place for _, place in group]
            if (
                mixed
                and 1 - probabilities[places, 0].min() < _PLAIN_BOUND
                and all(_plain(doc[place].text) for place in places)
            ):
                continue
            start, last = doc[places[0]].idx, doc[places[-1]]
            stretch = text[start : last.idx + len(last)]
            start += len(stretch) - len(stretch.lstrip())
            end = start + len(stretch.strip())
            if any(character.isalnum() for character in stretch):
                found.append(RecognizerResult(self._kinds[kind], start, end, SURE))
        return found

    def _name_on(self, doc: Doc, kinds: Any, taken: Any) -> None:
        """Take a word alone, or right behind a name, for a name where it looks like a street: "Anna Holloway"."""
        if not {"NAME", "ADDRESS"} <= set(self._kinds):
            return
        name, address = self._kinds.index("NAME"), self._kinds.index("ADDRESS")
        places = set(taken.tolist())
        for place in sorted(places):
            if kinds[place] != address or not doc[place].text.isalpha():
                continue
            alone = not any(at in places and kinds[at] == address for at in (place - 1, place + 1))
            if alone or (place - 1 in places and kinds[place - 1] == name):
                kinds[place] = name

    def _near_tags(self, doc: Doc, text: str) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """Mark the tokens whose neighbours, as far as the network looks, hold a tag: what stood there was judged then.

        Without it, clearing a cleared text again would find more: a tag is no neighbour like the word it stands for.
        """
        near = np.zeros(len(doc), dtype=np.bool_)
        reach = self._network.meta.shape.depth + 3 if self._network is not None else 0
        for tag in TAG.finditer(text):
            held = doc.char_span(tag.start(), tag.end(), alignment_mode="expand")
            if held is not None:
                near[max(0, held.start - reach) : held.end + reach] = True
        return near


def _plain(word: str) -> bool:
    """Tell whether `word` has letters only, all of them small."""
    return word.islower() and word.isalpha()
