"""The door that every text of a case passes on its way into an export."""

from agent.redaction import Redacted


def redacted_only(text: object) -> Redacted:
    """Return text of a case. Anything that did not come through redaction stops the export."""
    if not isinstance(text, Redacted):
        raise TypeError("text of a case reached an export without redaction")
    return text
