"""Numbers that are known of a record (of charts, accounts, telephones), however a text groups their characters."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from agent.redaction.identity.words_of import Word, keys_of

_LONGEST = 40  # characters; what is longer is encoded data
_DIGITS_APART = 5  # digits of a number that is looked for in groups too
_DIGITS = 4
_MIXED = 3  # characters of an identifier of letters and digits
_YEAR = re.compile(r"(?:19|20)\d\d")
_APART = re.compile(r"[\s\-./·:#()_]{0,3}")
_APART_SHORT = re.compile(r"[ \-]?")  # of a short number: no fraction, no decimal
_LABELLED = re.compile(r"[^\W\d_]+(\d{5,})")  # its digits are known by themselves too
_LONG = 7
_LAST_DIGITS = 4
_LAST_CUE = re.compile(r"(?:ending|ends|end|last|final|terminad[oa]|xx|\*\*)[^.\n]{0,20}$", re.IGNORECASE)
_WITH_LAST_DIGITS = frozenset({"SSN", "ACCOUNT", "MRN", "PHONE", "PLAN"})


class KnownNumbers:
    """Identifiers with digits in them to look for.

    Args:
        values: as (entity, value).
    """

    def __init__(self, values: Iterable[tuple[str, str]]) -> None:
        self._entities: dict[str, str] = {}
        self._prefixes: set[str] = set()
        self._last_digits: dict[str, str] = {}
        for entity, value in values:
            for key in _keys(entity, value):
                self._entities.setdefault(key, entity)
                self._prefixes.update(key[:length] for length in range(1, len(key) + 1))
                if entity in _WITH_LAST_DIGITS and key.isdigit() and len(key) > _LONG:
                    self._last_digits.setdefault(key[-_LAST_DIGITS:], entity)

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._entities)

    def find(self, text: str, words: Sequence[Word]) -> Iterator[tuple[int, int, str]]:
        """Yield where known identifiers stand in `text`, whose words are `words`: start, end, entity."""
        if not self._entities:
            return
        for index, (word, start, end) in enumerate(words):
            key = word.lstrip("0") if word.isdigit() else word
            if key in self._prefixes or (not key and end - start < _LONGEST):
                yield from self._from(text, words, index, key)
            if (
                end - start == _LAST_DIGITS
                and word in self._last_digits
                and _LAST_CUE.search(text[max(0, start - 30) : start])
            ):
                yield start, end, self._last_digits[word]

    def _from(self, text: str, words: Sequence[Word], index: int, key: str) -> Iterator[tuple[int, int, str]]:
        """Yield the identifiers that begin with the word at `index`, which reads `key` without leading zeros."""
        start, last, apart = words[index][1], index, False
        while True:
            if key in self._entities and self._counts(key, text, words[index : last + 1], apart=apart):
                yield start, words[last][2], self._entities[key]
            if last + 1 == len(words) or len(key) > _LONGEST:
                return
            between = text[words[last][2] : words[last + 1][1]]
            following = words[last + 1][0]
            key = key + following if key else (following.lstrip("0") if following.isdigit() else following)
            if key not in self._prefixes or not _APART.fullmatch(between):
                return
            apart = apart or bool(between)
            last += 1

    def _counts(self, key: str, text: str, words: Sequence[Word], *, apart: bool) -> bool:
        if not key.isdigit() or len(key) >= _LONG:
            return True
        if not apart:
            return True
        gaps = (text[one[2] : other[1]] for one, other in pairwise(words))
        return len(key) >= _DIGITS_APART and all(_APART_SHORT.fullmatch(gap) for gap in gaps)


def _keys(entity: str, value: str) -> Iterator[str]:
    """Yield the forms under which an identifier is looked for: its letters and digits, without leading zeros."""
    joined = "".join(keys_of(value)).lstrip("0")
    if not any(map(str.isdigit, joined)) or len(joined) > _LONGEST:
        return
    if joined.isdigit():
        if len(joined) < _DIGITS or (_YEAR.fullmatch(joined) and entity != "MRN"):
            return
    elif len(joined) < _MIXED:
        return
    yield joined
    label = _LABELLED.fullmatch(joined)
    if label:
        yield label[1].lstrip("0")
    if entity == "PHONE" and joined.isdigit() and len(joined) >= 10:
        yield from {joined[-10:].lstrip("0"), joined[-9:].lstrip("0"), joined[-7:].lstrip("0"), "1" + joined[-10:]} - {
            joined
        }
