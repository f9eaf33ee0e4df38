"""Train a named-entity network from texts with marked identifiers.

Used for the models shipped with the package and for fine-tuning on a site's own records.
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
from spacy.strings import hash_string  # type: ignore[attr-defined]  # missing in spaCy's stubs
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

# (text, ((start, end, entity), ...)): offsets in characters, end exclusive.
Example = tuple[str, Sequence[tuple[int, int, str]]]

_BATCH_WORDS = 2_000
# Share of training words whose spelling is hidden, because names are often words never seen before.
_UNSEEN = 0.15
# Columns of the features to hide: the spelling, and optionally its beginning and ending too.
_HIDDEN_COLUMNS = ((1, 5), (1, 2, 3, 4, 5))
_DROPOUT = 0.1
_RATE = 0.002
_WARM_UP = 0.05  # share of the training during which the learning rate rises
_PASSES = 10  # over the examples if neither steps nor seconds are given
_FEW = 200  # training texts; if there are fewer, the last batch of each pass is used even if it is short


@dataclass(frozen=True, slots=True)
class _Encoded:
    """An encoded training text: for each word, its row in the table of features, and its kind."""

    words: tuple[int, ...]
    kinds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Words and kinds of concatenated texts with padding between them. Words of kind -1 are ignored."""

    words: "np.ndarray[Any, np.dtype[np.int64]]"
    kinds: "np.ndarray[Any, np.dtype[np.int64]]"


@dataclass(frozen=True, slots=True)
class _Schedule:
    """The duration of a training in steps or in seconds."""

    steps: int | None
    seconds: float | None

    def measure_progress(self, step: int, elapsed_s: float) -> float:
        """Return the share of the training that has been completed."""
        if self.steps is not None:
            return step / self.steps
        return elapsed_s / (self.seconds or 1)


class _Encoder:
    """Encodes texts as rows of features and kinds. The features of each distinct word are computed once."""

    def __init__(self, language: str, kinds: Sequence[str], lexicon: Lexicon) -> None:
        self._spacy = spacy.blank(language)
        self._kinds = {kind: index for index, kind in enumerate(kinds)}
        self._lexicon = lexicon
        self._row_of_word: dict[str, int] = {}
        self._rows: list[list[int]] = []
        self._table: np.ndarray[Any, np.dtype[np.uint64]] | None = None
        self.padding = self._find_row(PADDING)

    def _find_row(self, word: str) -> int:
        """Return a word's row in the table of features, adding the word if it is new."""
        if word not in self._row_of_word:
            self._row_of_word[word] = len(self._rows)
            self._rows.append(row(word, self._lexicon))
            self._table = None
        return self._row_of_word[word]

    def encode(self, example: Example) -> _Encoded:
        text, spans = example
        doc = self._spacy.make_doc(text)
        words = tuple(self._find_row(token.text) for token in doc)
        kinds = tuple(self._kinds[kind] for kind in list_kinds(doc, spans))
        return _Encoded(words, kinds)

    def build_table(self) -> "np.ndarray[Any, np.dtype[np.uint64]]":
        if self._table is None:
            self._table = np.array(self._rows, dtype=np.uint64)
        return self._table


