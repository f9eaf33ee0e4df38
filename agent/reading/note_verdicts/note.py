"""The numbered sentences of a note, and which of them a text repeats or corrects. Pure."""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from functools import lru_cache

Sentences = Mapping[int, str]
"""The sentences of a note by their number; empty if they are not known."""

_NOTE_LINE = re.compile(r"(\d{1,4}) (.*)")
_WORD = re.compile(r"\w+(?:[.']\w+)?")
_MIN_SIMILARITY = 0.6
_MIN_PART = 4  # words of a quotation of a part of a sentence
_MIN_SHARE = 0.7  # of these words, that the sentence has
_MAX_OTHER_SHARE = 0.4  # of these words, that another sentence may have
_MIN_PHRASE = 5  # characters
_MIN_LEAD = 0.15  # by which the most similar sentence must exceed the second


def look_up_sentence(text: str, sentences: Sentences) -> int | None:
    """Return the number of the sentence that a text repeats or corrects; None if none is clearly the most similar."""
    words = split_words(text)
    if len(words) < 2:
        return None
    ranked = sorted(
        (
            (measure_similarity(words, split_words(sentence)), -number)
            for number, sentence in sentences.items()
        ),
        reverse=True,
    )
    if not ranked or ranked[0][0] < _MIN_SIMILARITY:
        return None
    if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < _MIN_LEAD:
        return None
    number = -ranked[0][1]
    return number if _is_same_order(text, sentences[number]) else None


def look_up_part(text: str, sentences: Sentences) -> int | None:
    """Return the number of the only sentence that has most words of a text, in their order; None if it is unclear."""
    words = split_words(text)
    if len(words) < _MIN_PART:
        return None
    shares = {
        number: len(words & split_words(sentence)) / len(words)
        for number, sentence in sentences.items()
    }
    best = max(shares, key=shares.__getitem__, default=None)
    if best is None or shares.pop(best) < _MIN_SHARE:
        return None
    if max(shares.values(), default=0) > _MAX_OTHER_SHARE:
        return None
    in_text, in_sentence = _WORD.findall(text.lower()), _WORD.findall(sentences[best].lower())
    matcher = SequenceMatcher(None, in_text, in_sentence, autojunk=False)
    in_order = sum(block.size for block in matcher.get_matching_blocks())
    return best if in_order >= _MIN_SHARE * len(in_text) else None


def find_phrase(phrase: str, sentences: Sentences) -> int | None:
    """Return the number of the only sentence that contains a phrase of two words or one long word; else None."""
    words = " ".join(_WORD.findall(phrase.lower()))
    if len(words) < _MIN_PHRASE:
        return None
    found = [
        number
        for number, sentence in sentences.items()
        if f" {words} " in f" {' '.join(_WORD.findall(sentence.lower()))} "
    ]
    return found[0] if len(found) == 1 else None


def _is_same_order(a: str, b: str) -> bool:
    """Return whether two texts have most of their words in the same order."""
    words_of_a, words_of_b = _WORD.findall(a.lower()), _WORD.findall(b.lower())
    matcher = SequenceMatcher(None, words_of_a, words_of_b, autojunk=False)
    return matcher.ratio() >= _MIN_SIMILARITY


# The sentences of a note are split again for every passage that is compared with them.
@lru_cache(512)
def split_words(text: str) -> frozenset[str]:
    """Return the words and numbers of a text, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


def measure_similarity(a: frozenset[str], b: frozenset[str]) -> float:
    """Return the share of words that two texts have in common, from 0 to 1."""
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


def list_sentences(prompt: str) -> dict[int, str]:
    """Return the numbered sentences of the last note in a prompt, or nothing if it has none."""
    sentences: dict[int, str] = {}
    for line in prompt.split("\n"):
        match = _NOTE_LINE.fullmatch(line)
        if match is None:
            continue
        number = int(match[1])
        if number == 0:
            sentences = {}
        if number == len(sentences):
            sentences[number] = match[2]
    return sentences
