"""Choose the languages in which the texts of a record are searched."""

from collections.abc import Sequence

from agent.redaction.languages.stretches import find_stretches
from agent.redaction.languages.words import SCALE, open_word_scores, split_words
from agent.redaction.policy.policy import Language

_EVIDENT = 4 * SCALE  # the score of a stretch that is in a language for sure
_LIKELY = round(1.5 * SCALE)  # the score of a short text that is probably Spanish


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
    languages: set[Language] = set()
    if any(find_stretches(words, scores, _EVIDENT)):
        languages.add("es")
    opposite = [-score for score in scores]
    if any(find_stretches(words, opposite, _EVIDENT)):
        languages.add("en")
    if not languages and sum(scores) >= _LIKELY:
        return ("en", "es")  # too short to be sure that it is Spanish alone
    return _order(languages)


def _order(languages: set[Language]) -> tuple[Language, ...]:
    return tuple(sorted(languages))
