"""Spanish: rules for every class of identifier, from heads of records and signatures to countries and kin."""

from collections.abc import Iterator

import regex
from presidio_analyzer import EntityRecognizer, RecognizerResult
from presidio_analyzer.nlp_engine import NlpArtifacts

from agent.redaction.deadline import Deadline
from agent.redaction.recognizers import SURE, any_of
from agent.redaction.spanish.fields import find_fields
from agent.redaction.spanish.harmless import without_harmless
from agent.redaction.spanish.names import find_names
from agent.redaction.spanish.patterns import PATTERNS
from agent.redaction.spanish.signature import find_signatures
from agent.redaction.spanish.unknown import find_unknown
from agent.redaction.spanish.vocabulary import companies, countries, nationalities, places, professions, towns_abroad
from agent.redaction.spanish.word_lists import everyday, words

__all__ = ["everyday", "recognizers"]


class SpanishRecognizer(EntityRecognizer):
    """All rules of Spanish: labelled values, signatures, names, and the patterns of each entity."""

    def __init__(self, deadline: Deadline) -> None:
        super().__init__(
            supported_entities=[*PATTERNS, "NAME", "UNKNOWN_WORD"], name="Spanish", supported_language="es"
        )
        lists = {
            "LOCATION": (any_of(places()), any_of(countries()), towns_abroad()),
            "NATIONALITY": (nationalities(),),
            "ORGANIZATION": (any_of(companies()),),
            "PROFESSION": (professions(),),
        }
        self._patterns = {
            entity: [regex.compile(pattern, regex.MULTILINE) for pattern in (*patterns, *lists.get(entity, ()))]
            for entity, patterns in PATTERNS.items()
        }
        self._deadline = deadline
        for name in ("given_names", "surnames", "everyday_words"):
            words(name)  # read once, at start

    def load(self) -> None:
        """Do nothing: patterns are compiled with the object."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return what the rules for `entities` find.

        Raises:
            TimeoutError: the deadline passed.
        """
        del nlp_artifacts
        wanted = set(entities)
        return [
            RecognizerResult(entity, start, end, SURE)
            for entity, start, end in self._found(text, wanted)
            if start < end
        ]

    def _found(self, text: str, wanted: set[str]) -> Iterator[tuple[str, int, int]]:
        # Labels and signatures first: what they hold identifies whatever it says.
        yield from (found for found in find_fields(text, self._deadline) if found[0] in wanted)
        yield from (found for found in find_signatures(text, self._deadline) if found[0] in wanted)
        text = without_harmless(text, self._deadline)
        if "NAME" in wanted:
            yield from (("NAME", start, end) for start, end in find_names(text, self._deadline))
        if "UNKNOWN_WORD" in wanted:
            yield from find_unknown(text, self._deadline)
        for entity, patterns in self._patterns.items():
            if entity in wanted:
                for pattern in patterns:
                    for match in pattern.finditer(text, timeout=self._deadline.left()):
                        yield entity, match.start(), match.end()


def recognizers(deadline: Deadline) -> list[EntityRecognizer]:
    """Build the recognisers of Spanish."""
    return [SpanishRecognizer(deadline)]
