"""The closed vocabulary of shorthand: a word in small letters that is not in it is taken for a name.

The vocabulary consists of the safe words, the further words of `known_words.txt.gz`, the shorthand of clinics, and
words that are evidently made from them: "couldnt", "reintubated", "azithro", "recieved".
"""

import gzip
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import ascii_lowercase

import regex

from agent.redaction.rules.en.names import words
from agent.redaction.rules.en.small_letters import is_known
from agent.redaction.rules.word_lists import compile_pattern, read_words

_LISTS = Path(__file__).parent / "words"
_VOWEL = regex.compile(r"[aeiouyàáâãäåæèéêëìíîïòóôõöøùúûü]")
_PREFIX = regex.compile(
    r"(?:anti|bi|cardio|de|dis|endo|extra|gastro|hyper|hypo|infra|inter|intra|micro|mid|mini|mis|multi|neuro|non"
    r"|over|para|peri|poly|post|pre|pseudo|re|retro|semi|sub|super|supra|tele|trans|ultra|un|under)(?=\p{Ll}{4})"
)
_ENDING = regex.compile(r"(?<=\p{Ll}{4})(?:ies|ing|ed|er|ers|es|s|ly|y|ness|less|like|d|nt|ve|ll)$")
_TERM = compile_pattern(r"\p{L}{2,}(?:\L<medical_endings>|\L<drug_stems>)s?", "en")
_BRITISH_ENDING = regex.compile(r"s(?=(?:e[sd]?|ing|ations?|ers?)$)(?<=[iy]s)")
_BEGINNING = compile_pattern(r"\L<combining_forms>\p{L}{3}", "en")
_SHORTEST_TERM = 8  # letters; a shorter word with such an ending may be a name
_SHORTEST_CLIPPED = 4  # letters of a word that is cut short
_LEAST_CUT = 3  # letters that are missing then
_CANDIDATES = 40  # words with the same beginning that are compared
_SHORTEST_MISSPELT = 7  # letters; a shorter misspelt word may be a name
_REMEMBERED = 20_000  # words whose result is kept


def is_unlisted(word: str) -> bool:
    """Return whether a word in small letters may be a name because it is not in the vocabulary."""
    return not _is_in_vocabulary(word)


_RESULTS: dict[str, bool] = {}


def _is_in_vocabulary(word: str) -> bool:
    is_listed = _RESULTS.get(word)
    if is_listed is None:
        if len(_RESULTS) >= _REMEMBERED:
            _RESULTS.clear()
        is_listed = _RESULTS[word] = _look_up(word)
    return is_listed


def _look_up(word: str) -> bool:
    if is_listed_word(word) or _VOWEL.search(word) is None:
        return True
    if is_listed_name(word):
        return False
    if any(is_listed_word(american) for american in _write_as_american(word)):
        return True
    return _is_term(word) or _is_derived(word) or _is_clipped(word) or _is_misspelt(word)


def is_listed_word(word: str) -> bool:
    """Return whether a word stands in one of the lists as it is."""
    return is_known(word) or word in _read_further_words()


def is_made_of_word(word: str) -> bool:
    """Return whether a word in small letters is a listed word with another ending, or has the form of medical terms."""
    return _is_term(word) or word in read_words("en", "combining_forms") or _is_derived(word)


def _is_term(word: str) -> bool:
    """Return whether a long word begins or ends as terms of medicine and chemistry do."""
    if len(word) < _SHORTEST_TERM:
        return False
    return _TERM.fullmatch(word) is not None or _BEGINNING.match(word) is not None


def _write_as_american(word: str) -> Iterator[str]:
    """Yield the American spellings of a British word, without accents."""
    plain = _remove_accents(word).replace("ae", "e").replace("oe", "e")
    for spelling in (plain, _BRITISH_ENDING.sub("z", plain), plain.replace("our", "or")):
        if spelling != word:
            yield spelling


def _remove_accents(word: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFD", word) if letter.isalpha())


def is_listed_name(word: str) -> bool:
    """Return whether a word in small letters is a given name or a surname of the lists."""
    return word in words("given_names") or word in words("surnames")


def _is_derived(word: str) -> bool:
    """Return whether a listed word remains without a prefix or an ending."""
    prefix = _PREFIX.match(word)
    if prefix is not None and is_listed_word(word[prefix.end() :]):
        return True
    ending = _ENDING.search(word)
    if ending is None:
        return False
    stem = word[: ending.start()]
    return any(is_listed_word(stem + vowel) for vowel in ("", "e", "y"))


def _is_clipped(word: str) -> bool:
    """Return whether a frequent longer word begins with this one: "azithro"."""
    if len(word) < _SHORTEST_CLIPPED:
        return False
    ordered = _read_long_words()
    first = bisect_left(ordered, word)
    for longer in ordered[first : first + _CANDIDATES]:
        if not longer.startswith(word):
            return False
        if len(longer) >= len(word) + _LEAST_CUT:
            return True
    return False


def _is_misspelt(word: str) -> bool:
    """Return whether a frequent long word has one letter more or less, or the same letters in another order."""
    if len(word) < _SHORTEST_MISSPELT:
        return False
    if (word[0], *sorted(word)) in _read_letters_of_long_words():
        return True
    frequent = _read_long_word_set()
    for place in range(1, len(word) + 1):
        before, after = word[:place], word[place:]
        if before + after[1:] in frequent:
            return True
        if any(before + letter + after in frequent for letter in ascii_lowercase):
            return True
    return False


@cache
def _read_long_words() -> tuple[str, ...]:
    """Return the frequent long words of medicine, which are cut short in haste and misspelt, in order."""
    return tuple(_read_packed("long_words"))


@cache
def _read_long_word_set() -> frozenset[str]:
    return frozenset(_read_long_words())


@cache
def _read_letters_of_long_words() -> frozenset[tuple[str, ...]]:
    """Return the first letter of each frequent long word with all its letters in alphabetical order."""
    return frozenset((word[0], *sorted(word)) for word in _read_long_words())


@cache
def _read_further_words() -> frozenset[str]:
    """Return the words of the lists that are read only for shorthand. They take 6 MB and are read on first use."""
    return frozenset(_read_packed("known_words")) | read_words("en", "shorthand_words")


def _read_packed(name: str) -> list[str]:
    return gzip.decompress((_LISTS / f"{name}.txt.gz").read_bytes()).decode().split()
