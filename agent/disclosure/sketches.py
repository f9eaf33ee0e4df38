"""Keyed MinHash sketches, which recognise records by their words even if pseudonyms in the texts have changed.

A text is represented by the set of its shingles (three consecutive words, hashed with the site's key). A sketch
contains the minimum of that set under each of 64 keyed permutations. The proportion of values in which two sketches
agree is an estimate of the sets' Jaccard index, with a standard error of at most 0.0625. Without the key, a sketch
reveals nothing about any word.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Shingles = NDArray[np.uint64]
"""The distinct shingles of one unit, sorted."""

Sketches = NDArray[np.uint32]
"""One row of values for each unit. Stored sketches have 64 values per row."""

PERMUTATIONS: Final = 64
MIN_SHINGLES: Final = 8  # sketches of fewer shingles would agree by chance
# Maximum number of shingles per unit. The smallest hashes are kept, so that copies of a long unit are reduced to the
# same shingles.
_MAX_SHINGLES: Final = 2048
_HEX: Final = 8 * PERMUTATIONS  # characters of a sketch as text
_MATCHING_BAND: Final = 2  # values, see `find_similar`
_GROUPING_BAND: Final = 8  # values, see `group_similar`
_PAIRS_AT_ONCE: Final = 200_000  # limits the memory of one comparison
# An odd 64-bit multiplier near 2^64 / golden ratio: multiplication and shifts spread nearby numbers over all 64 bits.
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)

# A number with its points and dashes (a date, an identifier) is one word, and so is each character of a script without
# spaces between words.
_WORD: Final = re.compile(r"\d[\d.,:/-]*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]+")
_NUMBER: Final = "#"
_NONE: Final[Shingles] = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Shingled:
    """A unit's shingles in two variants.

    Attributes:
        exact: the shingles of its words.
        numberless: the shingles with all numbers replaced by one token, so that a shifted date or another identifier
            makes no difference.
    """

    exact: Shingles
    numberless: Shingles


class Shingler:
    """Makes shingles with the site's key. Equal words have equal hashes, which cannot be computed without the key."""

    def __init__(self, key: bytes) -> None:
        """Use `key`, which has 32 bytes."""
        self._key = key
        self._hashes: dict[str, int] = {}
        # One odd multiplier for each position in a shingle, so that the order of its words matters.
        digest = hashlib.blake2b(b"places", key=key, digest_size=24).digest()
        self._multipliers = np.frombuffer(digest, dtype=np.uint64) | np.uint64(1)

    def shingle(self, texts: Iterable[str]) -> Shingled:
        """Return the shingles of a unit's case-folded texts; no shingle spans two texts."""
        exact, numberless = [_NONE], [_NONE]
        for text in texts:
            words = _WORD.findall(text)
            hashes = np.fromiter(map(self._hash, words), dtype=np.uint64, count=len(words))
            are_numbers = np.fromiter(
                (word[0].isdecimal() for word in words), dtype=bool, count=len(words)
            )
            exact.append(self._join(hashes))
            hashes[are_numbers] = self._hash(_NUMBER)
            numberless.append(self._join(hashes))
        return Shingled(exact=_merge(exact), numberless=_merge(numberless))

    def _join(self, hashes: NDArray[np.uint64]) -> Shingles:
        """Return one hash for every three consecutive word hashes."""
        if len(hashes) < 3:
            return _NONE
        first, second, third = self._multipliers
        mixed: Shingles = hashes[:-2] * first + hashes[1:-1] * second + hashes[2:] * third
        mixed ^= mixed >> np.uint64(32)
        mixed *= _SPREAD
        mixed ^= mixed >> np.uint64(29)
        return mixed

    def _hash(self, word: str) -> int:
        value = self._hashes.get(word)
        if value is None:
            digest = hashlib.blake2b(
                word.encode("utf-8", "surrogatepass"), key=self._key, digest_size=8
            ).digest()
            value = int.from_bytes(digest, "big")
            self._hashes[word] = value
        return value


