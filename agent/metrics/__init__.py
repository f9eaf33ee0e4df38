"""Metrics: pure functions of (answer, instance), one module a family.

A score is a number in its metric's range, or `Unscored(reason)`; never a default. Cut-off answers and reasoning
text are dealt with before a metric is asked.
"""

from agent.errors import BenchmarkError
from agent.metrics.spec import Judge, MetricSpec, MetricUse, Options, ScoreFunction
from agent.vocabulary import Instance, Scoring, Unscored

__all__ = [
    "METRICS",
    "NOT_YET",
    "Judge",
    "MetricSpec",
    "MetricUse",
    "Options",
    "ScoreFunction",
    "check_available",
    "parse_answer",
    "score",
]

METRICS: dict[str, MetricSpec] = {}
"""Every metric that can be computed, by name."""

NOT_YET: frozenset[str] = frozenset({"jury_score", "BERTScore-P", "BERTScore-R", "BERTScore-F"})
"""Metrics that MedHELM's files may name and that this version cannot compute."""


def check_available(benchmark_id: str, metrics: tuple[MetricUse, ...]) -> None:
    """Call before anything is asked.

    Raises:
        BenchmarkError: a metric of the benchmark cannot be computed by this version; names it.
    """
    raise NotImplementedError


def parse_answer(answer: str, instance: Instance) -> str | Unscored:
    """Return what the answer says: the option's letter for multiple choice, else the stripped text."""
    raise NotImplementedError


def score(
    metric: MetricUse | str, answer: str, instance: Instance, scoring: Scoring = "intramural"
) -> float | Unscored:
    """Score one answer.

    Args:
        metric: an element of `Benchmark.metrics`, or a metric's name for its default options.
        answer: the response's text without reasoning.
        instance: what was asked.
        scoring: "intramural" for the right rule, "helm" to reproduce upstream.

    Raises:
        BenchmarkError: the metric is not one of `METRICS`.
    """
    raise NotImplementedError
