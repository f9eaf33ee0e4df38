"""The door between a case's text and people's eyes.

Everything a person can see (terminal, pages, exports, logs) takes `Redacted`, and only this package makes
it. Opening a redactor reads a policy, builds the engine and proves it on a known text; nothing heavy is
imported before that, and nothing is ever downloaded.

    redactor = open_redactor()
    prompt, answer = redactor.redact_record([prompt, answer])  # same value, same tag: "[NAME-1]"
"""

from agent.redaction.redacted import Redacted, Redactor, Withheld, reveal, reveal_record

__all__ = ["Redacted", "Redactor", "Withheld", "open_redactor", "reveal", "reveal_record"]


def open_redactor(policy: str = "hipaa_safe_harbor") -> Redactor:
    """Open the redaction engine under a shipped policy, or under a policy file when `policy` ends in ".yaml".

    Takes about a second: the engine is imported here and nowhere else.

    Raises:
        RedactionError: the policy is missing or wrong, or the engine does not clear a text it must clear.
    """
    from agent.redaction.engine import open_engine

    return open_engine(policy)
