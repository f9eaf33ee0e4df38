"""Recognising records by their words: keyed MinHash sketches, so that new pseudonyms inside the texts hide nothing.

A text becomes the set of its shingles (three words in a row, hashed under the site's key). A sketch is the least value
of that set under each of 64 keyed permutations; the share of values in which two sketches agree estimates how much the
two sets overlap (their Jaccard index), with a standard error of at most 0.0625. Without the key a sketch
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
"""Distinct shingles of one unit, sorted."""

Sketches = NDArray[np.uint32]
"""One row of 64 values for each unit."""

PERMUTATIONS: Final = 64
MIN_SHINGLES: Final = 8  # a sketch of fewer would agree with another by chance
_MAX_SHINGLES: Final = (
    2048  # of one unit; the least hashes are taken, so that longer units are cut to the same part
)
_HEX: Final = 8 * PERMUTATIONS  # characters of a sketch as text
_MATCHING_BAND: Final = 2  # values, see `find_similar`
_GROUPING_BAND: Final = 8  # values, see `group_similar`
_PAIRS_AT_ONCE: Final = 200_000  # bounds the memory of one comparison
# An odd 64-bit multiplier near 2^64 / golden ratio: multiplied and shifted, nearby numbers spread over all 64 bits.
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)

# A number with its points and dashes (a date, an identifier) is one word; so is each character of a script that puts
# no spaces between words.
_WORD: Final = re.compile(r"\d[\d.,:/-]*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]+")
_NUMBER: Final = "#"
_NONE: Final[Shingles] = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Shingled:
    """A unit's shingles, twice.

    Attributes:
        exact: of its words.
        numberless: as if all its numbers were the same one: a moved date or another identifier changes nothing.
    """

    exact: Shingles
    numberless: Shingles


class Shingler:
    """Makes shingles under the site's key. Equal words have equal hashes, which only the key's holder can compute."""

    def __init__(self, key: bytes) -> None:
        """`key` is 32 bytes."""
        self._key = key
        self._hashes: dict[str, int] = {}
        # One odd multiplier for each position in a shingle, so that the order of its words counts.
        digest = hashlib.blake2b(b"places", key=key, digest_size=24).digest()
        self._multipliers = np.frombuffer(digest, dtype=np.uint64) | np.uint64(1)

    def shingle(self, texts: Iterable[str]) -> Shingled:
        """Return the shingles of a unit's texts, which are in one case; none crosses from one text to the next."""
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
        """Return a hash of each three in a row."""
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
    """Return the distinct shingles of all parts, sorted, the least of them only where there are too many."""
    return np.unique(np.concatenate(parts))[:_MAX_SHINGLES]


def drop_common(units: Sequence[Shingles], groups: Sequence[int], percent: int) -> list[Shingles]:
    """Return each unit's shingles without those that more than `percent` % of the groups have.

    Shingles of nearly all records are the benchmark's own text, and would make all records similar.

    Args:
        units: shingles of each unit.
        groups: the group of each unit; units of one group count once, so that many copies of one record are not
            taken for the benchmark's text.
        percent: of the number of groups.
    """
    if not units:
        return []
    shingles = np.concatenate(units)
    owners = np.repeat(np.asarray(groups, dtype=np.int64), [len(unit) for unit in units])
    # Sorted by shingle, then by group: a group's copies of one shingle are neighbours, of which the first counts.
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
    """Makes sketches under the site's key."""

    def __init__(self, key: bytes, permutations: int = PERMUTATIONS) -> None:
        """`key` is 32 bytes. Stored sketches have PERMUTATIONS values."""
        stream = hashlib.shake_256(b"permutations" + key).digest(16 * permutations)
        numbers = np.frombuffer(stream, dtype=np.uint64)
        self._factors = numbers[:permutations] | np.uint64(1)
        self._offsets = numbers[permutations:]

    def sketch(self, units: Sequence[Shingles]) -> Sketches:
        """Return one row for each unit. Each has at least one shingle."""
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
    """Return a row as 512 hexadecimal digits."""
    return sketch.astype(">u4").tobytes().hex()


def decode_sketches(texts: Sequence[str]) -> Sketches:
    """Return the rows of sketches as `encode_sketch` wrote them. Raises ValueError if one is no sketch."""
    if any(len(text) != _HEX for text in texts):
        raise ValueError("not a sketch")
    values = np.frombuffer(bytes.fromhex("".join(texts)), dtype=">u4")
    return values.reshape(len(texts), PERMUTATIONS).astype(np.uint32)


@dataclass(frozen=True, slots=True)
class SimilarSketch:
    """An old row, and the number of values in which it agrees with the new one."""

    row: int
    agreeing: int


def find_similar(new: Sketches, old: Sketches, percent: int) -> dict[int, SimilarSketch]:
    """Return, for each new row that has one, the most similar old row that agrees with it in `percent` % of values.

    Rows are compared where they agree in both values of a band, of which there are 32: of pairs with half of their
    shingles in common this misses 1 in 10,000. Of equally similar rows the first is taken.
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
    """Return a group for each row: rows that agree in `percent` % of values are in one, also by way of others.

    Made for high shares: rows are compared where they agree in the eight values of a band, and each with the first
    row there only, so that a thousand copies cost a thousand comparisons.
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
    """Return the row that stands for the group of `row`, and shorten the way there."""
    root = row
    while parents[root] != root:
        root = parents[root]
    while parents[row] != root:
        parents[row], row = root, parents[row]
    return root


def _hash_bands(sketches: Sketches, start: int, width: int) -> NDArray[np.uint64]:
    """Return `width` values of each row as one number. A collision costs a comparison, no more."""
    bands = np.zeros(len(sketches), dtype=np.uint64)
    for column in range(start, start + width):
        bands = (bands ^ sketches[:, column]) * _SPREAD
        bands ^= bands >> np.uint64(31)
    return bands


def _iter_candidates(
    new: Sketches, old: Sketches
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield pairs of rows, new and old, that agree in a whole band; a pair may come more than once."""
    if not len(new) or not len(old):
        return
    for start in range(0, PERMUTATIONS, _MATCHING_BAND):
        old_bands = _hash_bands(old, start, _MATCHING_BAND)
        new_bands = _hash_bands(new, start, _MATCHING_BAND)
        # The old rows with the same band as a new one are neighbours in the sorted order: `counts` of them from `lows`.
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
    """Split the rows that have any pairs into parts of about `_PAIRS_AT_ONCE` pairs."""
    rows = np.flatnonzero(counts)
    if not len(rows):
        return []
    parts = np.cumsum(counts[rows]) // _PAIRS_AT_ONCE
    return np.split(rows, np.flatnonzero(np.diff(parts)) + 1)
