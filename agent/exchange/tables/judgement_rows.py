"""What one seat of a jury gave, as exports write it. Every word of a judge comes through redaction's door."""

from typing import Any

from agent.exchange.redacted_only import redacted_only
from agent.redaction.gateway.cases import ClearedJudgement


def judgement_row(given: ClearedJudgement) -> dict[str, Any]:
    """Return one judgement as the tables hold it."""
    return {
        "metric": given.metric,
        "seat": given.seat,
        "judge": given.judge,
        "grades": None if given.grades is None else dict(given.grades),
        "reason": given.reason,
        "repaired": given.repaired,
        "words": {
            criterion: {field: redacted_only(text) for field, text in of.items()}
            for criterion, of in given.words.items()
        },
        "replies": [
            {"text": redacted_only(reply.text), "reasoning": redacted_only(reply.reasoning)} for reply in given.replies
        ],
    }
