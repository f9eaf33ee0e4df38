"""Recognising records by their words: keyed MinHash sketches, so that new pseudonyms inside the texts hide nothing.

A text becomes the set of its shingles (three words in a row, hashed under the site's key). A sketch is the least value
of that set under each of 64 keyed permutations; the share of places in which two sketches agree estimates how much the
two sets overlap (their Jaccard index), with a standard error of at most 0.0625. Without the key a sketch tells nothing
about any word.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Shingles = NDArray[np.uint64]
"""Distinct shingles of one unit, sorted."""

Sketches = NDArray[np.uint32]
"""One row of 64 values for each unit."""

PERMUTATIONS: Final = 64
LEAST_SHINGLES: Final = 8  # a sketch of fewer would agree with another by chance
_MOST_SHINGLES: Final = 2048  # of one unit; of longer ones the same part is taken wherever they occur
_HEX: Final = 8 * PERMUTATIONS  # characters of a sketch as text
_PAIRS_AT_ONCE: Final = 200_000

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
        odd = np.frombuffer(hashlib.blake2b(b"places", key=key, digest_size=24).digest(), dtype=np.uint64)
        self._places = odd | np.uint64(1)

    def shingle(self, texts: Iterable[str]) -> Shingled:
        """Return the shingles of a unit's texts, which are in one case; none crosses from one text to the next."""
        exact, numberless = [_NONE], [_NONE]
        for text in texts:
            words = _WORD.findall(text)
            hashes = np.fromiter((self._hash(word) for word in words), dtype=np.uint64, count=len(words))
            are_numbers = np.fromiter((word[0].isdecimal() for word in words), dtype=bool, count=len(words))
            exact.append(self._join(hashes))
            hashes[are_numbers] = self._hash(_NUMBER)
            numberless.append(self._join(hashes))
        return Shingled(_distinct(exact), _distinct(numberless))

    def _join(self, hashes: NDArray[np.uint64]) -> Shingles:
        """Return a hash of each three in a row."""
        if len(hashes) < 3:
            return _NONE
        first, second, third = self._places
        mixed: Shingles = hashes[:-2] * first + hashes[1:-1] * second + hashes[2:] * third
        mixed ^= mixed >> np.uint64(32)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        return mixed

    def _hash(self, word: str) -> int:
        known = self._hashes.get(word)
        if known is None:
            digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), key=self._key, digest_size=8).digest()
            known = self._hashes[word] = int.from_bytes(digest, "big")
        return known


def merge_shingled(parts: Sequence[Shingled]) -> Shingled:
    """Return the shingles of several records of one unit."""
    if len(parts) == 1:
        return parts[0]
    return Shingled(_distinct([part.exact for part in parts]), _distinct([part.numberless for part in parts]))


def _distinct(found: Sequence[Shingles]) -> Shingles:
    return np.unique(np.concatenate(found))[:_MOST_SHINGLES]


def drop_common(units: Sequence[Shingles], groups: Sequence[int], percent: int) -> list[Shingles]:
    """Return each unit's shingles without those that more than `percent` % of the groups have.

    What nearly everybody's records say is the benchmark's own text, and would make all of them alike.

    Args:
        units: shingles of each unit.
        groups: the group of each unit; units of one group count once, so that many copies of one record are not
            taken for the benchmark's text.
        percent: of the number of groups.
    """
    if not units:
        return []
    owners = np.repeat(np.asarray(groups, dtype=np.int64), [len(unit) for unit in units])
    everything = np.concatenate(units)
    order = np.lexsort((owners, everything))
    shingles, owners = everything[order], owners[order]
    is_first = np.ones(len(shingles), dtype=bool)
    is_first[1:] = (shingles[1:] != shingles[:-1]) | (owners[1:] != owners[:-1])
    distinct, counts = np.unique(shingles[is_first], return_counts=True)
    common = distinct[100 * counts > percent * len(set(groups))]
    return [unit[~np.isin(unit, common, assume_unique=True)] for unit in units]


