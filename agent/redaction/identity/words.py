"""The words of a text as the identity table compares them: sequences of letters and sequences of digits."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import regex


class Word(NamedTuple):
    """A word of a text.

    Attributes:
        key: the plain form, in lower case and without accents.
        start, end: the position in the text, end exclusive.
    """

    key: str
    start: int
    end: int

    @property
    def length(self) -> int:
        """The number of characters in the text."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class TextWords:
    """A text together with its words."""

    text: str
    words: Sequence[Word]

    def has_capital(self, index: int) -> bool:
        """Return whether a word begins with a capital letter."""
        return self.text[self.words[index].start].isupper()

    def read_gap(self, index: int) -> str:
        """Return the text between a word and the next word."""
        return self.text[self.words[index].end : self.words[index + 1].start]

    def key_before(self, index: int) -> str:
        """Return the plain form of the preceding word, or "" for the first word."""
        return self.words[index - 1].key if index else ""


_OF_ASCII = re.compile(r"[a-z]+|\d+")
_OF_ANY = regex.compile(r"[\p{L}\p{M}]+|\p{Nd}+")


def split_words(text: str) -> list[Word]:
    """Return the words of `text` in order, in lower case and without accents."""
    if text.isascii():
        return [
            Word(word.group(), word.start(), word.end())
            for word in _OF_ASCII.finditer(text.lower())
        ]
    return [
        Word(to_plain(word.group()), word.start(), word.end()) for word in _OF_ANY.finditer(text)
    ]


def plain_words(text: str) -> tuple[str, ...]:
    """Return the plain forms of the words of `text`."""
    return tuple(key for key, _, _ in split_words(text))


def to_plain(word: str) -> str:
    """Return a word in lower case and without accents."""
    return word.lower() if word.isascii() else _remove_accents(word)


@cache
def _map_accents() -> dict[int, str]:
    return str.maketrans(
        {
            "ß": "ss",
            "ø": "o",
            "ł": "l",
            "đ": "d",
            "æ": "ae",
            "œ": "oe",
            "ı": "i",
            "ð": "d",
            "þ": "th",
        }
    )


def _remove_accents(word: str) -> str:
    decomposed = unicodedata.normalize("NFD", word.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_map_accents())
