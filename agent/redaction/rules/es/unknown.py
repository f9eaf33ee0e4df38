"""Capitalised words in no list of safe words, for the strict level, which redacts words rather than miss a name."""

from collections.abc import Iterator
from functools import cache

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.es.word_lists import words
from agent.redaction.rules.word_lists import read_safe_words

_CAPITALISED = regex.compile(
    r"(?<![\p{L}\p{M}\d_@.\\/])\p{Lu}[\p{L}\p{M}]++(?:['-]\p{L}[\p{L}\p{M}]*+)*+(?![\d_@\\/])"
)
_PART = regex.compile(r"[\p{L}\p{M}]+")
_BEGINNING = regex.compile(r"(?:^|[.?!:;¿¡>|*#\]}]|\n|[\"'(-])[ \t\"'(*¿¡]{0,3}$")
_ROMAN = regex.compile(r"[IVX]{1,5}[abAB]?")


def find_unknown(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield capitalised words without evidence that they are harmless.

    A name that is also a word ("Rosa", "Dolores") is harmless only at the beginning of a sentence.

    Raises:
        TimeoutError: the deadline passed.
    """
    safe, names = safe_words(), words("given_names") | words("surnames")
    for found in _CAPITALISED.finditer(text, timeout=deadline.left()):
        lower = found.group().lower()
        known = _ROMAN.fullmatch(found.group()) or all(
            len(part) == 1
            or part in safe
            or part.removesuffix("s") in safe
            or part.removesuffix("es") in safe
            for part in _PART.findall(lower)
        )
        begins = _BEGINNING.search(text, max(0, found.start() - 8), found.start())
        if not known or (lower in names and not begins):
            yield "UNKNOWN_WORD", found.start(), found.end()


@cache
def safe_words() -> frozenset[str]:
    """Return words that do not identify a person. The list is read on first use."""
    return read_safe_words("es") | words("everyday_words")
