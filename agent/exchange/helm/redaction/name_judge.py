"""Whether a name in HELM's files may stay that no catalogue lists: `ward_accuracy` says nothing of a person.

Every word of it must be known: one of the names in the catalogues, or a word of the language that is no usual name.
So a name that nobody has heard of does not pass, whatever it is joined to. A trained model is no judge here: a name
is no sentence.
"""

import re
from collections.abc import Callable
from typing import Final

from agent.exchange.helm.redaction.names import spaced, words_of_models
from agent.exchange.helm.redaction.vouched import vouched_terms
from agent.redaction.engine import Engine
from agent.redaction.policy.policy import load_policy
from agent.redaction.recognizers import everyday, family_names, given_names, is_common

_POLICY = "hipaa_safe_harbor"
_MOST_DIGITS: Final = 3  # `top_100` is no number of a record, `w84736` is one
_WORD = re.compile(r"[^\W\d_]+")


def open_name_judge(language: str | None = None) -> Callable[[str], bool]:
    """Return what says of a name whether it may stay; names are of people who speak `language` (None: English)."""
    policy = load_policy(_POLICY, language=language)
    entities = tuple(entity for entity in policy.entities if entity != "ORGANIZATION")  # that models alone find
    engine = Engine(policy.model_copy(update={"models": (), "entities": entities}))
    english = load_policy(_POLICY)
    harmless = everyday(policy) | everyday(english)
    given, family = (of(policy) | of(english) for of in (given_names, family_names))
    people = (given | family) - harmless
    terms = {word for term in vouched_terms() for word in _words(term)} | words_of_models()
    known = (terms | harmless) - people
    common = is_common(english)

    def may_stay(name: str) -> bool:
        words = _words(name)
        if sum(map(str.isdigit, name)) > _MOST_DIGITS or not people.isdisjoint(words):
            return False
        if any(word in given and not family.isdisjoint(words[:at] + words[at + 1 :]) for at, word in enumerate(words)):
            return False  # two words of every day that make a person: `rose_young`
        if not all(len(word) == 1 or word in known or (common and common(word)) for word in words):
            return False
        apart = spaced(name)
        return all(engine.redact(text) == text for text in {name, apart, apart.title()})

    return may_stay


def _words(name: str) -> list[str]:
    """Return the words of a name in small letters, without digits."""
    return [word.casefold() for word in _WORD.findall(spaced(name))]
