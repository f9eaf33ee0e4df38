"""Spanish: clinical rules for every class of identifier."""

from presidio_analyzer import EntityRecognizer

from agent.redaction.deadline import Deadline


def everyday() -> frozenset[str]:
    """Words, in lower case, that identify nobody when they stand alone."""
    return frozenset()


def recognizers(deadline: Deadline) -> list[EntityRecognizer]:
    """Build the recognisers of Spanish."""
    del deadline
    return []
