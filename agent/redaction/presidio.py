"""Adapters that turn functions into Presidio recognisers, and Presidio's own recognisers that need no model."""

import re
import time
from collections.abc import Callable, Iterable
from typing import Any

import presidio_analyzer.pattern_recognizer
from presidio_analyzer import (
    AnalyzerEngine,
    EntityRecognizer,
    PatternRecognizer,
    RecognizerRegistry,
    RecognizerResult,
)
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

# Presidio skips a pattern, without an error, that takes longer than this many seconds of the process's processor time.
_PATTERN_SECONDS = 5
_pattern_recognizer: Any = (
    presidio_analyzer.pattern_recognizer
)  # the constant is not declared as mutable
_pattern_recognizer.REGEX_TIMEOUT_SECONDS = _PATTERN_SECONDS


class UnboundEmailRecognizer(EmailRecognizer):
    """Presidio's e-mail recogniser without its check of the domain.

    The check would fetch the public suffix list over the network and cache it on disk, and it would miss addresses in
    a hospital's internal domains.
    """

    def validate_result(self, pattern_text: str) -> bool | None:
        """Accept every match."""
        del pattern_text
        return True


# Our entity for each of Presidio's entities.
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
    """A recogniser that runs only on texts that match a simple pattern, which every value it detects also matches."""

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
        """Do nothing: the wrapped recogniser is already loaded."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return the recogniser's detections in `text`.

        Raises:
            TimeoutError: a pattern may have been skipped because it took too long.
        """
        if self._needed.search(text) is None:
            return []
        began = time.process_time()
        results: list[RecognizerResult] = self._recognizer.analyze(text, entities, nlp_artifacts)
        if time.process_time() - began >= _PATTERN_SECONDS:
            raise TimeoutError
        for result in results:  # Presidio looks up the context words by this name
            result.recognition_metadata[RecognizerResult.RECOGNIZER_IDENTIFIER_KEY] = self.id
        return results


class KnownRecognizers(RecognizerRegistry):
    """Presidio's registry, which remembers the recognisers of a language, as searching them takes long."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known: dict[tuple[object, ...], list[EntityRecognizer]] = {}

    def get_recognizers(
        self,
        language: str,
        entities: list[str] | None = None,
        all_fields: bool = False,
        ad_hoc_recognizers: list[EntityRecognizer] | None = None,
    ) -> list[EntityRecognizer]:
        """Return the recognisers of `language` that detect one of `entities`."""
        name = (language, *(entities or ()), all_fields, *map(id, self.recognizers))
        if ad_hoc_recognizers is not None or name not in self._known:
            found: list[EntityRecognizer] = super().get_recognizers(
                language, entities, all_fields, ad_hoc_recognizers
            )
            if ad_hoc_recognizers is not None:
                return found
            self._known[name] = found
        return self._known[name]


class SwiftAnalyzer(AnalyzerEngine):
    """Presidio's analyzer, which searches the context only of detections in doubt (see `ContextOfDoubt`).

    Presidio first asks each recogniser, which would take longer than the rules on a short text. None of ours answers.
    """

    def _enhance_using_context(
        self,
        text: str,
        raw_results: list[RecognizerResult],
        nlp_artifacts: NlpArtifacts,
        recognizers: list[EntityRecognizer],
        context: list[str] | None = None,
    ) -> list[RecognizerResult]:
        if not raw_results:
            return raw_results
        enhanced: list[RecognizerResult] = self.context_aware_enhancer.enhance_using_context(
            text=text,
            raw_results=raw_results,
            nlp_artifacts=nlp_artifacts,
            recognizers=recognizers,
            context=context,
        )
        return enhanced


class ContextOfDoubt(LemmaContextAwareEnhancer):
    """Presidio's search for context words that support a detection, run only for detections below the threshold.

    The search tokenises the whole text and copies all detections, and most texts have no detection that a context word
    could raise above the threshold.
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
        """Return the detections, raising the scores of those below the threshold that have supporting context."""
        doubtful = [result for result in raw_results if result.score < self._threshold]
        if not doubtful:
            return raw_results
        sure = [result for result in raw_results if result.score >= self._threshold]
        lifted: list[RecognizerResult] = super().enhance_using_context(
            text, doubtful, nlp_artifacts, recognizers, context
        )
        return sure + lifted


class FoundByFunction(EntityRecognizer):
    """A recogniser for one entity, based on a function that yields the start and end of each occurrence in a text."""

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
        """Do nothing: the function needs no further resources."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return the function's detections in `text`.

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
    """Build Presidio's own recognisers that need no model, such as those that verify checksums."""
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
