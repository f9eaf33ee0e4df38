"""Metrics that a jury of models gives. This version asks no jury, so no answer has a score yet: the answer is kept."""

from agent.metrics.spec import MetricSpec, Options
from agent.vocabulary import Instance, Reason, Unscored


def not_judged(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Return that no jury has graded the answer. Upstream has default grades here, 1.0 and 0.0; those are no grades."""
    return Unscored(Reason.NOT_JUDGED)


SPECS = (
    MetricSpec(
        "jury_score",
        "Jury score",
        1,
        5,
        False,
        "Mean grade of a jury of models over the benchmark's criteria, 1 (very poor) to 5 (excellent).",
        not_judged,
    ),
)
