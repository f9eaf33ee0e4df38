"""Names in small letters, told by the closed vocabulary: words of shorthand that no list has (see `vocabulary`).

Only lines that are written in haste are read, that is, whose sentences begin with small letters. Elsewhere an unlisted
word needs the model's support (see `agent.redaction.models.model`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.en.names import words
from agent.redaction.rules.en.vocabulary import is_unlisted
from agent.redaction.rules.word_lists import read_words

_LINE = regex.compile(r"[^\n]+")
# The first letter of each sentence or entry of a list.
_START = regex.compile(r"(?:^|(?<=[.?!;:|] )|(?<=\n))[\W\d_]{0,12}(\p{L})")
_WORD = regex.compile(r"\p{L}+")
_SMALL_WORD = regex.compile(
    r"(?<![\p{L}\d@_.\\'’-])(?<!\p{L}[-'’])(?:\p{Ll}['’])?\p{Ll}{2,24}"
    r"(?:[-'’]\p{Ll}{2,24}){0,3}(?![\p{L}\d@_\\]|[-'’]\p{L}|\.\p{L})"
)
_PART = regex.compile(r"\p{Ll}+")
_LEAST = 4  # letters of a name that stands alone
_LEAST_OF_PART = 3  # letters of a part of a name with a hyphen
_LEAST_WORDS = 4  # of a text that shows how it is written
# Greatest share of unlisted words: a text with more is in another language, or a list of names of another kind.
_MOST_UNLISTED = 0.4
_LEAST_HASTY = (
    0.4  # share of sentences that begin with a small letter in a text that is written in haste
)
_PLACE_BEFORE = regex.compile(r"(?<!\p{L})(?:in|near|outside|nr) $")
_INITIAL_AFTER = regex.compile(r" \p{Ll}\.?(?=$|\n|[,;)]| {2}| \d)")
_NEXT_NAME = regex.compile(r",? (\p{Ll}{2,20})(?![\p{L}\d'’-])")
_NAME_BEFORE = regex.compile(r"(?<![\p{L}\d'’-])(\p{Ll}{3,20}),? $")
_CUE_BEFORE = regex.compile(
    r"(?<!\p{L})(?:at|from|in|to|near|outside|behind|via|by|with|of|tried|called) $"
)
_BEGINNINGS = frozenset({
    "la", "el", "los", "las", "san", "santa", "de", "del", "big", "old", "new", "little", "upper", "lower", "north",
    "south", "east", "west", "fort", "mount", "port", "white", "black", "red", "blue", "green", "grand", "high",
})  # fmt: skip
_BEFORE = 24  # characters before a name that are read


@dataclass(frozen=True, slots=True)
class _Haste:
    """How a text is written.

    Attributes:
        starts: number of its sentences and entries.
        small_starts: number of those that begin with a small letter.
    """

    starts: int
    small_starts: int

    def is_evident(self) -> bool:
        return self.small_starts > 0 and self.small_starts >= _LEAST_HASTY * self.starts


def find_unlisted_names(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield the unlisted words of lines that are written in haste, each with the parts of a name beside it.

    Raises:
        TimeoutError: the deadline passed.
    """
    if len(_WORD.findall(text)) < 2 * _LEAST_WORDS:
        return  # too short to show how it is written
    whole_is_hasty = _read_haste(text).is_evident()
    for line in _LINE.finditer(text):
        deadline.left()
        if whole_is_hasty or _is_hasty_line(line.group()):
            yield from _find_in_line(text, line.start(), line.end())


def _is_hasty_line(line: str) -> bool:
    return len(_WORD.findall(line)) >= _LEAST_WORDS and _read_haste(line).is_evident()


def _read_haste(text: str) -> _Haste:
    starts = [start.group(1) for start in _START.finditer(text)]
    return _Haste(len(starts), sum(map(str.islower, starts)))


def _find_in_line(text: str, start: int, end: int) -> Iterator[tuple[Entity, int, int]]:
    small_words = list(_SMALL_WORD.finditer(text, start, end))
    unlisted = [word for word in small_words if _is_name(word.group())]
    if len(unlisted) > max(2, _MOST_UNLISTED * len(small_words)):
        return
    for word in unlisted:
        first, last = _extend(text, word.start(), word.end())
        is_place = _PLACE_BEFORE.search(text, max(start, first - _BEFORE), first)
        yield "LOCATION" if is_place else "NAME", first, last


def _is_name(word: str) -> bool:
    parts = _PART.findall(word)
    if "'" in word or "’" in word:  # "o'shaughnessy", "jorge's"
        longer = parts[0] if len(parts[0]) > 1 else parts[-1]
        return len(longer) >= _LEAST and is_unlisted(longer)
    least = _LEAST if len(parts) == 1 else _LEAST_OF_PART
    return any(len(part) >= least and is_unlisted(part) for part in parts)


def _extend(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the position of an unlisted word together with listed names and an initial beside it."""
    before = _NAME_BEFORE.search(text, max(0, start - _BEFORE), start)
    if before is not None and (
        _is_listed_name(before.group(1)) or _is_of_a_place(text, before.group(1), before.start(1))
    ):
        start = before.start(1)
    following = _NEXT_NAME.match(text, end)
    if following is not None and _is_listed_name(following.group(1)):
        end = following.end()
    initial = _INITIAL_AFTER.match(text, end)
    return start, initial.end() if initial is not None else end


def _is_of_a_place(text: str, word: str, start: int) -> bool:
    """Return whether a word before an unlisted one begins the name of a place: "at mesa grande"."""
    is_first_word = word in _BEGINNINGS or word in read_words("en", "street_names")
    return is_first_word and _CUE_BEFORE.search(text, max(0, start - _BEFORE), start) is not None


def _is_listed_name(word: str) -> bool:
    return any(word in words(name) for name in ("given_names", "surnames", "word_names")) and (
        word not in words("function_words")
    )
