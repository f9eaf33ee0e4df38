"""Whether a name in HELM's files may stay that no catalogue lists: `ward_accuracy` says nothing of a person.

Every word of it must be known: one of the names in the catalogues, or a word of the language that is no usual name.
So an unknown name does not pass, also where it is joined to known words. A trained model is of no use here: a name is
no sentence.
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
_MAX_DIGITS: Final = 3  # `top_100` is no number of a record, `w84736` is one
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class _PersonNames:
    """Usual names of people, in small letters."""

    given: frozenset[str]
    family: frozenset[str]
    no_words: frozenset[str]  # those of both that are no words of every day

    def are_in(self, words: Sequence[str]) -> bool:
        """Whether words name a person: one that can only be a name, or two of every day, as in `rose_young`."""
        if not self.no_words.isdisjoint(words):
            return True
        for position, word in enumerate(words):
            beside = [*words[:position], *words[position + 1 :]]
            if word in self.given and not self.family.isdisjoint(beside):
                return True
        return False


def open_name_filter(language: str | None = None) -> Callable[[str], bool]:
    """Return the function that decides whether a name may stay.

    Args:
        language: of the people whose names it knows, beside English.
    """
    policy = load_policy(_POLICY, language=language)
    english = load_policy(_POLICY)
    entities = tuple(
        entity for entity in policy.entities if entity != "ORGANIZATION"
    )  # that models alone find
    engine = Engine(policy.model_copy(update={"models": (), "entities": entities}))
    harmless = everyday(policy) | everyday(english)
    given = given_names(policy) | given_names(english)
    family = family_names(policy) | family_names(english)
    people = _PersonNames(given, family, no_words=(given | family) - harmless)
    known = (_words_of_terms() | list_model_words() | harmless) - people.no_words
    is_common_word = is_common(english)

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
    """Return the words of a name in small letters, without digits."""
    return [word.casefold() for word in _WORD.findall(separate_words(name))]