def list_kinds(doc: Doc, spans: Iterable[tuple[int, int, str]]) -> list[str]:
    """Return the kind of each token, which is that of the first span that overlaps it."""
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
        examples: texts with their identifiers. A kind that `base` does not have is an error.
        language: language of the texts, for the tokenizer: "en".
        seed: equal seeds, examples and `steps` give the same model on the same machine.
        steps: number of batches of about 2,000 words.
        seconds: duration of the training if `steps` is None. Without either, there are ten passes over the examples.
        shape: sizes of a new network.
        ordinary: for a new network, lower-case words of the language that are not names on their own.
        bounds: see `Meta`. Kinds that are not listed have 0.5.
        base: the model to continue from, whose shape, kinds and words are kept.
        made: additional entries of `Meta.made`.

    Returns:
        `folder`.

    Raises:
        ValueError: there are no examples, or one has an unknown kind.
        RedactionError: `base` cannot be read.
    """
    examples = list(examples)
    if not examples:
        raise ValueError("no examples to train on")
    fix_random_seed(seed)
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    kinds = (OTHER, *sorted({kind for _, spans in examples for _, _, kind in spans}))
    if base is not None:
        network = read_network(base)
    else:
        network = empty_network(
            Meta(language, kinds, {}, shape or Shape(), {}), Lexicon.of(ordinary)
        )
    unknown = set(kinds) - set(network.meta.kinds)
    if unknown:
        raise ValueError(f"the model has no kinds {', '.join(sorted(unknown))}")
    encoder = _Encoder(language, network.meta.kinds, network.lexicon)
    encoded = [encoder.encode(example) for example in examples]
    if steps is None and seconds is None:
        steps = 1 + sum(len(text.words) for text in encoded) * _PASSES // _BATCH_WORDS
    steps_run = _train(network, encoder, encoded, chance, _Schedule(steps, seconds), rate)
    network.meta = Meta(
        language=language,
        kinds=network.meta.kinds,
        bounds=_complete_bounds(network.meta.kinds, bounds or network.meta.bounds),
        shape=network.meta.shape,
        made={
            "seed": seed,
            "examples": len(examples),
            "steps": steps_run,
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
    schedule: _Schedule,
    rate: float,
) -> int:
    """Train the network, and return the number of steps."""
    model: Model[Any, Any] = chain(uniqued(network.words, column=0), network.texts)
    optimizer = Adam(rate, L2=1e-6, L2_is_weight_decay=True, grad_clip=1.0)
    noise = np.random.default_rng(chance.getrandbits(32))
    start = time.monotonic()
    step = 0
    _set_dropout(model, _DROPOUT)
    for batch in _make_batches(encoded, chance, encoder.padding, network.meta.shape.depth):
        progress = schedule.measure_progress(step, time.monotonic() - start)
        if progress >= 1:
            break
        # The rate rises during the warm-up, stays constant, and finally falls to a fiftieth.
        optimizer.learn_rate = rate * min(1, (progress + 1e-3) / _WARM_UP, 1.02 - progress)
        rows = _hide_words(encoder.build_table()[batch.words], noise)
        guesses, backprop = model.begin_update(rows)
        backprop(_compute_gradient(guesses, batch.kinds))
        model.finish_update(optimizer)
        step += 1
    _set_dropout(model, 0.0)
    return step


def _set_dropout(model: Model[Any, Any], rate: float) -> None:
    for node in model.walk():
        if "dropout_rate" in node.attrs:
            node.attrs["dropout_rate"] = rate


def _compute_gradient(
    guesses: "np.ndarray[Any, np.dtype[np.float32]]", kinds: "np.ndarray[Any, np.dtype[np.int64]]"
) -> "np.ndarray[Any, np.dtype[np.float32]]":
    """Return the gradient of the mean cross-entropy over the words that are not ignored."""
    gradient = guesses.copy()
    counts = kinds >= 0
    gradient[counts, kinds[counts]] -= 1
    gradient[~counts] = 0
    mean_gradient: np.ndarray[Any, np.dtype[np.float32]] = gradient / np.float32(counts.sum())
    return mean_gradient


def _complete_bounds(kinds: Iterable[str], bounds: Mapping[str, float]) -> dict[str, float]:
    """Return the bound of each kind except `OTHER`, 0.5 by default."""
    return {kind: bounds.get(kind, 0.5) for kind in kinds if kind != OTHER}


def _hide_words(
    rows: "np.ndarray[Any, np.dtype[np.uint64]]", noise: np.random.Generator
) -> "np.ndarray[Any, np.dtype[np.uint64]]":
    """Hide the spelling of some words, so that the network learns to rely on shape and context."""
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


def _make_batches(
    encoded: Sequence[_Encoded], chance: random.Random, padding: int, depth: int
) -> Iterator[_Batch]:
    """Yield an endless sequence of batches, with the texts in a different order in each pass."""
    word_edge = [padding] * depth
    kind_edge = [-1] * depth
    words: list[int] = []
    kinds: list[int] = []
    while True:
        order = list(range(len(encoded)))
        chance.shuffle(order)
        for index in order:
            words += [*encoded[index].words, *word_edge]
            kinds += [*encoded[index].kinds, *kind_edge]
            if len(words) >= _BATCH_WORDS:
                yield _Batch(np.array(word_edge + words), np.array(kind_edge + kinds))
                words, kinds = [], []
        if words and len(encoded) < _FEW:
            yield _Batch(np.array(words), np.array(kinds))
            words, kinds = [], []
