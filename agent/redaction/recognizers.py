"""Our rules as Presidio recognisers, and the recognisers of Presidio's own that work without a model."""

from collections.abc import Iterable

import regex
from presidio_analyzer import EntityRecognizer, RecognizerResult
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
from agent.redaction.names import find_names, words
from agent.redaction.patterns import PATTERNS

_SURE = 0.9  # our rules carry their evidence in the pattern


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


class NameRecognizer(EntityRecognizer):
    """People's names by title, cue and common name; see `agent.redaction.names`."""

    def __init__(self, deadline: Deadline) -> None:
        super().__init__(supported_entities=["NAME"], name="Names")
        self._deadline = deadline

    def load(self) -> None:
        """Read the word lists once, at start."""
        for name in ("given_names", "surnames", "everyday_words", "medical_words", "function_words"):
            words(name)

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return the names in `text`.

        Raises:
            TimeoutError: the deadline passed.
        """
        del entities, nlp_artifacts
        return [RecognizerResult("NAME", start, end, _SURE) for start, end in find_names(text, self._deadline)]


class RuleRecognizer(EntityRecognizer):
    """Patterns of one entity. Unlike Presidio's own pattern recogniser it never skips a pattern that takes too long."""

    def __init__(self, entity: str, name: str, patterns: Iterable[str], deadline: Deadline) -> None:
        super().__init__(supported_entities=[entity], name=name)
        self._patterns = [regex.compile(pattern, regex.MULTILINE) for pattern in patterns]
        self._deadline = deadline

    def load(self) -> None:
        """Do nothing: patterns are compiled with the object."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return what the patterns match.

        Raises:
            TimeoutError: the deadline passed.
        """
        del entities, nlp_artifacts
        return [
            RecognizerResult(self.supported_entities[0], match.start(), match.end(), _SURE)
            for pattern in self._patterns
            for match in pattern.finditer(text, timeout=self._deadline.left())
            if match.group()
        ]


def build_recognizers(deadline: Deadline) -> list[EntityRecognizer]:
    """Build every recogniser; together they find every entity that a policy may ask for."""
    return [
        *(RuleRecognizer(entity, entity.title(), patterns, deadline) for entity, patterns in PATTERNS.items()),
        RuleRecognizer("LOCATION", "Places", [_any_of("places")], deadline),
        RuleRecognizer("FACILITY", "Facilities", [_any_of("facilities")], deadline),
        NameRecognizer(deadline),
        CreditCardRecognizer(),
        CryptoRecognizer(),
        UnboundEmailRecognizer(),
        IbanRecognizer(),
        IpRecognizer(),
        UsItinRecognizer(),
        UsMbiRecognizer(),
        UsNpiRecognizer(),
        UsSsnRecognizer(),
    ]


def _any_of(word_list: str) -> str:
    """Match the entries of a word list as whole words; a hyphen in an entry also stands for a space."""
    entries = sorted(words(word_list), key=len, reverse=True)
    alternatives = "|".join(regex.escape(entry, literal_spaces=True).replace("\\-", "[- ]") for entry in entries)
    return rf"(?<![\p{{L}}\d-])(?:{alternatives})(?![\p{{L}}\d])"
