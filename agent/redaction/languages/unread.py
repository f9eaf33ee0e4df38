"""Find prose in languages that no rules read."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from agent.redaction.languages.stretches import Stretch, find_stretches
from agent.redaction.languages.words import SCALE, WORD, open_word_scores, write_small
from agent.redaction.rules.en.unknown import is_safe
from agent.redaction.rules.en.vocabulary import is_listed_name, is_listed_word
from agent.redaction.rules.word_lists import read_safe_words
from agent.redaction.spans.span import Span

_PROSE = 8  # words: the shortest stretch or sentence that counts as prose
_LEAST = round(0.6 * SCALE)  # the lowest score of a stretch that is considered
_LEAST_SURE = SCALE  # the lowest score of a stretch whose sentence is not shown
# Minimum number of telling words (see `_count_telling`).
_TELLING_IN_PROSE = 2
_TELLING_IN_SHORT_FRAGMENT = 2
_SHORT_FRAGMENT = 3  # words; one telling word is enough in a longer one
_SHORTEST_TELLING = 4  # letters, unless one of them has an accent: mV and kDa are units
_STRANGE_IN_PROSE = 4
_LEAST_OF_STRANGE_WORD = (
    -SCALE // 2
)  # the lowest mean score in a sentence that is known by its strange words
# Minimum shares of words that no list of English or Spanish words has.
_UNKNOWN_IN_STRETCH = 0.3
_UNKNOWN_IN_FRAGMENT = 0.5
_STRANGE_IN_SENTENCE = 0.4
_PART_OF_SENTENCE = 0.6  # minimum share of a fragment in its sentence
_OURS = -2 * SCALE  # a sentence with at most this score is English or Spanish for sure
# A short word before a full stop is rather an abbreviation: "Z.n. Apoplex li. mit Parese".
_SENTENCE_END = re.compile(r"\n+|(?:[!?]|(?<=[^\W\d_]{4})\.|(?<=\d)\.)[\"')\]]*\s+")


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a text in small letters, where they are, and their scores."""

    words: list[str]
    places: list[tuple[int, int]]
    scores: list[int]


def find_unread_prose(text: str) -> list[Span] | None:
    """Return the sentences of `text` in other languages than English and Spanish; None if they are most of its words.

    Fragments of fewer than eight words count if they are most of their sentence.
    """
    small = write_small(text)
    words = WORD.findall(small)
    known = open_word_scores()
    scores = [known[word][0] for word in words]
    candidates = list(find_stretches(words, scores, _LEAST))
    if not candidates:
        return []
    places = [match.span() for match in WORD.finditer(small)]
    return _choose_sentences(text, _Words(words, places, scores), candidates)


def _choose_sentences(text: str, words: _Words, candidates: Sequence[Stretch]) -> list[Span] | None:
    sentences = _split_sentences(text, words)
    ends = [sentence.end for sentence in sentences]
    spans: list[Span] = []
    unread: set[int] = set()  # positions of words
    is_any_prose = False
    strange_sentences: dict[
        tuple[int, int], bool
    ] = {}  # of few stretches in long sentences, or the reverse
    covered = -1  # the last sentence of the last prose
    for stretch in candidates:
        first = bisect_right(ends, stretch.first)
        last = bisect_right(ends, stretch.end - 1)
        if last <= covered:
            continue
        sentence = slice(sentences[first].first, sentences[last].end)
        if (first, last) not in strange_sentences:
            strange_sentences[first, last] = _is_strange(text, words, sentence)
        if _is_prose(text, words, stretch, is_strange=strange_sentences[first, last]):
            is_any_prose = True
            first, last = _extend(sentences, words, max(first, covered + 1), last, covered)
            covered = last
        else:
            length = sentence.stop - sentence.start
            telling = _count_telling(text, words, stretch)
            if not _is_fragment(stretch, length, telling):
                if telling and length < _PROSE:
                    spans += _find_capitalised(text, words, sentence)
                continue
        unread.update(range(sentences[first].first, sentences[last].end))
        spans.append(Span(sentences[first].start, sentences[last].stop, "UNKNOWN_WORD"))
    if is_any_prose and 2 * len(unread) >= len(words.words):
        return None
    return spans


def _is_prose(text: str, words: _Words, stretch: Stretch, *, is_strange: bool) -> bool:
    """Return whether a stretch, or the strange sentence around it, is prose in another language."""
    if stretch.score < _LEAST_SURE:
        return False
    if is_strange:
        return True
    return (
        len(stretch.words) >= _PROSE
        and _measure_unknown(stretch.words) >= _UNKNOWN_IN_STRETCH
        and _count_telling(text, words, stretch) >= _TELLING_IN_PROSE
    )


