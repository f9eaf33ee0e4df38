"""The named-entity network: the features of a word, the layers that analyse a text, and the files of a model.

This is a small convolutional network modelled on spaCy's HashEmbedCNN, built with spaCy's thinc and its tokenizers.
Each word becomes a vector of hashed features: its spelling, its beginning and ending, its shape, and whether it is an
ordinary word of the language. Maxout layers then combine neighbouring words, and a softmax gives the probability of
each kind. Unlike spaCy's transition-based entity recogniser, the network gives a probability for every word, so that
bounds can favour recall.

The network has two halves. The vectors of the first half depend only on the word and are cached, so that a long text
costs little more than the second half, which combines neighbours.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from spacy.strings import hash_string  # type: ignore[attr-defined]  # missing in spaCy's stubs
from thinc.api import (
    HashEmbed,
    Maxout,
    Model,
    NumpyOps,
    Softmax,
    chain,
    concatenate,
    expand_window,
    residual,
)

from agent.errors import RedactionError

FEATURES = 1  # version of `features`; models of other versions cannot be read
OTHER = "O"  # the kind of a word that does not identify a person

_ROWS = (6000, 2500, 2500, 2500, 1500, 1000, 100)  # rows in the table of each feature
PADDING = "\N{SYMBOL FOR NULL}"  # added before and after each text
# On one core, NumPy's own matrix multiplication is three times as fast as BLIS in thinc.
_OPS = NumpyOps(use_blis=False)
_CACHED = 40_000  # maximum number of cached word vectors: 10 MB at the usual width
_SHORT_TEXT = 20  # words; the probabilities of texts up to this length are cached
_CACHED_TEXTS = 4_000  # maximum number of cached short texts: about 6 MB

_WEIGHTS = "weights"
_META = "meta.json"
_ORDINARY = "ordinary_words"


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a network."""

    width: int = 64  # length of a word's vector
    depth: int = 4  # layers, each of which combines a word with one neighbour on each side
    pieces: int = 2  # pieces of each maxout


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Ordinary words of a language as sorted 32-bit hashes. About 1 in 50,000 lookups is a false positive."""

    hashes: "np.ndarray[Any, np.dtype[np.uint32]]"

    @classmethod
    def of(cls, words: Collection[str]) -> "Lexicon":
        """Build a lexicon of `words`, which must be in lower case."""
        return cls(
            np.unique(np.array([hash_string(word) & 0xFFFFFFFF for word in words], dtype=np.uint32))
        )

    def __contains__(self, word: str) -> bool:
        key = np.uint32(hash_string(word) & 0xFFFFFFFF)
        place = int(np.searchsorted(self.hashes, key))
        return place < len(self.hashes) and bool(self.hashes[place] == key)


def features(word: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the features of a word, in the order of their tables."""
    lower = word.lower()
    digits = "".join(["0" if character.isdigit() else character for character in lower])
    shape = _write_shape(word)
    ordinary = "+" if lower in lexicon else "-"
    ends = digits[:2] + "_" + digits[-2:]
    return digits[:24], digits[:3], digits[-3:], ends, digits[-4:], shape, ordinary + shape[:3]


def _write_shape(word: str) -> str:
    """Return the kinds of a word's characters ("Xxx-dd"), at most three equal ones in a row."""
    kinds = [_find_kind(character) for character in word[:40]]
    shape: list[str] = []
    for index, kind in enumerate(kinds):
        if index < 3 or kinds[index - 3 : index] != [kind] * 3:
            shape.append(kind)
    return "".join(shape)


def _find_kind(character: str) -> str:
    if character.isdigit():
        return "d"
    if character.isupper():
        return "X"
    return "x" if character.isalpha() else character


def row(word: str, lexicon: Lexicon) -> list[int]:
    """Return the hash of `word` as its key, followed by its hashed features."""
    return _write_row(word, features(word, lexicon))


def _write_row(word: str, features_of_word: Iterable[str]) -> list[int]:
    return [hash_string(word), *map(hash_string, features_of_word)]


