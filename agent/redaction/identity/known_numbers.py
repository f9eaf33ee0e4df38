"""Search texts for the known numbers of a record (charts, accounts, telephones), however their digits are grouped."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from agent.redaction.identity.words import Word, plain_words

_MAX_LENGTH = 40  # characters; longer values are encoded data
_DIGITS_APART = 5  # minimum digits of a number that is also searched for in groups
_DIGITS = 4  # minimum digits of a number
_MIXED = 3  # minimum characters of an identifier that mixes letters and digits
_YEAR = re.compile(r"(?:19|20)\d\d")
_APART = re.compile(r"[\s\-./·:#()_]{0,3}")
# The only separators between groups of a short number, which with others could be a fraction or a decimal number.
_APART_SHORT = re.compile(r"[ \-]?")
_LABELLED = re.compile(r"[^\W\d_]+(\d{5,})")  # its digits are also searched for without the label
_LONG = 7  # digits from which a number in groups cannot be a fraction or a decimal number
# Digits of a telephone number with its area code. It is also searched for by its last 9 and last 7 digits.
_DIGITS_WITH_AREA = 10
# Final digits that are also searched for on their own, after a cue such as "ending".
_LAST_DIGITS = 4
_LAST_CUE = re.compile(
    r"(?:ending|ends|end|last|final|terminad[oa]|xx|\*\*)[^.\n]{0,20}$", re.IGNORECASE
)
_WITH_LAST_DIGITS = frozenset({"SSN", "ACCOUNT", "MRN", "PHONE", "PLAN"})


class KnownNumbers:
    """Identifiers with digits that are searched for.

    Args:
        values: (entity, value) pairs.
    """

    def __init__(self, values: Iterable[tuple[str, str]]) -> None:
        self._entities: dict[str, str] = {}
        self._prefixes: set[str] = set()
        self._last_digits: dict[str, str] = {}
        for entity, value in values:
            for key in _list_keys(entity, value):
                self._add(entity, key)

    def _add(self, entity: str, key: str) -> None:
        self._entities.setdefault(key, entity)
        self._prefixes.update(key[:length] for length in range(1, len(key) + 1))
        if entity in _WITH_LAST_DIGITS and key.isdigit() and len(key) > _LONG:
            self._last_digits.setdefault(key[-_LAST_DIGITS:], entity)

    def __bool__(self) -> bool:
        """Return whether there is any identifier to search for."""
        return bool(self._entities)

    def find(self, text: str, words: Sequence[Word]) -> Iterator[tuple[int, int, str]]:
        """Yield the start, end and entity of known identifiers in `text`, which consists of `words`."""
        if not self._entities:
            return
        for index, word in enumerate(words):
            key = word.key.lstrip("0") if word.key.isdigit() else word.key
            if key in self._prefixes or (not key and word.length < _MAX_LENGTH):
                yield from self._find_from(text, words, index, key)
            if (
                word.key in self._last_digits
                and word.length == _LAST_DIGITS
                and _LAST_CUE.search(text[max(0, word.start - 30) : word.start])
            ):
                yield word.start, word.end, self._last_digits[word.key]

    def _find_from(
        self, text: str, words: Sequence[Word], first: int, key: str
    ) -> Iterator[tuple[int, int, str]]:
        """Yield the identifiers that begin with the word at `first`, which is `key` without its leading zeros."""
        last, is_apart = first, False
        while True:
            if key in self._entities and (
                not is_apart or _may_be_apart(key, text, words[first : last + 1])
            ):
                yield words[first].start, words[last].end, self._entities[key]
            if last + 1 == len(words) or len(key) > _MAX_LENGTH:
                return
            gap = text[words[last].end : words[last + 1].start]
            following = words[last + 1].key
            if not key and following.isdigit():
                following = following.lstrip("0")
            key += following
            if key not in self._prefixes or not _APART.fullmatch(gap):
                return
            is_apart = is_apart or bool(gap)
            last += 1


def _may_be_apart(key: str, text: str, words: Sequence[Word]) -> bool:
    """Return whether a number may be written in these groups: short numbers allow only small gaps, as in "451 234"."""
    if not key.isdigit() or len(key) >= _LONG:
        return True
    gaps = (text[word.end : following.start] for word, following in pairwise(words))
    return len(key) >= _DIGITS_APART and all(_APART_SHORT.fullmatch(gap) for gap in gaps)


def _list_keys(entity: str, value: str) -> list[str]:
    """Return the forms in which an identifier is searched for: its letters and digits, without leading zeros."""
    joined = "".join(plain_words(value)).lstrip("0")
    if not _is_searched(entity, joined):
        return []
    keys = [joined]
    label = _LABELLED.fullmatch(joined)
    if label:
        keys.append(label[1].lstrip("0"))
    if entity == "PHONE" and joined.isdigit() and len(joined) >= _DIGITS_WITH_AREA:
        national = joined[-_DIGITS_WITH_AREA:]
        keys += [
            national.lstrip("0"),
            joined[-9:].lstrip("0"),
            joined[-7:].lstrip("0"),
            "1" + national,
        ]
    return keys


def _is_searched(entity: str, joined: str) -> bool:
    """Return whether an identifier is long enough to be searched for, contains a digit, and is not just a year."""
    if not any(map(str.isdigit, joined)) or len(joined) > _MAX_LENGTH:
        return False
    if not joined.isdigit():
        return len(joined) >= _MIXED
    is_year = _YEAR.fullmatch(joined) is not None and entity != "MRN"
    return len(joined) >= _DIGITS and not is_year
