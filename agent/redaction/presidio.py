"""How functions become Presidio recognisers, and the recognisers of Presidio's own that work without a model."""

import re
from collections.abc import Callable, Iterable

from presidio_analyzer import EntityRecognizer, PatternRecognizer, RecognizerResult
from presidio_analyzer.context_aware_enhancers import LemmaContextAwareEnhancer
from presidio_analyzer.nlp_engine import NlpArtifacts
from presidio_analyzer.predefined_recognizers import (
    CreditCardRecognizer,
    CryptoRecognizer,
    EmailRecognizer,
    IbanRecognizer,
    IpRecognizer,
    UsItinRecognizer,
    UsMbiRecognizer,
    UsNpiRecognizer,
    UsSsnRecognizer,
)

from agent.redaction.deadline import Deadline
from agent.redaction.rules.rulebook import SURE


class UnboundEmailRecognizer(EmailRecognizer):
    """Presidio's e-mail recogniser without its check of the domain.

    The check would fetch the public suffix list over the network and cache it on disk, and would let through addresses
    of domains inside the hospital.
    """

    def validate_result(self, pattern_text: str) -> bool | None:
        """Accept every match."""
        del pattern_text
        return True


# Presidio's name for what it finds -> ours.
PRESIDIO_ENTITIES: dict[str, str] = {
    "CREDIT_CARD": "ACCOUNT",
    "CRYPTO": "ACCOUNT",
    "IBAN_CODE": "ACCOUNT",
    "EMAIL_ADDRESS": "EMAIL",
    "IP_ADDRESS": "IP",
    "US_ITIN": "SSN",
    "US_SSN": "SSN",
    "US_MBI": "PLAN",
    "US_NPI": "LICENSE",
}


class OnlyWhere(EntityRecognizer):
    """A recogniser that is asked only about texts in which a plain pattern stands that all it finds has."""

    def __init__(self, recognizer: PatternRecognizer, needed: str) -> None:
        super().__init__(
            supported_entities=recognizer.supported_entities,
            name=recognizer.name,  # type: ignore[has-type]
            supported_language=recognizer.supported_language,
            context=recognizer.context,
        )
        self._recognizer = recognizer
        self._needed = re.compile(needed)

    def load(self) -> None:
        """Do nothing: the recogniser comes with the object."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return what the recogniser finds in `text`."""
        if self._needed.search(text) is None:
            return []
        results: list[RecognizerResult] = self._recognizer.analyze(text, entities, nlp_artifacts)
        for result in results:  # the name by which the context of a finding is looked up
            result.recognition_metadata[RecognizerResult.RECOGNIZER_IDENTIFIER_KEY] = self.id
        return results


class ContextOfDoubt(LemmaContextAwareEnhancer):
    """Presidio's search for words around a finding that speak for it, made only for findings below the threshold.

    It needs every word of the text, and copies all findings: most texts have none that a word could still lift.
    """

    def __init__(self, threshold: float) -> None:
        super().__init__()
        self._threshold = threshold

    def enhance_using_context(
        self,
        text: str,
        raw_results: list[RecognizerResult],
        nlp_artifacts: NlpArtifacts,
        recognizers: list[EntityRecognizer],
        context: list[str] | None = None,
    ) -> list[RecognizerResult]:
        """Return the findings, those below the threshold with what their context adds."""
        doubtful = [result for result in raw_results if result.score < self._threshold]
        if not doubtful:
            return raw_results
        sure = [result for result in raw_results if result.score >= self._threshold]
        lifted: list[RecognizerResult] = super().enhance_using_context(
            text, doubtful, nlp_artifacts, recognizers, context
        )
        return sure + lifted


class FoundByFunction(EntityRecognizer):
    """One entity, found by a function that yields the places of it in a text."""

    def __init__(
        self,
        language: str,
        entity: str,
        name: str,
        find: Callable[[str, Deadline], Iterable[tuple[int, int]]],
        deadline: Deadline,
    ) -> None:
        super().__init__(supported_entities=[entity], name=name, supported_language=language)
        self._find = find
        self._deadline = deadline

    def load(self) -> None:
        """Do nothing: what the function needs comes with it."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return what the function finds in `text`.

        Raises:
            TimeoutError: the deadline passed.
        """
        del entities, nlp_artifacts
        entity = self.supported_entities[0]
        return [
            RecognizerResult(entity, start, end, SURE)
            for start, end in self._find(text, self._deadline)
        ]


def presidio_recognizers(language: str) -> list[EntityRecognizer]:
    """Build Presidio's own recognisers that work without a model: checksums, numbers of other countries."""
    nine_digits = r"\d(?:[ .-]?\d){8}"
    needed: list[tuple[PatternRecognizer, str]] = [
        (CreditCardRecognizer(supported_language=language), nine_digits),
        (CryptoRecognizer(supported_language=language), r"(?i)(?:bc1|[13])[a-z0-9]{25}"),
        (UnboundEmailRecognizer(supported_language=language), "@"),
        (
            IbanRecognizer(supported_language=language),
            r"(?i)[a-z]{2}[0-9]{2}[ -]?[a-z0-9]{4}[ -]?[a-z0-9]{4}",
        ),
        (IpRecognizer(supported_language=language), r"\d\.\d{1,3}\.\d|::|(?::[0-9A-Fa-f]{1,4}){2}"),
        (UsItinRecognizer(supported_language=language), nine_digits),
        (
            UsMbiRecognizer(supported_language=language),
            r"(?i)[1-9][a-z][a-z0-9]\d-?[a-z][a-z0-9]\d",
        ),
        (UsNpiRecognizer(supported_language=language), nine_digits),
        (UsSsnRecognizer(supported_language=language), nine_digits),
    ]
    return [OnlyWhere(recognizer, pattern) for recognizer, pattern in needed]