def word_half(shape: Shape) -> Model[Any, Any]:
    """Build the half that converts rows of features to vectors."""
    tables: list[Model[Any, Any]] = []
    for column, rows in enumerate(_ROWS, 1):  # the first column is the word's key
        tables.append(HashEmbed(shape.width, rows, column=column, seed=column + 7, dropout=None))
    mixer = Maxout(nO=shape.width, nI=shape.width * len(_ROWS), nP=shape.pieces, normalize=True)
    return chain(concatenate(*tables), mixer)


def text_half(shape: Shape, kinds: int) -> Model[Any, Any]:
    """Build the half that combines the vectors of neighbouring words and gives the probability of each kind."""
    layers: list[Model[Any, Any]] = []
    for _ in range(shape.depth):
        maxout = Maxout(
            nO=shape.width, nI=shape.width * 3, nP=shape.pieces, normalize=True, dropout=None
        )
        layers.append(residual(chain(expand_window(window_size=1), maxout)))
    return chain(*layers, Softmax(nO=kinds, nI=shape.width))


@dataclass(frozen=True, slots=True)
class Meta:
    """The description of a model, stored next to its weights.

    Attributes:
        kinds: the possible kinds of a word: `OTHER` first, then entities.
        bounds: for each kind, the probability of being anything but `OTHER` from which a word is assigned that kind.
        made: information for people on how the model was trained: seed, digest of the generator, versions.
    """

    language: str
    kinds: tuple[str, ...]
    bounds: Mapping[str, float]
    shape: Shape
    made: Mapping[str, object]


class _TextHalf:
    """The computation of `text_half` in plain NumPy. For short texts, thinc's overhead would exceed the computation."""

    def __init__(self, texts: Model[Any, Any], shape: Shape) -> None:
        self._layers: list[tuple[Any, Any, Any, Any]] = []
        *layers, softmax = texts.layers
        for layer in layers:
            nodes = {node.name: node for node in layer.walk()}
            maxout, norm = nodes["maxout"], nodes["layernorm"]
            # Reordered by piece, so that the maximum compares whole blocks.
            weights: Any = maxout.get_param("W")
            bias: Any = maxout.get_param("b")
            weights = (
                weights.reshape(shape.width, shape.pieces, -1)
                .transpose(1, 0, 2)
                .reshape(-1, shape.width * 3)
            )
            bias = bias.reshape(shape.width, shape.pieces).T.reshape(-1)
            self._layers.append(
                (np.ascontiguousarray(weights.T), bias, norm.get_param("G"), norm.get_param("b"))
            )
        self._softmax_weights = np.ascontiguousarray(softmax.get_param("W").T)
        self._softmax_bias = softmax.get_param("b")
        self._width = shape.width
        self._pieces = shape.pieces

    def predict(
        self, vectors: "np.ndarray[Any, np.dtype[np.float32]]"
    ) -> "np.ndarray[Any, np.dtype[np.float32]]":
        """Return the probability of each kind for words with these vectors.

        Each layer combines a word with its neighbours, so the result lacks as many words at each end as there are
        layers.
        """
        width = self._width
        for weights, bias, scale, shift in self._layers:
            middle = vectors[1:-1]
            window = np.concatenate((vectors[:-2], middle, vectors[2:]), axis=1)
            # Maxout: take the largest piece.
            pieces = window @ weights
            pieces += bias
            best = pieces[:, :width]
            for piece in range(1, self._pieces):
                best = np.maximum(best, pieces[:, piece * width : (piece + 1) * width])
            # Apply layer normalisation, then add the residual.
            best -= best.sum(axis=1, keepdims=True) / np.float32(width)
            variance = np.einsum("ij,ij->i", best, best)[:, None] / np.float32(width) + np.float32(
                1e-8
            )
            vectors = middle + best / np.sqrt(variance) * scale + shift
        logits = vectors @ self._softmax_weights + self._softmax_bias
        exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities: np.ndarray[Any, np.dtype[np.float32]] = exponentials / exponentials.sum(
            axis=1, keepdims=True
        )
        return probabilities