def merge_shingled(parts: Sequence[Shingled]) -> Shingled:
    """Return the shingles of several records of one unit."""
    if len(parts) == 1:
        return parts[0]
    return Shingled(
        exact=_merge([part.exact for part in parts]),
        numberless=_merge([part.numberless for part in parts]),
    )


def _merge(parts: Sequence[Shingles]) -> Shingles:
    """Return the sorted distinct shingles of all parts, but only the smallest if there are too many."""
    return np.unique(np.concatenate(parts))[:_MAX_SHINGLES]


def drop_common(units: Sequence[Shingles], groups: Sequence[int], percent: int) -> list[Shingles]:
    """Return each unit's shingles, except those that occur in more than `percent` % of the groups.

    Shingles in nearly all records are the benchmark's own text and would make all records similar.

    Args:
        units: shingles of each unit.
        groups: group of each unit. Units of one group count once, so that many copies of one record are not mistaken
            for the benchmark's text.
        percent: percentage of the number of groups.
    """
    if not units:
        return []
    shingles = np.concatenate(units)
    owners = np.repeat(np.asarray(groups, dtype=np.int64), [len(unit) for unit in units])
    # Sorted by shingle, then by group: copies of a shingle in one group are adjacent, and only the first counts.
    order = np.lexsort((owners, shingles))
    shingles, owners = shingles[order], owners[order]
    is_first = np.ones(len(shingles), dtype=bool)
    is_first[1:] = (shingles[1:] != shingles[:-1]) | (owners[1:] != owners[:-1])
    distinct, group_counts = np.unique(shingles[is_first], return_counts=True)
    common = distinct[100 * group_counts > percent * len(set(groups))]
    distinctive: list[Shingles] = []
    for unit in units:
        is_common = np.isin(unit, common, assume_unique=True)
        distinctive.append(unit[~is_common])
    return distinctive


class Sketcher:
    """Makes sketches with the site's key."""

    def __init__(self, key: bytes, permutations: int = PERMUTATIONS) -> None:
        """Use `key`, which has 32 bytes. Stored sketches have PERMUTATIONS values."""
        stream = hashlib.shake_256(b"permutations" + key).digest(16 * permutations)
        numbers = np.frombuffer(stream, dtype=np.uint64)
        self._factors = numbers[:permutations] | np.uint64(1)
        self._offsets = numbers[permutations:]

    def sketch(self, units: Sequence[Shingles]) -> Sketches:
        """Return one row for each unit, which must have at least one shingle."""
        sketches = np.empty((len(units), len(self._factors)), dtype=np.uint32)
        if not units:
            return sketches
        shingles = np.concatenate(units)
        lengths = np.array([len(unit) for unit in units])
        starts = np.cumsum(lengths) - lengths
        for column, (factor, offset) in enumerate(zip(self._factors, self._offsets, strict=True)):
            permuted = (shingles * factor + offset) >> np.uint64(32)
            sketches[:, column] = np.minimum.reduceat(permuted, starts)
        return sketches


def encode_sketch(sketch: NDArray[np.uint32]) -> str:
    """Return the row of a stored sketch as 512 hexadecimal digits."""
    return sketch.astype(">u4").tobytes().hex()


def decode_sketches(texts: Sequence[str]) -> Sketches:
    """Parse sketches written by `encode_sketch`. Raises ValueError if a text is not a sketch."""
    if any(len(text) != _HEX for text in texts):
        raise ValueError(f"every stored sketch must have {_HEX} hexadecimal digits")
    values = np.frombuffer(bytes.fromhex("".join(texts)), dtype=">u4")
    return values.reshape(len(texts), PERMUTATIONS).astype(np.uint32)


@dataclass(frozen=True, slots=True)
class SimilarSketch:
    """An old row, and the number of values in which it agrees with a new row."""

    row: int
    agreeing: int


