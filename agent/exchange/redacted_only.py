"""The check that every text of a case must pass on its way into an export."""

from agent.redaction import Redacted


def require_redacted(text: object) -> Redacted:
    """Return text of a case. Text that did not come through redaction stops the export."""
    if not isinstance(text, Redacted):
        raise TypeError("text of a case reached an export without redaction")
    return text