class Network:
    """A trained network. Not safe for use by several threads at once."""

    def __init__(
        self,
        meta: Meta,
        lexicon: Lexicon,
        words: Model[Any, Any],
        texts: Model[Any, Any],
        cached_words: int,
    ) -> None:
        self.meta = meta
        self.lexicon = lexicon
        self.words = words
        self.texts = texts
        self._vectors = np.zeros((cached_words, meta.shape.width), dtype=np.float32)
        # The row of the vector of each word. Words with equal features, such as numbers with as many digits, share one.
        self._vector_rows: dict[str, int] = {}
        self._rows_of_features: dict[tuple[str, ...], int] = {}
        # The probabilities of short texts, by the rows of their words.
        self._short_texts: dict[tuple[int, ...], np.ndarray[Any, np.dtype[np.float32]]] = {}
        self._text_half: _TextHalf | None = None  # built when the weights are final

    def probabilities(self, words: Sequence[str]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        """Return the probability of each kind (columns) for each word of a text (rows). The result is read-only."""
        self._cache_vectors(words)
        rows = tuple(map(self._vector_rows.__getitem__, words))
        probabilities = self._short_texts.get(rows)
        if probabilities is not None:
            return probabilities
        probabilities = self._predict(rows)
        probabilities.setflags(write=False)
        if len(rows) <= _SHORT_TEXT:
            if len(self._short_texts) >= _CACHED_TEXTS:
                self._short_texts.clear()
            self._short_texts[rows] = probabilities
        return probabilities

    def read_ahead(self, texts: Iterable[Sequence[str]]) -> None:
        """Cache the probabilities of short texts, computed together: one by one, each would take twice as long."""
        depth = self.meta.shape.depth
        short = [words for words in texts if 0 < len(words) <= _SHORT_TEXT]
        # All at once, because adding words may empty the cache.
        self._cache_vectors([word for words in short for word in words])
        waiting: dict[tuple[int, ...], None] = {}  # in order
        for words in short:
            rows = tuple(map(self._vector_rows.__getitem__, words))
            if rows not in self._short_texts:
                waiting[rows] = None
        if not waiting:
            return
        joined: list[int] = []
        for rows in waiting:
            # The padding after a text is also the padding before the next.
            joined += [*rows, *[self._vector_rows[PADDING]] * depth]
        probabilities = self._predict(joined[:-depth])
        probabilities.setflags(write=False)
        if len(self._short_texts) + len(waiting) > _CACHED_TEXTS:
            self._short_texts.clear()
        start = 0
        for rows in waiting:
            self._short_texts[rows] = probabilities[start : start + len(rows)]
            start += len(rows) + depth

    def _predict(self, rows: Sequence[int]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        depth = self.meta.shape.depth
        padding = [self._vector_rows[PADDING]] * depth
        vectors = self._vectors[[*padding, *rows, *padding]]
        if self._text_half is None:
            self._text_half = _TextHalf(self.texts, self.meta.shape)
        return self._text_half.predict(vectors)

    def _cache_vectors(self, words: Sequence[str]) -> None:
        """Add the vectors of new words to the cache, emptying it first if they do not fit."""
        needed = {PADDING, *words}
        # The difference of a set and the keys of a dictionary would copy all keys.
        missing = sorted(word for word in needed if word not in self._vector_rows)
        if not missing:
            return
        if len(self._vector_rows) + len(missing) > len(self._vectors):
            self._empty_cache()
            missing = sorted(needed)
            if len(missing) > len(self._vectors):
                self._vectors = np.zeros((len(missing), self.meta.shape.width), dtype=np.float32)
        start = len(self._rows_of_features)
        new_features: list[list[int]] = []
        for word in missing:
            features_of_word = features(word, self.lexicon)
            vector_row = self._rows_of_features.get(features_of_word)
            if vector_row is None:
                vector_row = start + len(new_features)
                self._rows_of_features[features_of_word] = vector_row
                new_features.append(_write_row(word, features_of_word))
            self._vector_rows[word] = vector_row
        if new_features:
            vectors = self.words.predict(np.array(new_features, dtype=np.uint64))
            self._vectors[start : start + len(new_features)] = vectors

    def _empty_cache(self) -> None:
        self._vector_rows.clear()
        self._rows_of_features.clear()
        self._short_texts.clear()


def write_network(network: Network, folder: Path) -> None:
    """Write the files of a network into `folder`, which is created."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = [
        parameter for half in (network.words, network.texts) for parameter in parameters(half)
    ]
    files = {
        _WEIGHTS: b"".join(array.astype("<f2").tobytes() for array in arrays),
        _ORDINARY: network.lexicon.hashes.astype("<u4").tobytes(),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    meta = {
        "digests": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        "language": network.meta.language,
        "features": FEATURES,
        "kinds": list(network.meta.kinds),
        "bounds": dict(network.meta.bounds),
        "shape": {
            "width": network.meta.shape.width,
            "depth": network.meta.shape.depth,
            "pieces": network.meta.shape.pieces,
        },
        "made": dict(network.meta.made),
    }
    (folder / _META).write_text(json.dumps(meta, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_network(folder: Path, cached_words: int = _CACHED) -> Network:
    """Read a network written by `write_network`, caching up to `cached_words` word vectors. No code is executed.

    Raises:
        RedactionError: a file is missing or invalid.
    """
    try:
        content = json.loads((folder / _META).read_text(encoding="utf-8"))
        if content["features"] != FEATURES:
            raise RedactionError(
                f"model {folder.name}: {_META}: features: the model was made for another version of this program"
            )
        meta = _read_meta(content)
        files = {name: (folder / name).read_bytes() for name in (_WEIGHTS, _ORDINARY)}
        for name, digest in content.get("digests", {}).items():
            if hashlib.sha256(files[name]).hexdigest() != digest:
                raise RedactionError(
                    f"model {folder.name}: {name}: does not match its digest in {_META}"
                )
        lexicon = Lexicon(np.frombuffer(files[_ORDINARY], dtype="<u4"))
        weights = np.frombuffer(files[_WEIGHTS], dtype="<f2").astype(np.float32)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RedactionError(
            f"model {folder.name} cannot be read: {type(error).__name__}"
        ) from None
    network = empty_network(meta, lexicon, cached_words)
    arrays = [*parameters(network.words), *parameters(network.texts)]
    if sum(array.size for array in arrays) != len(weights) or not np.isfinite(weights).all():
        raise RedactionError(
            f"model {folder.name}: {_WEIGHTS}: the weights do not fit the shape in {_META}"
        )
    start = 0
    for array in arrays:
        array[...] = weights[start : start + array.size].reshape(array.shape)
        start += array.size
    return network


def _read_meta(content: Any) -> Meta:
    """Return the description in a parsed `_META` file; raise KeyError, TypeError or similar if it is invalid."""
    shape = content["shape"]
    return Meta(
        language=str(content["language"]),
        kinds=tuple(map(str, content["kinds"])),
        bounds={str(kind): float(bound) for kind, bound in content["bounds"].items()},
        shape=Shape(
            width=int(shape["width"]), depth=int(shape["depth"]), pieces=int(shape["pieces"])
        ),
        made=content["made"],
    )


def empty_network(meta: Meta, lexicon: Lexicon, cached_words: int = _CACHED) -> Network:
    """Build an untrained network."""
    words, texts = word_half(meta.shape), text_half(meta.shape, len(meta.kinds))
    for node in (*words.walk(), *texts.walk()):
        node.ops = _OPS
    words.initialize(X=np.zeros((1, len(_ROWS) + 1), dtype=np.uint64))
    texts.initialize(X=np.zeros((1, meta.shape.width), dtype=np.float32))
    return Network(meta, lexicon, words, texts, cached_words)


def parameters(half: Model[Any, Any]) -> Iterable[Any]:
    """Yield the weights of a half, in an order that depends only on its shape."""
    for node in half.walk():
        for name in sorted(node.param_names):
            if node.has_param(name):
                yield node.get_param(name)
