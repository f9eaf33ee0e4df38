"""Metrics: pure functions of (answer, instance), one module per family.

A score is a number in its metric's range, or `Unscored(reason)`; there is no default. Callers handle cut-off answers
and remove reasoning before they call a metric. Metrics of a whole run (macro and micro F1) read labels from each
answer and are computed from all of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from agent.errors import BenchmarkError
from agent.metrics import (
    bert_score,
    billing,
    classes,
    ehr_sql,
    exact,
    judged,
    medcalc,
    medec,
    rouge,
    word_f1,
)
from agent.metrics.means import Means
from agent.metrics.own import bind_own_metric, is_own, make_spec
from agent.metrics.readers import WHOLE_TEXT, find_option, read_whole_text
from agent.metrics.spec import Labelled, MetricSpec, MetricUse, Options, ScoreFunction
from agent.reading.echoes import find_echo_end
from agent.reading.parsers import extract
from agent.reading.reading import Reading, ValueKind
from agent.vocabulary import AnswerParser, Instance, Judge, Reason, Scale, Scoring, Unscored

__all__ = [
    "JUDGED",
    "METRICS",
    "WHOLE_TEXT",
    "AnswerParser",
    "Judge",
    "Labelled",
    "Means",
    "MetricSpec",
    "MetricUse",
    "Options",
    "Scale",
    "ScoreFunction",
    "check_available",
    "compute_figure",
    "extract",
    "find_spec",
    "get_value_kind",
    "is_own",
    "parse_answer",
    "read_answer",
    "read_labels",
    "score",
    "select_measurable",
]

METRICS: dict[str, MetricSpec] = {
    spec.name: spec
    for spec in (
        *exact.SPECS,
        *word_f1.SPECS,
        *classes.SPECS,
        *medcalc.SPECS,
        *medec.SPECS,
        *billing.SPECS,
        *ehr_sql.SPECS,
        *rouge.SPECS,
        *bert_score.SPECS,
        *judged.SPECS,
    )
}
"""Every metric that a benchmark may use, by name."""

JUDGED: frozenset[str] = frozenset(spec.name for spec in judged.SPECS)
"""Metrics scored by a jury."""

_NOTHING = Means()


def check_available(
    benchmark_id: str, metrics: Iterable[MetricUse], means: Means = _NOTHING
) -> None:
    """Check, before a model is asked, that every metric of a benchmark can be computed.

    Raises:
        BenchmarkError: this version cannot compute a metric of the benchmark, or the site lacks what it needs; the
            message names the metric, and what to install or set.
    """
    uses = tuple(metrics)
    missing = [use.name for use in uses if use.name not in METRICS and not is_own(use.name)]
    if missing:
        raise BenchmarkError(
            f"{benchmark_id}: this version cannot compute {', '.join(missing)}",
            "Nothing was asked. Leave the metric out of the benchmark's YAML to run its other metrics.",
        )
    if any(use.name in bert_score.NAMES for use in uses):
        bert_score.check(benchmark_id, means)
    for use in uses:
        if is_own(use.name):
            _check_own_metric(benchmark_id, use, means)


def _check_own_metric(benchmark_id: str, use: MetricUse, means: Means) -> None:
    try:
        bind_own_metric(use, means)
    except BenchmarkError as error:
        raise BenchmarkError(f"{benchmark_id}: {error}", error.advice) from None


def select_measurable(metrics: Iterable[MetricUse], means: Means) -> tuple[MetricUse, ...]:
    """Return the metrics, without the optional ones that need an encoder if the site has none."""
    if means.bertscore_model:
        return tuple(metrics)
    return tuple(use for use in metrics if not (use.optional and use.name in bert_score.NAMES))


def parse_answer(answer: str, instance: Instance) -> str | Unscored:
    """Return the parsed answer: the option's letter for multiple choice, otherwise the stripped text."""
    if not answer.strip():
        return Unscored(Reason.EMPTY)
    if not instance.multiple_choice:
        return answer.strip()
    option = find_option(answer[find_echo_end(answer, _list_prompts(instance)) :], instance)
    return Unscored(Reason.UNPARSED) if option is None else chr(ord("A") + option)