def find_similar(new: Sketches, old: Sketches, percent: int) -> dict[int, SimilarSketch]:
    """Return the most similar old row for each new row, provided that they agree in at least `percent` % of values.

    Rows are compared if they agree in both values of any of 32 bands. This misses 1 in 10,000 pairs that share half of
    their shingles. The first of equally similar rows is returned.
    """
    best: dict[int, SimilarSketch] = {}
    for new_rows, old_rows in _iter_candidates(new, old):
        agreeing = (new[new_rows] == old[old_rows]).sum(axis=1)
        for pair in np.flatnonzero(100 * agreeing >= percent * PERMUTATIONS):
            row = int(new_rows[pair])
            similar = SimilarSketch(int(old_rows[pair]), int(agreeing[pair]))
            if row not in best or _is_more_similar(similar, best[row]):
                best[row] = similar
    return best


def _is_more_similar(similar: SimilarSketch, best: SimilarSketch) -> bool:
    if similar.agreeing == best.agreeing:
        return similar.row < best.row
    return similar.agreeing > best.agreeing


def group_similar(sketches: Sketches, percent: int) -> list[int]:
    """Return the group of each row; rows that agree in `percent` % of values are linked, directly or transitively.

    The method is suitable for high percentages: rows are compared if they agree in all eight values of a band, and only
    with the first such row, so that a thousand copies cost a thousand comparisons.
    """
    parents = list(range(len(sketches)))
    columns = sketches.shape[1]
    for start in range(0, columns, _GROUPING_BAND):
        _, buckets = np.unique(_hash_bands(sketches, start, _GROUPING_BAND), return_inverse=True)
        _, firsts = np.unique(buckets, return_index=True)
        representatives = firsts[buckets]
        agreeing = (sketches == sketches[representatives]).sum(axis=1)
        for row in np.flatnonzero(100 * agreeing >= percent * columns):
            parents[find_root(parents, int(row))] = find_root(parents, int(representatives[row]))
    return [find_root(parents, row) for row in range(len(parents))]


def find_root(parents: list[int], row: int) -> int:
    """Return the row that represents the group of `row`, and compress the path to it."""
    root = row
    while parents[root] != root:
        root = parents[root]
    while parents[row] != root:
        parents[row], row = root, parents[row]
    return root


def _hash_bands(sketches: Sketches, start: int, width: int) -> NDArray[np.uint64]:
    """Return a hash of `width` values of each row. A collision only costs an extra comparison."""
    bands = np.zeros(len(sketches), dtype=np.uint64)
    for column in range(start, start + width):
        bands = (bands ^ sketches[:, column]) * _SPREAD
        bands ^= bands >> np.uint64(31)
    return bands


def _iter_candidates(
    new: Sketches, old: Sketches
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield pairs of new and old rows that agree in a whole band; a pair may be repeated."""
    if not len(new) or not len(old):
        return
    for start in range(0, PERMUTATIONS, _MATCHING_BAND):
        old_bands = _hash_bands(old, start, _MATCHING_BAND)
        new_bands = _hash_bands(new, start, _MATCHING_BAND)
        # Old rows with the same band as a new row are adjacent in sorted order: `counts` of them, starting at `lows`.
        order = np.argsort(old_bands, kind="stable")
        sorted_bands = old_bands[order]
        lows = np.searchsorted(sorted_bands, new_bands, side="left")
        counts = np.searchsorted(sorted_bands, new_bands, side="right") - lows
        for rows in _split_rows(counts):
            row_counts = counts[rows]
            new_rows = np.repeat(rows, row_counts)
            first_pairs = np.cumsum(row_counts) - row_counts
            steps = np.arange(len(new_rows)) - np.repeat(first_pairs, row_counts)
            yield new_rows, order[lows[new_rows] + steps]


def _split_rows(counts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Split the rows with at least one pair into parts of about `_PAIRS_AT_ONCE` pairs."""
    rows = np.flatnonzero(counts)
    if not len(rows):
        return []
    parts = np.cumsum(counts[rows]) // _PAIRS_AT_ONCE
    return np.split(rows, np.flatnonzero(np.diff(parts)) + 1)
