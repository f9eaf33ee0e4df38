"""The languages that can be redacted, and every recogniser that a policy calls for."""

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
# What a model's findings are checked by, where the language has such a check.
_HARMLESS: dict[str, tuple[Harmless, ...]] = {"es": (spanish.is_harmless,)}


def build_recognizers(policy: RedactionPolicy, deadline: Deadline) -> list[EntityRecognizer]:
    """Build the recognisers of all languages of `policy`, and those of its own."""
    return (
        [
            recognizer
            for language in policy.languages
            for recognizer in (
                *_LANGUAGES[language].recognizers(deadline),
                *presidio_recognizers(language),
                *_models(policy, language, deadline),
            )
        ]
        + [
            # In one language, because every text is read in each.
            FoundByFunction(policy.languages[0], entity, f"Own {entity}", find, deadline)
            for entity, find in [
                *((own.entity, find_pattern(own.pattern)) for own in policy.recognizers),
                *((entity, Phrases(entries).find) for entity, entries in policy.deny.items()),
            ]
        ]
        + [_other(model, policy, deadline) for model in policy.other_models]
    )


def _models(policy: RedactionPolicy, language: str, deadline: Deadline) -> list[EntityRecognizer]:
    folder = shipped_model(language) if "shipped" in policy.models else None
    return (
        []
        if folder is None
        else [ModelRecognizer(language, folder, deadline, *_HARMLESS.get(language, ()))]
    )


def _other(model: OtherModel, policy: RedactionPolicy, deadline: Deadline) -> EntityRecognizer:
    """Open a model that is not the package's own; in one language, as above."""
    folder = Path(model.path)
    if model.kind != "intramural":
        from agent.redaction.models.other import open_model

        return open_model(model.kind, folder, model.labels, policy.languages, deadline)
    language = read_network(folder).meta.language
    if language not in policy.languages:
        raise RedactionError(
            f"model {folder.name}: it was trained for texts in {language}, which policy {policy.name} does not name",
            "Take it out of `models`, or add its language.",
        )
    return ModelRecognizer(language, folder, deadline)


def everyday(policy: RedactionPolicy) -> frozenset[str]:
    """Words, in lower case, that identify nobody when they stand alone."""
    return frozenset().union(*(_LANGUAGES[language].everyday() for language in policy.languages))


def is_common(policy: RedactionPolicy) -> Callable[[str], bool] | None:
    """Return what tells whether a word in small letters is of the policy's languages, and no usual name.

    None without English: no list of Spanish is asked. That of English is read when first asked for, and takes 8 MB.
    """
    if "en" not in policy.languages:
        return None
    names = given_names(policy) | family_names(policy)
    return lambda word: word not in names and is_safe(word)


def given_names(policy: RedactionPolicy) -> frozenset[str]:
    """Given names that are usual in the languages of `policy`, in lower case."""
    return frozenset().union(*(_WORDS[language]("given_names") for language in policy.languages))


def family_names(policy: RedactionPolicy) -> frozenset[str]:
    """Family names that are usual in the languages of `policy`, in lower case."""
    return frozenset().union(*(_WORDS[language]("surnames") for language in policy.languages))
