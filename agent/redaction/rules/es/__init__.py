"""Spanish rules for every class of identifier, from record headers and signatures to countries and relatives."""

from collections.abc import Iterator

from presidio_analyzer import EntityRecognizer, RecognizerResult
from presidio_analyzer.nlp_engine import NlpArtifacts

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.es import latin_america, names
from agent.redaction.rules.es.fields import find_fields
from agent.redaction.rules.es.harmless import is_harmless, without_harmless
from agent.redaction.rules.es.patterns import RULES
from agent.redaction.rules.es.signature import find_signatures
from agent.redaction.rules.es.unknown import find_unknown
from agent.redaction.rules.es.vocabulary import (
    companies,
    countries,
    nationalities,
    places,
    professions,
    towns_abroad,
)
from agent.redaction.rules.es.word_lists import everyday, words
from agent.redaction.rules.rulebook import SURE, Rulebook

__all__ = ["everyday", "is_harmless", "recognizers"]


class SpanishRules(Rulebook):
    """All Spanish rules: labelled values and signatures, then the rules on the text without harmless expressions."""

    def __init__(self, deadline: Deadline) -> None:
        super().__init__(
            "es",
            (*RULES, *latin_america.RULES, nationalities(), professions(), towns_abroad()),
            deadline,
            phrases={"LOCATION": (*places(), *countries()), "ORGANIZATION": companies()},
            finders=[
                (frozenset({"NAME"}), names.find_names),
                (frozenset({"UNKNOWN_WORD"}), find_unknown),
            ],
            judged=[("NAME", begins, judge) for begins, judge in names.JUDGED],
        )
        self._deadline = deadline

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return the detections of `entities`.

        Raises:
            TimeoutError: the deadline passed.
        """
        # Labels and signatures first: their values identify a person whatever they contain.
        labelled = [
            RecognizerResult(*detection, SURE)
            for detection in self._find_labelled(text)
            if detection[0] in entities
        ]
        return labelled + super().analyze(
            without_harmless(text, self._deadline), entities, nlp_artifacts
        )

    def _find_labelled(self, text: str) -> Iterator[tuple[Entity, int, int]]:
        for entity, start, end in (
            *find_fields(text, self._deadline),
            *find_signatures(text, self._deadline),
        ):
            if start < end:
                yield entity, start, end


def recognizers(deadline: Deadline) -> list[EntityRecognizer]:
    """Build the recognisers of Spanish."""
    for name in ("given_names", "surnames", "everyday_words"):
        words(name)  # read once, at start
    return [SpanishRules(deadline)]
