"""Institutions in letterheads and sentences: capitalised words that end in a word such as "Centre", one of them a name.

A name is a word in no list ("Tallowridge"), or one after which places are named ("Bluebell"). Without one, the words
denote a kind of unit that every hospital has ("Acute Stroke Unit").
"""

from collections.abc import Iterator
from functools import cache

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.en.names import words
from agent.redaction.rules.en.small_letter_places import is_landscape, is_of_a_place
from agent.redaction.rules.en.vocabulary import is_made_of_word
from agent.redaction.rules.word_lists import compile_pattern, read_words

_WORD = r"(?:\p{Lu}[\p{L}\p{M}'’-]{1,30}|St\.)"
_LINK = r"(?: (?:of|OF|the|THE|and|AND|&|for|FOR))?"
_PHRASE = regex.compile(rf"(?<![\p{{L}}\d'’.-]){_WORD}(?:{_LINK} {_WORD}){{1,7}}(?![\p{{L}}\d'’-])")
_HEAD = compile_pattern(r"(?i)(?<![\p{L}'’-])\L<heads_of_institutions>(?![\p{L}'’-])", "en")
_PART = regex.compile(r"[\p{L}\p{M}'’-]+")
_SUFFIX = regex.compile(
    r",? (?:P\.?C\.?|LLC|L\.L\.C\.?|Ltd\.?|Pvt\.? Ltd\.?|Inc\.?|PLLC|LLP)(?![\p{L}])"
)
_NOT_ALONE = frozenset({"old", "new", "great", "upper", "lower", "north", "south", "east", "west"})
# Things of a landscape that are things of medicine, too
_OF_MEDICINE = frozenset(
    {
        "rose",
        "stone",
        "bridge",
        "port",
        "bay",
        "crest",
        "main",
        "center",
        "water",
        "broad",
        "iron",
        "canal",
    }
)


def find_institutions(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield capitalised words up to the last that denotes an institution, if one before it is a name.

    Raises:
        TimeoutError: the deadline passed.
    """
    for phrase in _PHRASE.finditer(text, timeout=deadline.left()):
        heads = list(_HEAD.finditer(text, phrase.start(), phrase.end()))
        if not heads:
            continue
        start = _skip_words_of_no_name(text, phrase.start(), heads[-1].start())
        before = text[start : heads[-1].start()]
        if not _has_name(before) and not _is_old_house(before):
            continue
        end = (
            phrase.end()
            if _begins_line(text, start)
            else _find_end(text, heads[-1].end(), phrase.end())
        )
        suffix = _SUFFIX.match(text, end)
        yield "FACILITY", start, end if suffix is None else suffix.end()


def _begins_line(text: str, start: int) -> bool:
    return not text[text.rfind("\n", 0, start) + 1 : start].strip()


def _find_end(text: str, head_end: int, phrase_end: int) -> int:
    """Return the end of the name: behind the head, or behind "of" and what follows."""
    is_continued = regex.match(r" (?:of|OF|for|FOR) ", text[head_end:phrase_end]) is not None
    return phrase_end if is_continued else head_end


def _skip_words_of_no_name(text: str, start: int, end: int) -> int:
    """Return the start of the name: behind titles and words that begin a sentence."""
    skipped = read_words("en", "not_organisations") - {
        "new",
        "high",
        "upper",
        "lower",
        "sky",
        "royal",
    }
    for word in _PART.finditer(text, start, end):
        lower = word.group().lower()
        is_skipped = (
            lower in skipped or lower in words("function_words") or lower in words("titles")
        )
        if not is_skipped and lower not in words("titles_in_short"):
            return int(word.start())
    return end


def _has_name(value: str) -> bool:
    return any(_is_name(part) for word in _PART.findall(value) for part in word.split("-"))


def _is_old_house(value: str) -> bool:
    """Return whether words name a house by what it was: "Old Creamery"."""
    first, *others = value.lower().split() or [""]
    return first in _NOT_ALONE and len(others) == 1 and _list_kinds().isdisjoint(others)


@cache
def _list_kinds() -> frozenset[str]:
    """Return the words for what institutions do, in small letters."""
    lists = (
        "fields_of_facilities",
        "not_organisations",
        "generic_modifiers",
        "heads_of_institutions",
    )
    return frozenset[str]().union(*(read_words("en", name) for name in lists))


def _is_name(word: str) -> bool:
    """Return whether a word of an institution is its name, and not what it does."""
    lower = word.lower().removesuffix("'s").removesuffix("’s")
    if len(lower) < 4 or lower in _NOT_ALONE or lower in _OF_MEDICINE:
        return False
    if word.capitalize() in words("places"):
        return True
    if is_made_of_word(lower) and not is_landscape(lower):
        return False
    return is_of_a_place(lower)
