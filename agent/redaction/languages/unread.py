"""Find prose in languages that no rules read."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from agent.redaction.languages.stretches import Stretch, find_stretches
from agent.redaction.languages.words import SCALE, WORD, open_word_scores, write_small
from agent.redaction.rules.en.unknown import is_safe
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
# Minimum shares of words that no list of English or Spanish words has.
_UNKNOWN_IN_STRETCH = 0.3
_UNKNOWN_IN_SENTENCE = 0.4
_UNKNOWN_IN_FRAGMENT = 0.5
_PART_OF_SENTENCE = 0.6  # minimum share of a fragment in its sentence
_OURS = -2 * SCALE  # a sentence with at most this score is English or Spanish for sure
_SENTENCE_END = re.compile(r"\n+|[.!?][\"')\]]*\s+")


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
    spans: list[Span] = []
    unread: set[int] = set()  # positions of words
    is_any_prose = False
    for stretch in candidates:
        telling = _count_telling(text, words, stretch)
        if telling == 0:
            continue
        first, last = _find_sentences(sentences, stretch)
        sentence = slice(sentences[first].first, sentences[last].end)
        if _is_prose(stretch, words.words[sentence], telling):
            is_any_prose = True
            first, last = _extend(sentences, words, first, last)
        elif not _is_fragment(stretch, sentence.stop - sentence.start, telling):
            if sentence.stop - sentence.start < _PROSE:
                spans += _find_capitalised(text, words, sentence)
            continue
        unread.update(range(sentences[first].first, sentences[last].end))
        spans.append(Span(sentences[first].start, sentences[last].stop, "UNKNOWN_WORD"))
    if is_any_prose and 2 * len(unread) >= len(words.words):
        return None
    return spans


def _is_prose(stretch: Stretch, sentence: Sequence[str], telling: int) -> bool:
    """Return whether a stretch, or the sentence around it, is prose in another language."""
    if telling < _TELLING_IN_PROSE or stretch.score < _LEAST_SURE:
        return False
    if len(stretch.words) >= _PROSE and _measure_unknown(stretch.words) >= _UNKNOWN_IN_STRETCH:
        return True
    distinct = frozenset(sentence)
    return len(distinct) >= _PROSE and _measure_unknown(distinct) >= _UNKNOWN_IN_SENTENCE


def _is_fragment(stretch: Stretch, words_of_sentence: int, telling: int) -> bool:
    """Return whether a few words in another language are most of their sentence."""
    return (
        stretch.score >= _LEAST_SURE
        and (telling >= _TELLING_IN_SHORT_FRAGMENT or len(stretch.words) > _SHORT_FRAGMENT)
        and stretch.end - stretch.first >= _PART_OF_SENTENCE * words_of_sentence
        and _measure_unknown(stretch.words) >= _UNKNOWN_IN_FRAGMENT
    )


def _count_telling(text: str, words: _Words, stretch: Stretch) -> int:
    """Return the number of telling words: in no list of English or Spanish words, and in small letters.

    Names and lists of names have none. In a text without small letters, any letters count.
    """
    has_small_letters = not text.isupper()
    telling = {
        words.words[position]
        for position in range(stretch.first, stretch.end)
        if words.scores[position] > 0
        and (len(words.words[position]) >= _SHORTEST_TELLING or not words.words[position].isascii())
        and not (has_small_letters and text[words.places[position][0]].isupper())
    }
    return sum(not _is_known(word) for word in telling)


def _find_capitalised(text: str, words: _Words, sentence: slice) -> Iterator[Span]:
    """Yield the capitalised words of a sentence that no list has, as the strict level does."""
    for word, (start, end) in zip(words.words[sentence], words.places[sentence], strict=True):
        if text[start].isupper() and not _is_known(word):
            yield Span(start, end, "UNKNOWN_WORD")


def _measure_unknown(words: Collection[str]) -> float:
    """Return the share of the words that no list of English or Spanish words has."""
    return sum(not _is_known(word) for word in words) / len(words)


def _is_known(word: str) -> bool:
    return is_safe(word) or word in _read_spanish_words()


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


def _find_sentences(sentences: Sequence[_Sentence], stretch: Stretch) -> tuple[int, int]:
    """Return the first and the last of the sentences that a stretch overlaps."""
    ends = [sentence.end for sentence in sentences]
    return bisect_right(ends, stretch.first), bisect_right(ends, stretch.end - 1)


def _extend(
    sentences: Sequence[_Sentence], words: _Words, first: int, last: int
) -> tuple[int, int]:
    """Add the sentences before and after that are not English or Spanish for sure, such as "Müller, Hans."."""
    while first > 0 and not _is_ours(sentences[first - 1], words):
        first -= 1
    while last + 1 < len(sentences) and not _is_ours(sentences[last + 1], words):
        last += 1
    return first, last


def _is_ours(sentence: _Sentence, words: _Words) -> bool:
    return sum(words.scores[sentence.first : sentence.end]) <= _OURS
