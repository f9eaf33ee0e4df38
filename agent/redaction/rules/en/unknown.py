"""Capitalised words in no list of safe words, for the strict level, which redacts words rather than miss a name."""

from collections.abc import Iterator
from functools import cache

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.en.names import words
from agent.redaction.rules.word_lists import compile_pattern, read_safe_words

_CAPITALISED = regex.compile(
    r"(?<![\p{L}\p{M}\d_@.\\/])(?<!\d-)\p{Lu}[\p{L}\p{M}]*+(?:['-]\p{L}[\p{L}\p{M}]*+)*+(?![\d_@\\/])"
)
_PART = regex.compile(r"[\p{L}\p{M}]+")
_BEGINNING = regex.compile(r"(?:^|[.?!:;>|*#\]}]|\n|[\"'(-]|\b\d{1,3}[.)])[ \t\"'(*]{0,3}$")
_TERM_AFTER = compile_pattern(r"(?:'s)? (?i:\L<eponyms>|ulcer|virus)s?\b", "en")
_ROMAN = regex.compile(r"[IVX]{1,5}[abAB]?")
_INFLECTIONS = ("s", "es", "ed", "ing", "ly", "d")


def find_unknown(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield capitalised words without evidence that they are harmless.

    A name that is also a word ("Rose", "Will") is harmless only at the beginning of a sentence.

    Raises:
        TimeoutError: the deadline passed.
    """
    for found in _CAPITALISED.finditer(text, timeout=deadline.left()):
        word = found.group()
        stem = word[:-2] if word.endswith("'s") else word
        if _TERM_AFTER.match(text, found.start() + len(stem)):
            continue
        known = all(len(part) == 1 or is_safe(part) for part in _PART.findall(stem))
        if known and (
            not _is_name(stem) or _BEGINNING.search(text[max(0, found.start() - 8) : found.start()])
        ):
            continue
        yield "UNKNOWN_WORD", found.start(), found.end()


def is_safe(word: str) -> bool:
    """Return whether a list contains the word or its base form."""
    safe, lower = _read_safe_words(), word.lower()
    if lower in safe or word in safe or _ROMAN.fullmatch(word):
        return True
    return any(lower.endswith(end) and lower[: -len(end)] in safe for end in _INFLECTIONS) or (
        word.endswith("s") and word[:-1] in safe
    )


def _is_name(word: str) -> bool:
    lower = word.lower()
    return lower not in words("function_words") and (
        lower in words("given_names") or lower in words("surnames")
    )


@cache
def _read_safe_words() -> frozenset[str]:
    """Return words that do not identify a person. The list takes 8 MB and is read on first use."""
    own = words("function_words") | words("medical_words") | words("everyday_words")
    return read_safe_words("en") | own
