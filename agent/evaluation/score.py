"""What one answer is worth: every metric's score, or why there is none. Pure."""

from collections.abc import Sequence

from agent.metrics import MetricUse, score
from agent.vocabulary import Failure, Instance, Reason, Response, Scoring, Unscored


def score_response(
    metrics: Sequence[MetricUse], instance: Instance, result: Response | Failure, scoring: Scoring
) -> list[tuple[str, float | Unscored]]:
    """Return (metric, score) for every metric.

    A cut-off thought is unscored(length): there is no answer yet. Text that was cut off is an answer and is scored.
    """
    reason = _why_not(result, scoring)
    if reason is not None or isinstance(result, Failure):
        return [(use.name, Unscored(reason or Reason.BAD_REPLY)) for use in metrics]
    return [(use.name, score(use, result.text, instance, scoring)) for use in metrics]


def _why_not(result: Response | Failure, scoring: Scoring) -> Reason | None:
    if isinstance(result, Failure):
        return result.reason
    if result.finish_reason == "content_filter":
        return Reason.CONTENT_FILTER
    # HELM scores an empty completion like any other, so parity does too.
    if not result.text.strip() and scoring != "helm":
        return Reason.LENGTH if result.finish_reason == "length" else Reason.EMPTY
    return None
