"""The languages that can be redacted, and the construction of all recognisers that a policy requires."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from presidio_analyzer import EntityRecognizer

from agent.errors import RedactionError
from agent.redaction.deadline import Deadline
from agent.redaction.models.model import Harmless, ModelRecognizer, shipped_model
from agent.redaction.models.network import read_network
from agent.redaction.policy.policy import OtherModel, RedactionPolicy
from agent.redaction.policy.site_patterns import Phrases, find_pattern
from agent.redaction.presidio import FoundByFunction, presidio_recognizers
from agent.redaction.rules import en as english
from agent.redaction.rules import es as spanish
from agent.redaction.rules.en import names as english_names
from agent.redaction.rules.en.unknown import is_safe
from agent.redaction.rules.es import word_lists

_LANGUAGES: dict[str, ModuleType] = {"en": english, "es": spanish}
_WORDS: dict[str, Callable[[str], frozenset[str]]] = {
    "en": english_names.words,
    "es": word_lists.words,
}
# Checks by which harmless detections of a model are dropped, for languages that have such checks.
_HARMLESS: dict[str, tuple[Harmless, ...]] = {"es": (spanish.is_harmless,)}


def build_recognizers(policy: RedactionPolicy, deadline: Deadline) -> list[EntityRecognizer]:
    """Build the recognisers for all languages of `policy`, and those that the policy itself defines."""
    return (
        [
            recognizer
            for language in policy.languages
            for recognizer in (
                *_LANGUAGES[language].recognizers(deadline),
                *presidio_recognizers(language),
                *_open_models(policy, language, deadline),
            )
        ]
        + [
            # Registered for one language only, because every text is analysed in every language.
            FoundByFunction(policy.languages[0], entity, f"Own {entity}", find, deadline)
            for entity, find in [
                *((own.entity, find_pattern(own.pattern)) for own in policy.recognizers),
                *((entity, Phrases(entries).find) for entity, entries in policy.deny.items()),
            ]
        ]
        + [_open_other_model(model, policy, deadline) for model in policy.other_models]
    )


def _open_models(
    policy: RedactionPolicy, language: str, deadline: Deadline
) -> list[EntityRecognizer]:
    folder = shipped_model(language) if "shipped" in policy.models else None
    return (
        []
        if folder is None
        else [ModelRecognizer(language, folder, deadline, *_HARMLESS.get(language, ()))]
    )


def _open_other_model(
    model: OtherModel, policy: RedactionPolicy, deadline: Deadline
) -> EntityRecognizer:
    """Open a model that is not shipped with the package, registered for one language as above."""
    folder = Path(model.path)
    if model.kind != "intramural":
        from agent.redaction.models.other import open_model

        return open_model(model.kind, folder, model.labels, policy.languages, deadline)
    language = read_network(folder).meta.language
    if language not in policy.languages:
        raise RedactionError(
            f"model {folder.name}: it was trained for texts in {language}, which policy {policy.name} does not list",
            "Remove the model from `models`, or add its language to `languages`.",
        )
    return ModelRecognizer(language, folder, deadline)


def everyday(policy: RedactionPolicy) -> frozenset[str]:
    """Return the lower-case words that do not identify a person on their own."""
    return frozenset().union(*(_LANGUAGES[language].everyday() for language in policy.languages))


def is_common(policy: RedactionPolicy) -> Callable[[str], bool] | None:
    """Return a function that decides whether a lower-case word is an ordinary word and not a common name.

    Return None if the policy does not include English: no Spanish word list is consulted. The English word list takes
    8 MB and is read when the function is first called.
    """
    if "en" not in policy.languages:
        return None
    names = given_names(policy) | family_names(policy)
    return lambda word: word not in names and is_safe(word)


def given_names(policy: RedactionPolicy) -> frozenset[str]:
    """Return the common given names of the policy's languages, in lower case."""
    return frozenset().union(*(_WORDS[language]("given_names") for language in policy.languages))


def family_names(policy: RedactionPolicy) -> frozenset[str]:
    """Return the common family names of the policy's languages, in lower case."""
    return frozenset().union(*(_WORDS[language]("surnames") for language in policy.languages))
