"""Decide whether to show a name in HELM's files that no catalogue lists, such as `ward_accuracy`.

Every word of the name must be known: it is part of a name in the catalogues, or a common word that is rarely a person's
name. An unknown word is therefore refused even if it is joined to known words. A trained model would not help, because
a name is not a sentence.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from agent.exchange.helm.redaction.names import list_model_words, separate_words
from agent.exchange.helm.redaction.vouched import vouched_terms
from agent.redaction.engine import Engine
from agent.redaction.policy.policy import load_policy
from agent.redaction.recognizers import everyday, family_names, given_names, is_common

_POLICY = "hipaa_safe_harbor"
_MAX_DIGITS: Final = 3  # `top_100` is unlikely to contain a record number, but `w84736` may be one
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class _PersonNames:
    """Common names of people, in lower case."""

    given: frozenset[str]
    family: frozenset[str]
    no_words: frozenset[str]  # given and family names that are not everyday words

    def are_in(self, words: Sequence[str]) -> bool:
        """Return whether the words name a person: by a word that is only a name, or by two names (`rose_young`)."""
        if not self.no_words.isdisjoint(words):
            return True
        for position, word in enumerate(words):
            beside = [*words[:position], *words[position + 1 :]]
            if word in self.given and not self.family.isdisjoint(beside):
                return True
        return False


def open_name_filter(language: str | None = None) -> Callable[[str], bool]:
    """Return a function that decides whether a name may be shown.

    Args:
        language: the language whose names of people are known, in addition to English.
    """
    policy = load_policy(_POLICY, language=language or "en")
    languages = {"en", *policy.read_languages}
    entities = tuple(
        entity for entity in policy.entities if entity != "ORGANIZATION"
    )  # only models detect organisations
    engine = Engine(policy.model_copy(update={"models": (), "entities": entities}))
    harmless = everyday(languages)
    given = given_names(languages)
    family = family_names(languages)
    people = _PersonNames(given, family, no_words=(given | family) - harmless)
    known = (_words_of_terms() | list_model_words() | harmless) - people.no_words
    is_common_word = is_common(("en",))

    def is_known(word: str) -> bool:
        if len(word) == 1 or word in known:
            return True
        return is_common_word is not None and is_common_word(word)

    def may_stay(name: str) -> bool:
        words = _split_lowered(name)
        if sum(map(str.isdigit, name)) > _MAX_DIGITS:
            return False
        if people.are_in(words) or not all(map(is_known, words)):
            return False
        separated = separate_words(name)
        return all(engine.redact(text) == text for text in {name, separated, separated.title()})

    return may_stay


def _words_of_terms() -> set[str]:
    words: set[str] = set()
    for term in vouched_terms():
        words.update(_split_lowered(term))
    return words


def _split_lowered(name: str) -> list[str]:
    """Return the words of a name in lower case, without digits."""
    return [word.casefold() for word in _WORD.findall(separate_words(name))]
