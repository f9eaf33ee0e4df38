"""Training a named-entity network from texts with marked places.

Shared by the models that the package ships and by fine-tuning on a site's own records.
"""

import random
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.strings import hash_string  # type: ignore[attr-defined]  # not in spaCy's stubs
from spacy.tokens import Doc
from thinc.api import Adam, Model, chain, fix_random_seed, uniqued

from agent.redaction.models.network import (
    OTHER,
    PADDING,
    Lexicon,
    Meta,
    Network,
    Shape,
    empty_network,
    read_network,
    row,
    write_network,
)

# (text, ((start, end, entity), ...)): places in characters, end exclusive.
Example = tuple[str, Sequence[tuple[int, int, str]]]

_BATCH_WORDS = 2_000
_UNSEEN = 0.15  # of the words in training, those whose own spelling is hidden: shape and neighbours must do
_HIDDEN_COLUMNS = ((1, 5), (1, 2, 3, 4, 5))  # of the features: the spelling; also its beginning and ending
_DROPOUT = 0.1
_RATE = 0.002
_WARM_UP = 0.05  # of the steps or seconds


@dataclass(frozen=True, slots=True)
class _Encoded:
    words: tuple[int, ...]  # rows in the table of features
    kinds: tuple[int, ...]


class _Encoder:
    """Texts as rows of features and kinds. A word's features are worked out once."""

    def __init__(self, language: str, kinds: Sequence[str], lexicon: Lexicon) -> None:
        self._spacy = spacy.blank(language)
        self._kinds = {kind: place for place, kind in enumerate(kinds)}
        self._lexicon = lexicon
        self._places: dict[str, int] = {}
        self._rows: list[list[int]] = []
        self._table: np.ndarray[Any, np.dtype[np.uint64]] | None = None
        self.padding = self._place(PADDING)

    def _place(self, word: str) -> int:
        if word not in self._places:
            self._places[word] = len(self._rows)
            self._rows.append(row(word, self._lexicon))
            self._table = None
        return self._places[word]

    def encode(self, example: Example) -> _Encoded:
        text, spans = example
        doc = self._spacy.make_doc(text)
        return _Encoded(
            tuple(self._place(token.text) for token in doc),
            tuple(self._kinds[kind] for kind in kinds_of(doc, spans)),
        )

    def table(self) -> "np.ndarray[Any, np.dtype[np.uint64]]":
        if self._table is None:
            self._table = np.array(self._rows, dtype=np.uint64)
        return self._table


def kinds_of(doc: Doc, spans: Iterable[tuple[int, int, str]]) -> list[str]:
    """Return the kind of each token: that of the first place that touches it."""
    kinds = [OTHER] * len(doc)
    for start, end, kind in spans:
        touched = doc.char_span(start, end, alignment_mode="expand")
        for token in touched or ():
            if kinds[token.i] == OTHER:
                kinds[token.i] = kind
    return kinds


def train_model(
    examples: Iterable[Example],
    folder: Path,
    *,
    language: str,
    seed: int,
    steps: int | None = None,
    seconds: float | None = None,
    shape: Shape | None = None,
    ordinary: Collection[str] = (),
    bounds: Mapping[str, float] | None = None,
    base: Path | None = None,
    made: Mapping[str, object] | None = None,
    rate: float = _RATE,
) -> Path:
    """Train a network and write it into `folder`.

    Args:
        examples: texts with their places; places of a kind that `base` does not know are an error.
        language: of the texts, for the tokenizer: "en".
        seed: the same seed, examples and `steps` give the same model on the same machine.
        steps: batches of about 2,000 words; or
        seconds: how long to train; without either, ten passes over the examples.
        shape: of a new network.
        ordinary: words of the language, in lower case, that are no names by themselves; of a new network.
        bounds: see `Meta`; 0.5 for kinds that it does not name.
        base: a model to go on from, whose shape, kinds and words are kept.
        made: what else `Meta.made` tells.

    Returns:
        `folder`.

    Raises:
        ValueError: there is no example, or one has an unknown kind.
        RedactionError: `base` cannot be read.
    """
    examples = list(examples)
    if not examples:
        raise ValueError("no examples to train from")
    fix_random_seed(seed)
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    kinds = (OTHER, *sorted({kind for _, spans in examples for _, _, kind in spans}))
    if base is not None:
        network = read_network(base)
    else:
        network = empty_network(Meta(language, kinds, {}, shape or Shape(), {}), Lexicon.of(ordinary))
    if unknown := set(kinds) - set(network.meta.kinds):
        raise ValueError(f"the model has no kinds {', '.join(sorted(unknown))}")
    encoder = _Encoder(language, network.meta.kinds, network.lexicon)
    encoded = [encoder.encode(example) for example in examples]
    taken = _train(network, encoder, encoded, chance, steps, seconds, rate)
    network.meta = Meta(
        language,
        network.meta.kinds,
        {kind: (bounds or network.meta.bounds).get(kind, 0.5) for kind in network.meta.kinds if kind != OTHER},
        network.meta.shape,
        {
            "seed": seed,
            "examples": len(examples),
            "steps": taken,
            "spacy": version("spacy"),
            "thinc": version("thinc"),
            **(made or {}),
        },
    )
    write_network(network, folder)
    return folder