class Sketcher:
    """Makes sketches under the site's key."""

    def __init__(self, key: bytes, permutations: int = PERMUTATIONS) -> None:
        """`key` is 32 bytes. Sketches that are kept have PERMUTATIONS places."""
        stream = hashlib.shake_256(b"permutations" + key).digest(16 * permutations)
        numbers = np.frombuffer(stream, dtype=np.uint64)
        self._factors = numbers[:permutations] | np.uint64(1)
        self._offsets = numbers[permutations:]

    def sketch(self, units: Sequence[Shingles]) -> Sketches:
        """Return one row for each unit. Each has at least one shingle."""
        sketches = np.empty((len(units), len(self._factors)), dtype=np.uint32)
        if not units:
            return sketches
        everything = np.concatenate(units)
        starts = np.cumsum([0, *(len(unit) for unit in units[:-1])])
        for place in range(len(self._factors)):
            permuted = (everything * self._factors[place] + self._offsets[place]) >> np.uint64(32)
            sketches[:, place] = np.minimum.reduceat(permuted, starts)
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
class Alike:
    """An old row, and in how many places it agrees with the new one."""

    row: int
    agreeing: int


def find_alike(new: Sketches, old: Sketches, percent: int) -> dict[int, Alike]:
    """Return, for each new row that has one, the old row that is most like it, if they agree in `percent` % of places.

    Rows are compared where they agree in both places of a band, of which there are 32: of pairs with half of their
    shingles in common this misses 1 in 10,000. Of equally alike rows the first is taken.
    """
    best: dict[int, Alike] = {}
    for new_rows, old_rows in _candidates(new, old, rows_in_band=2):
        agreeing = (new[new_rows] == old[old_rows]).sum(axis=1)
        for index in np.flatnonzero(100 * agreeing >= percent * PERMUTATIONS):
            found = Alike(int(old_rows[index]), int(agreeing[index]))
            row = int(new_rows[index])
            if row not in best or (found.agreeing, -found.row) > (best[row].agreeing, -best[row].row):
                best[row] = found
    return best


def group_alike(sketches: Sketches, percent: int) -> list[int]:
    """Return a group for each row: rows that agree in `percent` % of places are in one, also by way of others.

    Made for high shares: rows are compared where they agree in eight places of a band, and each with the first row
    there only, so that a thousand copies cost a thousand comparisons.
    """
    parents = list(range(len(sketches)))
    places, width = sketches.shape[1], 8
    for start in range(0, places, width):
        _, buckets = np.unique(_bands(sketches, start, width), return_inverse=True)
        _, firsts = np.unique(buckets, return_index=True)
        representatives = firsts[buckets]
        agreeing = (sketches == sketches[representatives]).sum(axis=1)
        for row in np.flatnonzero(100 * agreeing >= percent * places):
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


def _bands(sketches: Sketches, start: int, width: int) -> NDArray[np.uint64]:
    """Return a few places of each row as one number; that two others give the same costs a comparison, no more."""
    bands = np.zeros(len(sketches), dtype=np.uint64)
    for place in range(start, start + width):
        bands = (bands ^ sketches[:, place]) * np.uint64(0x9E3779B97F4A7C15)
        bands ^= bands >> np.uint64(31)
    return bands


def _candidates(
    new: Sketches, old: Sketches, rows_in_band: int
) -> Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield pairs of rows, new and old, that agree in a whole band; a pair may come more than once."""
    if not len(new) or not len(old):
        return
    for start in range(0, PERMUTATIONS - rows_in_band + 1, rows_in_band):
        both = np.concatenate([_bands(old, start, rows_in_band), _bands(new, start, rows_in_band)])
        _, buckets = np.unique(both, return_inverse=True)
        old_buckets, new_buckets = buckets[: len(old)], buckets[len(old) :]
        order = np.argsort(old_buckets, kind="stable")
        lows = np.searchsorted(old_buckets[order], new_buckets, side="left")
        counts = np.searchsorted(old_buckets[order], new_buckets, side="right") - lows
        for rows in _chunks(counts):
            repeated = np.repeat(rows, counts[rows])
            steps = np.arange(len(repeated)) - np.repeat(np.cumsum(counts[rows]) - counts[rows], counts[rows])
            yield repeated, order[lows[repeated] + steps]


def _chunks(counts: NDArray[np.int64]) -> Iterable[NDArray[np.int64]]:
    """Split the rows that have any pairs into parts of about 200,000 pairs."""
    rows = np.flatnonzero(counts)
    if not len(rows):
        return []
    parts = np.cumsum(counts[rows]) // _PAIRS_AT_ONCE
    return np.split(rows, np.flatnonzero(np.diff(parts)) + 1)
