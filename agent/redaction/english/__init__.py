"""English: clinical rules for every class of identifier, and names by how they are written and introduced."""

from presidio_analyzer import EntityRecognizer

from agent.redaction.deadline import Deadline
from agent.redaction.english.names import everyday, find_names, words
from agent.redaction.english.patterns import PATTERNS
from agent.redaction.recognizers import FoundByFunction, RuleRecognizer, any_of

__all__ = ["everyday", "recognizers"]


def recognizers(deadline: Deadline) -> list[EntityRecognizer]:
    """Build the recognisers of English."""
    for name in ("given_names", "surnames", "everyday_words", "medical_words", "function_words"):
        words(name)  # read once, at start
    return [
        *(RuleRecognizer("en", entity, entity.title(), patterns, deadline) for entity, patterns in PATTERNS.items()),
        RuleRecognizer("en", "LOCATION", "Places", [any_of(words("places"))], deadline),
        RuleRecognizer("en", "FACILITY", "Facilities", [any_of(words("facilities"))], deadline),
        FoundByFunction("en", "NAME", "Names", find_names, deadline),
    ]