def _train(
    network: Network,
    encoder: _Encoder,
    encoded: Sequence[_Encoded],
    chance: random.Random,
    steps: int | None,
    seconds: float | None,
    rate: float,
) -> int:
    model: Model[Any, Any] = chain(uniqued(network.words, column=0), network.texts)
    optimizer = Adam(rate, L2=1e-6, L2_is_weight_decay=True, grad_clip=1.0)
    if steps is None and seconds is None:
        steps = 1 + sum(len(text.words) for text in encoded) * 10 // _BATCH_WORDS
    noise = np.random.default_rng(chance.getrandbits(32))
    start = time.monotonic()
    taken = 0
    for node in model.walk():
        if "dropout_rate" in node.attrs:
            node.attrs["dropout_rate"] = _DROPOUT
    for words, kinds in _batches(encoded, chance, encoder.padding, network.meta.shape.depth):
        done = taken / steps if steps is not None else (time.monotonic() - start) / (seconds or 1)
        if done >= 1:
            break
        optimizer.learn_rate = rate * min(1, (done + 1e-3) / _WARM_UP, 1.02 - done)
        rows = _hidden(encoder.table()[words], noise)
        guesses, backprop = model.begin_update(rows)
        gradient = guesses.copy()
        counted = kinds >= 0
        gradient[counted, kinds[counted]] -= 1
        gradient[~counted] = 0
        backprop(gradient / np.float32(counted.sum()))
        model.finish_update(optimizer)
        taken += 1
    for node in model.walk():
        if "dropout_rate" in node.attrs:
            node.attrs["dropout_rate"] = 0.0
    return taken


def _hidden(
    rows: "np.ndarray[Any, np.dtype[np.uint64]]", noise: np.random.Generator
) -> "np.ndarray[Any, np.dtype[np.uint64]]":
    """Hide what some words are, so that the network learns to judge by shape and neighbours."""
    rows = rows.copy()
    draw = noise.random(len(rows))
    bound = 0.0
    for number, columns in enumerate(_HIDDEN_COLUMNS, 1):
        chosen = (draw >= bound) & (draw < bound + _UNSEEN / len(_HIDDEN_COLUMNS))
        bound += _UNSEEN / len(_HIDDEN_COLUMNS)
        for column in columns:
            rows[chosen, column] = np.uint64(hash_string("\N{SYMBOL FOR SUBSTITUTE}"))
        rows[chosen, 0] ^= np.uint64(number)
    return rows


def _batches(
    encoded: Sequence[_Encoded], chance: random.Random, padding: int, depth: int
) -> Iterator[tuple["np.ndarray[Any, np.dtype[np.int64]]", "np.ndarray[Any, np.dtype[np.int64]]"]]:
    """Yield words and kinds of texts laid end to end with padding between them; a kind of -1 does not count."""
    words: list[int] = []
    kinds: list[int] = []
    while True:
        order = list(range(len(encoded)))
        chance.shuffle(order)
        for place in order:
            words += [*encoded[place].words, *([padding] * depth)]
            kinds += [*encoded[place].kinds, *([-1] * depth)]
            if len(words) >= _BATCH_WORDS:
                edge = [padding] * depth
                yield np.array(edge + words), np.array([-1] * depth + kinds)
                words, kinds = [], []
        if words and len(encoded) < 200:
            yield np.array(words), np.array(kinds)
            words, kinds = [], []
