"""The words of a text, as the identity table compares them: runs of letters and runs of digits, each with its place."""

import re
import unicodedata
from functools import cache

import regex

# (plain form, start, end exclusive)
Word = tuple[str, int, int]

_OF_ASCII = re.compile(r"[a-z]+|\d+")
_OF_ANY = regex.compile(r"[\p{L}\p{M}]+|\p{Nd}+")


def words_of(text: str) -> list[Word]:
    """Return the words of `text` in order: small letters, without accents."""
    if text.isascii():
        return [(word.group(), word.start(), word.end()) for word in _OF_ASCII.finditer(text.lower())]
    return [(plain(word.group()), word.start(), word.end()) for word in _OF_ANY.finditer(text)]


def keys_of(text: str) -> tuple[str, ...]:
    """Return the plain forms of the words of `text`."""
    return tuple(key for key, _, _ in words_of(text))


def plain(word: str) -> str:
    """Return a word in small letters without accents."""
    return word.lower() if word.isascii() else _without_accents(word)


@cache
def _letters_without_accents() -> dict[int, str]:
    return str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th"})


def _without_accents(word: str) -> str:
    decomposed = unicodedata.normalize("NFD", word.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_letters_without_accents())
