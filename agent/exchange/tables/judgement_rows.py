"""A judgement in the form in which exports write it. A judge's text must have been redacted."""

from typing import Any

from agent.exchange.redacted_only import require_redacted
from agent.redaction.gateway.cases import ClearedJudgement


def build_judgement_row(judgement: ClearedJudgement) -> dict[str, Any]:
    """Return one judgement as a row of the exported tables."""
    words = {}
    for criterion, texts in judgement.words.items():
        words[criterion] = {field: require_redacted(text) for field, text in texts.items()}
    replies = []
    for reply in judgement.replies:
        replies.append(
            {"text": require_redacted(reply.text), "reasoning": require_redacted(reply.reasoning)}
        )
    return {
        "metric": judgement.metric,
        "seat": judgement.seat,
        "judge": judgement.judge,
        "grades": None if judgement.grades is None else dict(judgement.grades),
        "reason": judgement.reason,
        "repaired": judgement.repaired,
        "words": words,
        "replies": replies,
    }
