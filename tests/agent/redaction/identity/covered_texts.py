"""Texts with what the identity table covers of them."""

from agent.redaction.deadline import Deadline
from agent.redaction.identity.table import KnownValues, search_known_values
from agent.redaction.rules.en import everyday


def covered(text: str, *values: tuple[str, str]) -> str:
    """The text with every character that the identity table covers as a #."""
    deadline = Deadline()
    deadline.start(60)
    shown = list(text)
    for span in search_known_values(text, KnownValues(values, everyday()), deadline):
        assert 0 <= span.start < span.end <= len(text)
        shown[span.start : span.end] = "#" * (span.end - span.start)
    return "".join(shown)
