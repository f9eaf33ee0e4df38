"""The check that every text of a case must pass before it is exported."""

from agent.redaction import Redacted


def require_redacted(text: object) -> Redacted:
    """Return the text of a case. Text that was not redacted stops the export."""
    if not isinstance(text, Redacted):
        raise TypeError("text of a case reached an export without redaction")
    return text
