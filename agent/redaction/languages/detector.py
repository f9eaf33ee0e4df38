"""Choose the languages in which the texts of a record are searched."""

import re
from collections.abc import Sequence

from agent.redaction.languages.stretches import find_stretches
from agent.redaction.languages.words import SCALE, open_word_scores, split_words
from agent.redaction.policy.policy import Language
from agent.redaction.rules.word_lists import read_words

# The lowest scores of a stretch: of the text's main language, and of another one, which names and units may resemble.
_EVIDENT = 4 * SCALE
_EVIDENT_BESIDE = 9 * SCALE
_WORDS_BESIDE = 4  # minimum number of distinct words of a stretch in another language
_LIKELY = round(1.5 * SCALE)  # the score of a short text that is probably Spanish
# The lowest number of names for each word in small letters, other than particles, of an address: "apto", "piso".
_NAMES_PER_WORD = 3
_PARTICLES = frozenset(
    ["a", "da", "das", "de", "del", "do", "dos", "e", "el", "la", "las", "los", "y"]
)
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH_PLACE = re.compile(
    r"\b(?!(?:Al|Del|El|En|Este|Nuestro|Su|Un)\b)[A-Z][a-z]+ Hospital\b(?! (?:de|del|[A-Z]))|, [A-Z]{2} \d{5}\b"
)


def choose_languages(texts: Sequence[str]) -> list[tuple[Language, ...]]:
    """Return the languages in which each text of a record is searched, English before Spanish.

    A text that tells no language is searched in the languages of the others; if none tells, in English.
    """
    evident = [find_evident(text) for text in texts]
    others = _order({language for languages in evident for language in languages}) or ("en",)
    return [languages or others for languages in evident]


def find_evident(text: str) -> tuple[Language, ...]:
    """Return the languages in which parts of a text are written for sure."""
    words = split_words(text)
    known = open_word_scores()
    scores = [known[word][1] for word in words]
    total = sum(scores)
    languages: set[Language] = set()
    if _has_stretch(words, scores, is_main=total > 0):
        languages.add("es")
    if _has_stretch(words, [-score for score in scores], is_main=total <= 0):
        languages.add("en")
    is_likely = not languages and total >= _LIKELY
    if is_likely or (
        languages == {"es"} and (_is_of_names(text) or _announces_in_english(text, words))
    ):
        return ("en", "es")
    return _order(languages)


def _announces_in_english(text: str, words: Sequence[str]) -> bool:
    """Return whether a Spanish text has an English word before an identifier, or an English place.

    Such are "el June 5", "su boyfriend Tyler", "Mercy Hospital" and "CO 80302".
    """
    if _ENGLISH_PLACE.search(text):
        return True
    return not read_words("es", "english_words_before_identifiers").isdisjoint(words)


def _is_of_names(text: str) -> bool:
    """Return whether a text is a name or an address, which Spanish shares with Portugal, Brazil and English places.

    Sentences in which many people and places are named are not: their verbs and nouns are in small letters. Words
    wholly in capitals do not count, because whole notes are written so.
    """
    words = _WORD.findall(text)
    names = [word for word in words if word.istitle()]
    ordinary = [word for word in words if word[0].islower() and word not in _PARTICLES]
    return bool(names) and len(names) >= _NAMES_PER_WORD * len(ordinary)


def _has_stretch(words: Sequence[str], scores: Sequence[int], *, is_main: bool) -> bool:
    """Return whether a part of a text is in the language of which the scores are high."""
    if is_main:
        return any(find_stretches(words, scores, _EVIDENT))
    return any(
        len(stretch.words) >= _WORDS_BESIDE
        for stretch in find_stretches(words, scores, _EVIDENT_BESIDE)
    )


def _order(languages: set[Language]) -> tuple[Language, ...]:
    return tuple(sorted(languages))
