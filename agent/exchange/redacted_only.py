"""The check that every text from an instance must pass before it is exported."""

from agent.redaction import Redacted


def require_redacted(text: object) -> Redacted:
    """Return a text from an instance. A text that was not redacted stops the export."""
    if not isinstance(text, Redacted):
        raise TypeError("text from an instance reached an export without redaction")
    return text
