"""The languages that can be redacted, and every recogniser that a policy calls for."""

from types import ModuleType

from presidio_analyzer import EntityRecognizer

from agent.redaction import english, spanish
from agent.redaction.deadline import Deadline
from agent.redaction.policy import RedactionPolicy
from agent.redaction.recognizers import presidio_recognizers

_LANGUAGES: dict[str, ModuleType] = {"en": english, "es": spanish}


def build_recognizers(policy: RedactionPolicy, deadline: Deadline) -> list[EntityRecognizer]:
    """Build the recognisers of all languages of `policy`."""
    return [
        recognizer
        for language in policy.languages
        for recognizer in (*_LANGUAGES[language].recognizers(deadline), *presidio_recognizers(language))
    ]


def everyday(policy: RedactionPolicy) -> frozenset[str]:
    """Words, in lower case, that identify nobody when they stand alone."""
    return frozenset().union(*(_LANGUAGES[language].everyday() for language in policy.languages))