def score(
    metric: MetricUse | str, answer: str, instance: Instance, scoring: Scoring = "intramural"
) -> float | Unscored:
    """Score one answer.

    Args:
        metric: an element of `Benchmark.metrics`, or a metric's name for its default options.
        answer: the response's text without reasoning.
        instance: the question and its references.
        scoring: "intramural" for our rules, "helm" to reproduce upstream (where an empty answer is wrong).

    Raises:
        BenchmarkError: the metric is unknown, or is a metric of the whole run.
    """
    use, spec = _find_spec(metric)
    if spec.fn is None:
        raise BenchmarkError(
            f"{use.name} is a metric of the whole run; no single answer has a score"
        )
    if scoring == "helm":
        return (spec.helm_fn or spec.fn)(answer, instance, use.options)
    if not answer.strip():
        return Unscored(Reason.EMPTY)
    start = _find_own_start(use, answer, instance)
    return _check_own_part(answer, start) or spec.fn(answer[start:], instance, use.options)


def read_answer(metric: MetricUse | str, answer: str, instance: Instance) -> Reading | Unscored:
    """Return what a metric reads from an answer by our rules: the value, its place in the answer, and the rule.

    Args:
        metric: as for `score`.
        answer: the response's text without reasoning.
        instance: the question and its references.

    Raises:
        BenchmarkError: the metric is unknown.
    """
    use, spec = _find_spec(metric)
    if not answer.strip():
        return Unscored(Reason.EMPTY)
    start = _find_own_start(use, answer, instance)
    nothing = _check_own_part(answer, start)
    if nothing is not None:
        return nothing
    reading = (spec.read or read_whole_text)(answer[start:], instance, use.options)
    if isinstance(reading, Unscored):
        return reading
    return replace(reading, start=reading.start + start, end=reading.end + start)


def _find_own_start(use: MetricUse, answer: str, instance: Instance) -> int:
    """Return where the part of the answer begins that does not repeat the prompt; a text is taken whole."""
    if get_value_kind(use, instance) == "text":
        return 0
    return find_echo_end(answer, _list_prompts(instance))


def _list_prompts(instance: Instance) -> Iterator[str]:
    return (message.content for message in instance.messages)


def _check_own_part(answer: str, start: int) -> Unscored | None:
    """Return UNPARSED if the answer holds nothing but the repeated prompt, else None."""
    return None if answer[start:].strip() else Unscored(Reason.UNPARSED)


def get_value_kind(metric: MetricUse | str, instance: Instance) -> ValueKind:
    """Return the kind of value that a metric reads from an answer to this instance.

    Raises:
        BenchmarkError: the metric is unknown.
    """
    _, spec = _find_spec(metric)
    if spec.value_kind == "option" and not instance.multiple_choice:
        return "text"
    return spec.value_kind


def read_labels(
    metric: MetricUse | str, answer: str, instance: Instance, scoring: Scoring = "intramural"
) -> Labelled | Unscored:
    """Read one answer's labels for a metric of the whole run. The arguments are those of `score`.

    Raises:
        BenchmarkError: the metric is not one of the whole run.
    """
    use, spec = _find_spec(metric)
    if spec.labels is None:
        raise BenchmarkError(f"{use.name} is not a metric of the whole run")
    if scoring == "helm":
        return spec.labels(answer, instance, use.options, scoring)
    if not answer.strip():
        return Unscored(Reason.EMPTY)
    start = _find_own_start(use, answer, instance)
    nothing = _check_own_part(answer, start)
    return nothing or spec.labels(answer[start:], instance, use.options, scoring)


def compute_figure(
    metric: MetricUse | str, items: Sequence[Labelled], scoring: Scoring = "intramural"
) -> float | Unscored:
    """Compute a metric of the whole run from its labelled answers, read with the same `scoring`.

    Raises:
        BenchmarkError: the metric is not one of the whole run.
    """
    use, spec = _find_spec(metric)
    whole_run = spec.helm_whole_run if scoring == "helm" and spec.helm_whole_run else spec.whole_run
    if whole_run is None:
        raise BenchmarkError(f"{use.name} is not a metric of the whole run")
    return whole_run(items) if items else Unscored(Reason.NO_REFERENCE)


def find_spec(use: MetricUse) -> MetricSpec:
    """Return the description of a metric in use, which may be the site's own.

    Raises:
        BenchmarkError: the metric is unknown, or is the site's own and not bound to its code.
    """
    spec = METRICS.get(use.name)
    if spec is not None:
        return spec
    if is_own(use.name):
        return make_spec(use)
    raise BenchmarkError(f"this version cannot compute {use.name}")


def _find_spec(metric: MetricUse | str) -> tuple[MetricUse, MetricSpec]:
    use = MetricUse(metric) if isinstance(metric, str) else metric
    return use, find_spec(use)
