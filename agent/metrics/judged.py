"""Metrics scored by a jury of models. `agent.judging` asks the jury about stored answers after the run."""

from agent.metrics.spec import MetricSpec, Options
from agent.vocabulary import Instance, Reason, Unscored


def report_not_judged(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Return unscored(not_judged): the jury is asked after the run. Upstream uses default grades; we use none."""
    return Unscored(Reason.NOT_JUDGED)


SPECS = (
    MetricSpec(
        "jury_score",
        "Jury score",
        1,
        5,
        False,
        "Mean grade of a jury of models over the benchmark's criteria, 1 (very poor) to 5 (excellent).",
        report_not_judged,
    ),
)