def _is_strange(text: str, words: _Words, sentence: slice) -> bool:
    """Return whether many words of a sentence are in no list, and the others are not English or Spanish for sure."""
    distinct = frozenset(words.words[sentence])
    if len(distinct) < _PROSE:
        return False
    score = sum(words.scores[sentence])
    if score < _LEAST_OF_STRANGE_WORD * (sentence.stop - sentence.start):
        return False  # such as a query of a database, with many strange words among English ones
    strange = _list_strange(text, words, range(sentence.start, sentence.stop))
    return len(strange) >= max(_STRANGE_IN_PROSE, _STRANGE_IN_SENTENCE * len(distinct))


def _is_fragment(stretch: Stretch, words_of_sentence: int, telling: int) -> bool:
    """Return whether a few words in another language are most of their sentence."""
    return (
        stretch.score >= _LEAST_SURE
        and telling >= (1 if len(stretch.words) > _SHORT_FRAGMENT else _TELLING_IN_SHORT_FRAGMENT)
        and stretch.end - stretch.first >= _PART_OF_SENTENCE * words_of_sentence
        and _measure_unknown(stretch.words) >= _UNKNOWN_IN_FRAGMENT
    )


def _count_telling(text: str, words: _Words, stretch: Stretch) -> int:
    """Return the number of strange words of a stretch that speak for another language."""
    positions = range(stretch.first, stretch.end)
    return len(_list_strange(text, words, [at for at in positions if words.scores[at] > 0]))


def _list_strange(text: str, words: _Words, positions: Iterable[int]) -> set[str]:
    """Return the words at some positions that are in no list of English or Spanish words, and in small letters.

    Names and lists of names have none. In a text without small letters, any letters count.
    """
    has_small_letters = not text.isupper()
    return {
        words.words[at]
        for at in positions
        if (len(words.words[at]) >= _SHORTEST_TELLING or not words.words[at].isascii())
        and not (has_small_letters and text[words.places[at][0]].isupper())
        and not _is_known(words.words[at])
    }


def _find_capitalised(text: str, words: _Words, sentence: slice) -> Iterator[Span]:
    """Yield the capitalised words of a sentence that no list has, as the strict level does, except abbreviations."""
    for word, (start, end) in zip(words.words[sentence], words.places[sentence], strict=True):
        if text[start].isupper() and not text[start:end].isupper() and not _is_known(word):
            yield Span(start, end, "UNKNOWN_WORD")


def _measure_unknown(words: Collection[str]) -> float:
    """Return the share of the words that no list of English or Spanish words has."""
    return sum(not _is_known(word) for word in words) / len(words)


def _is_known(word: str) -> bool:
    """Return whether a word is one of English, Spanish or clinics, or a name, which says nothing about the language.

    The lists of rare words have many that are words of other languages too, as "quai" and "fils".
    """
    if is_safe(word) or word in _read_spanish_words() or is_listed_name(word):
        return True
    return open_word_scores()[word][0] <= 0 and is_listed_word(word)


@cache
def _read_spanish_words() -> frozenset[str]:
    """Return the Spanish words that do not identify a person."""
    return read_safe_words("es")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence or line: its place in the text, and its words from `first` to before `end`."""

    start: int
    stop: int
    first: int
    end: int


def _split_sentences(text: str, words: _Words) -> list[_Sentence]:
    starts = [start for start, _ in words.places]
    sentences: list[_Sentence] = []
    start = first = 0
    for stop, following in _find_bounds(text):
        end = bisect_right(starts, stop - 1)
        if end > first:  # otherwise without words: part of the next one
            sentences.append(_Sentence(start, stop, first, end))
            start, first = following, end
    sentences[-1] = replace(sentences[-1], stop=len(text))
    return sentences


def _find_bounds(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence ends and where the next one begins."""
    for match in _SENTENCE_END.finditer(text):
        yield match.start() + len(match.group().rstrip()), match.end()
    yield len(text), len(text)


def _extend(
    sentences: Sequence[_Sentence], words: _Words, first: int, last: int, covered: int
) -> tuple[int, int]:
    """Add the sentences before and after that are not English or Spanish for sure, such as "Müller, Hans.".

    Those up to `covered` have been added already.
    """
    while first > covered + 1 and not _is_ours(sentences[first - 1], words):
        first -= 1
    while last + 1 < len(sentences) and not _is_ours(sentences[last + 1], words):
        last += 1
    return first, last


def _is_ours(sentence: _Sentence, words: _Words) -> bool:
    return sum(words.scores[sentence.first : sentence.end]) <= _OURS
