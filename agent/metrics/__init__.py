"""Metrics: pure functions of (answer, instance), one module a family.

A score is a number in its metric's range, or `Unscored(reason)`; never a default. Cut-off answers and reasoning
text are dealt with before a metric is asked.
"""

from collections.abc import Iterable

from agent.errors import BenchmarkError
from agent.metrics import exact, medcalc, medec, rouge
from agent.metrics.choice import extract_option
from agent.metrics.spec import Judge, MetricSpec, MetricUse, Options, ScoreFunction
from agent.vocabulary import Instance, Reason, Scoring, Unscored

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

METRICS: dict[str, MetricSpec] = {
    spec.name: spec for spec in (*exact.SPECS, *medcalc.SPECS, *medec.SPECS, *rouge.SPECS)
}
"""Every metric that can be computed, by name."""

NOT_YET: frozenset[str] = frozenset({"jury_score", "BERTScore-P", "BERTScore-R", "BERTScore-F"})
"""Metrics that MedHELM's files may name and that this version cannot compute."""


def check_available(benchmark_id: str, metrics: Iterable[MetricUse]) -> None:
    """Call before anything is asked.

    Raises:
        BenchmarkError: a metric of the benchmark cannot be computed by this version; names it.
    """
    missing = [use.name for use in metrics if use.name not in METRICS]
    if missing:
        raise BenchmarkError(
            f"{benchmark_id}: this version cannot compute {', '.join(missing)}",
            "Nothing was asked. Leave the metric out of the benchmark's YAML to run its other metrics.",
        )


def parse_answer(answer: str, instance: Instance) -> str | Unscored:
    """Return what the answer says: the option's letter for multiple choice, else the stripped text."""
    if not answer.strip():
        return Unscored(Reason.EMPTY)
    if not instance.multiple_choice:
        return answer.strip()
    option = extract_option(answer, tuple(reference.text for reference in instance.references))
    return Unscored(Reason.UNPARSED) if option is None else chr(ord("A") + option)


def score(
    metric: MetricUse | str, answer: str, instance: Instance, scoring: Scoring = "intramural"
) -> float | Unscored:
    """Score one answer.

    Args:
        metric: an element of `Benchmark.metrics`, or a metric's name for its default options.
        answer: the response's text without reasoning.
        instance: what was asked.
        scoring: "intramural" for the right rule, "helm" to reproduce upstream (where an empty answer is wrong).

    Raises:
        BenchmarkError: the metric is not one of `METRICS`.
    """
    use = MetricUse(metric) if isinstance(metric, str) else metric
    spec = METRICS.get(use.name)
    if spec is None:
        raise BenchmarkError(f"this version cannot compute {use.name}")
    if scoring == "helm":
        return (spec.helm_fn or spec.fn)(answer, instance, use.options)
    if not answer.strip():
        return Unscored(Reason.EMPTY)
    return spec.fn(answer, instance, use.options)
