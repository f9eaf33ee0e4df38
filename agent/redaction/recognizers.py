"""The languages that can be redacted, and the construction of all recognisers that a policy requires."""

import copy
from collections.abc import Callable, Collection
from pathlib import Path
from types import ModuleType

from presidio_analyzer import EntityRecognizer

from agent.errors import RedactionError
from agent.redaction.deadline import Deadline
from agent.redaction.models.model import (
    Harmless,
    ModelRecognizer,
    Unlisted,
    keep_every_detection,
    list_every_word,
    shipped_model,
)
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
_HARMLESS: dict[str, Harmless] = {"es": spanish.is_harmless}
# Tests for words in small letters that may be names because no list has them, for languages with such lists.
_UNLISTED: dict[str, Unlisted] = {"en": english.is_unlisted}


def build_recognizers(
    policy: RedactionPolicy, language: str, deadline: Deadline
) -> list[EntityRecognizer]:
    """Build the recognisers for one language of `policy`."""
    return [
        *_LANGUAGES[language].recognizers(deadline),
        *presidio_recognizers(language),
        *_open_models(policy, language, deadline),
    ]


def build_own_recognizers(policy: RedactionPolicy, deadline: Deadline) -> list[EntityRecognizer]:
    """Build the recognisers that `policy` itself defines, so that each text is analysed by all of them.

    They are registered for the first language only if every text is analysed in every language, else for each language.
    """
    finders = [
        *((own.entity, find_pattern(own.pattern)) for own in policy.recognizers),
        *((entity, Phrases(entries).find) for entity, entries in policy.deny.items()),
    ]
    first, *others = policy.read_languages
    recognizers: list[EntityRecognizer] = [
        FoundByFunction(first, entity, f"Own {entity}", find, deadline) for entity, find in finders
    ]
    for model in policy.other_models:
        recognizers.append(_open_other_model(model, policy, deadline))
    if not policy.chooses_language:
        return recognizers
    copies = [_copy_for(recognizer, language) for language in others for recognizer in recognizers]
    return [*recognizers, *(recognizer for recognizer in copies if recognizer is not None)]


def _copy_for(recognizer: EntityRecognizer, language: str) -> EntityRecognizer | None:
    """Return the recogniser registered for a further language; None for a model of one language."""
    if isinstance(recognizer, ModelRecognizer):
        return None
    recognizer = copy.copy(recognizer)  # shares the weights of a model
    recognizer.supported_language = language
    return recognizer


def _open_models(
    policy: RedactionPolicy, language: str, deadline: Deadline
) -> list[EntityRecognizer]:
    folder = shipped_model(language) if "shipped" in policy.models else None
    if folder is None:
        return []
    return [
        ModelRecognizer(
            language,
            folder,
            deadline,
            policy.model_odds,
            _HARMLESS.get(language, keep_every_detection),
            _UNLISTED.get(language, list_every_word),
        )
    ]


def _open_other_model(
    model: OtherModel, policy: RedactionPolicy, deadline: Deadline
) -> EntityRecognizer:
    """Open a model that is not shipped with the package, registered for one language as above."""
    folder = Path(model.path)
    if model.kind != "intramural":
        from agent.redaction.models.other import open_model

        return open_model(
            model.kind, folder, model.labels, policy.read_languages, deadline, policy.model_odds
        )
    language = read_network(folder).meta.language
    if language not in policy.read_languages:
        raise RedactionError(
            f"model {folder.name}: it was trained for texts in {language}, which policy {policy.name} does not list",
            "Remove the model from `models`, or add its language to `languages`.",
        )
    return ModelRecognizer(language, folder, deadline, policy.model_odds)


def everyday(languages: Collection[str]) -> frozenset[str]:
    """Return the lower-case words of the languages that do not identify a person on their own."""
    return frozenset().union(*(_LANGUAGES[language].everyday() for language in languages))


def is_common(languages: Collection[str]) -> Callable[[str], bool] | None:
    """Return a function that decides whether a lower-case word is an ordinary word and not a common name.

    Return None if English is not among the languages: no Spanish word list is consulted. The English word list takes
    8 MB and is read when the function is first called.
    """
    if "en" not in languages:
        return None
    names = given_names(languages) | family_names(languages)
    return lambda word: word not in names and is_safe(word)


def given_names(languages: Collection[str]) -> frozenset[str]:
    """Return the common given names of the languages, in lower case."""
    return frozenset().union(*(_WORDS[language]("given_names") for language in languages))


def family_names(languages: Collection[str]) -> frozenset[str]:
    """Return the common family names of the languages, in lower case."""
    return frozenset().union(*(_WORDS[language]("surnames") for language in languages))
