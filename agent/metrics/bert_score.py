"""BERTScore (Zhang et al. 2020): precision, recall and F1 of tokens matched by their vectors from an encoder.

Each token of one text is matched with the most similar token of the other text (by cosine). Precision is the mean over
the answer's tokens, recall the mean over the reference's tokens. As in MedHELM, tokens are not weighted by rarity and
scores are not rescaled.

By our rules, a text that is longer than the encoder's window is read in windows that overlap by half, so that all of it
counts; HELM's rules silently cut off its end. Each score is the best over the references, chosen separately.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from agent.errors import AgentError, BenchmarkError
from agent.io.install_hint import describe_install
from agent.metrics.encoder_folder import (
    SET,
    EncoderFolder,
    encoder_folder,
    missing_packages,
)
from agent.metrics.means import Means
from agent.metrics.spec import MetricSpec, MetricUse, Options
from agent.vocabulary import Instance, Reason, Scoring, Unscored

if TYPE_CHECKING:
    from agent.metrics.encoder import Encoder

Triple = tuple[float, float, float]
"""Precision, recall and F1, each from 0 to 1."""


@dataclass(frozen=True, slots=True)
class BertScoreComparison:
    """One answer and the references to compare it with, under one set of rules."""

    answer: str
    golds: tuple[str, ...]
    rules: Scoring


def build_comparison(answer: str, instance: Instance, rules: Scoring) -> BertScoreComparison:
    """Return the texts to compare. HELM's rules use every reference, and remove outer braces from each text."""
    if rules == "helm":
        return BertScoreComparison(
            _remove_outer_brace(answer.strip()),
            tuple(_remove_outer_brace(one.text) for one in instance.references),
            rules,
        )
    golds = (one.text for one in instance.references if one.correct)
    return BertScoreComparison(answer, tuple(gold for gold in golds if gold.strip()), rules)


def _remove_outer_brace(text: str) -> str:
    return text.removeprefix("{").removesuffix("}")


def check(benchmark_id: str, means: Means) -> EncoderFolder:
    """Return the encoder to use.

    Raises:
        BenchmarkError: there is no encoder, or the extra is not installed; the message says what to do.
    """
    missing = missing_packages()
    if missing:
        raise BenchmarkError(
            f"{benchmark_id}: BERTScore needs {' and '.join(missing)}, which is not installed",
            describe_install("bertscore"),
        )
    if means.bertscore_model is None:
        raise BenchmarkError(f"{benchmark_id}: BERTScore needs an encoder, and none is set", SET)
    try:
        return encoder_folder(means.bertscore_model, means.bertscore_layer)
    except AgentError as error:
        raise BenchmarkError(f"{benchmark_id}: {error}", error.advice) from None


def with_encoder(use: MetricUse, means: Means) -> MetricUse:
    """Return the metric with the encoder's digest and layer as options: a different encoder is a different metric.

    Raises:
        BenchmarkError: see `check`.
    """
    encoder = check(use.name, means)
    return replace(
        use,
        options={**use.options, "encoder": f"sha256:{encoder.digest}", "layer": str(encoder.layer)},
    )


def triples(comparisons: Sequence[BertScoreComparison], means: Means) -> list[Triple | Unscored]:
    """Compute all three scores of every comparison. Each text is encoded once.

    Raises:
        BenchmarkError: see `check`.
    """
    encoder = check("BERTScore", means)
    from agent.metrics.encoder import TextComparison

    texts = [
        TextComparison(comparison.answer, comparison.golds, is_cut=comparison.rules == "helm")
        for comparison in comparisons
    ]
    compared = _load_encoder(encoder, means.workers).compare(texts)
    return [
        _choose_best(comparison, pairs)
        for comparison, pairs in zip(comparisons, compared, strict=True)
    ]


def _choose_best(
    comparison: BertScoreComparison, pairs: Sequence[Triple | None] | None
) -> Triple | Unscored:
    """Return the best of each score. None stands for a reference or answer that the encoder cannot read."""
    if pairs is None:
        return (
            (0.0, 0.0, 0.0)
            if comparison.rules == "helm" and comparison.golds
            else Unscored(Reason.UNPARSED)
        )
    if comparison.rules == "helm":
        pairs = [pair or (0.0, 0.0, 0.0) for pair in pairs]
    compared = [pair for pair in pairs if pair is not None]
    if not compared:
        return Unscored(Reason.NO_REFERENCE)
    precision, recall, f1 = (
        max(0.0, min(1.0, max(column))) for column in zip(*compared, strict=True)
    )
    return precision, recall, f1


@lru_cache(1)
def _load_encoder(encoder: EncoderFolder, threads: int) -> "Encoder":
    from agent.metrics.encoder import Encoder

    return Encoder(encoder, threads)


def _report_not_measured(
    rules: Scoring,
    answer: str,
    instance: Instance,
    options: Options,  # noqa: ARG001
) -> float | Unscored:
    """Return unscored(not_measured), because answers are never sent through an encoder one by one."""
    return Unscored(
        Reason.NOT_MEASURED
        if build_comparison(answer, instance, rules).golds
        else Reason.NO_REFERENCE
    )


def _make_spec(name: str, display_name: str, doc: str) -> MetricSpec:
    ours, theirs = (
        partial(_report_not_measured, "intramural"),
        partial(_report_not_measured, "helm"),
    )
    return MetricSpec(name, display_name, 0, 1, False, doc, fn=ours, helm_fn=theirs, later=True)


SPECS = (
    _make_spec(
        "BERTScore-P",
        "BERTScore P",
        "Similarity of the answer's tokens to the reference's, by an encoder's vectors.",
    ),
    _make_spec(
        "BERTScore-R",
        "BERTScore R",
        "Similarity of the reference's tokens to the answer's, by an encoder's vectors.",
    ),
    _make_spec("BERTScore-F", "BERTScore F1", "Harmonic mean of BERTScore's precision and recall."),
)
NAMES = tuple(spec.name for spec in SPECS)
"""The metrics in the order of the scores in a triple."""
