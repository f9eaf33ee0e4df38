"""Whether a name in HELM's files may stay: `quasi_exact_match` says nothing of a person, `john_smith` does.

Judged by rules and lists of people's names. A trained model is no judge here: a name is no sentence.
"""

from collections.abc import Callable

from agent.exchange.helm_redaction.names import spaced
from agent.redaction.engine import Engine
from agent.redaction.languages import everyday, family_names, given_names
from agent.redaction.policy import load_policy

_POLICY = "hipaa_safe_harbor"


def open_name_judge(language: str | None = None) -> Callable[[str], bool]:
    """Return what says of a name whether it may stay; names are of people who speak `language` (None: English)."""
    policy = load_policy(_POLICY, language=language)
    entities = tuple(entity for entity in policy.entities if entity != "ORGANIZATION")  # that models alone find
    engine = Engine(policy.model_copy(update={"models": (), "entities": entities}))
    people = (given_names(policy) | family_names(policy)) - everyday(policy)

    def may_stay(name: str) -> bool:
        words = spaced(name)
        if not people.isdisjoint(words.casefold().split()):
            return False
        return all(engine.redact(text) == text for text in {name, words, words.title()})

    return may_stay
