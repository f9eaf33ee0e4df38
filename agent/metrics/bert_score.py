"""BERTScore (Zhang et al. 2020): precision, recall and F1 of words matched by the vectors that an encoder gives them.

Each token of one text is matched with the token of the other that is most like it (cosine); precision is the mean over
the answer's tokens, recall that over the reference's. No weights by rarity, no rescaling: as MedHELM has it.

By our rules, text that is longer than the encoder takes is read in windows that overlap by half, so that all of it
counts; by HELM's its end is cut off without a word. The best over the references is taken of each figure by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from agent.errors import AgentError, BenchmarkError
from agent.metrics.encoder_folder import (
    INSTALL,
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
    """One answer and what it is compared with, by one set of rules."""

    answer: str
    golds: tuple[str, ...]
    rules: Scoring


def build_comparison(answer: str, instance: Instance, rules: Scoring) -> BertScoreComparison:
    """Return the texts to compare: by HELM's rules every reference, and each text without an outer brace."""
    if rules == "helm":
        return BertScoreComparison(
            _unbraced(answer.strip()),
            tuple(_unbraced(one.text) for one in instance.references),
            rules,
        )
    golds = (one.text for one in instance.references if one.correct)
    return BertScoreComparison(answer, tuple(gold for gold in golds if gold.strip()), rules)


def _unbraced(text: str) -> str:
    return text.removeprefix("{").removesuffix("}")


def check(benchmark_id: str, means: Means) -> EncoderFolder:
    """Return the encoder that would be used.

    Raises:
        BenchmarkError: there is none, or the extra is not installed; says what to do.
    """
    missing = missing_packages()
    if missing:
        raise BenchmarkError(
            f"{benchmark_id}: BERTScore needs {' and '.join(missing)}, which is not installed",
            INSTALL,
        )
    if means.bertscore_model is None:
        raise BenchmarkError(f"{benchmark_id}: BERTScore needs an encoder, and none is set", SET)
    try:
        return encoder_folder(means.bertscore_model, means.bertscore_layer)
    except AgentError as error:
        raise BenchmarkError(f"{benchmark_id}: {error}", error.advice) from None


def with_encoder(use: MetricUse, means: Means) -> MetricUse:
    """Return the metric with the encoder's digest and layer among its options: another encoder is another metric.

    Raises:
        BenchmarkError: as `check`.
    """
    encoder = check(use.name, means)
    return replace(
        use,
        options={**use.options, "encoder": f"sha256:{encoder.digest}", "layer": str(encoder.layer)},
    )


def triples(comparisons: Sequence[BertScoreComparison], means: Means) -> list[Triple | Unscored]:
    """Compute all three figures of every comparison; each text is encoded once.

    Raises:
        BenchmarkError: as `check`.
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
    """Return the best of each figure. None: the encoder reads nothing in that reference, or in the answer."""
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


def _not_measured(
    rules: Scoring,
    answer: str,
    instance: Instance,
    options: Options,  # noqa: ARG001
) -> float | Unscored:
    """Return that the answer has yet to be measured: one answer alone is never sent through an encoder."""
    return Unscored(
        Reason.NOT_MEASURED
        if build_comparison(answer, instance, rules).golds
        else Reason.NO_REFERENCE
    )


def _metric(name: str, display_name: str, doc: str) -> MetricSpec:
    ours, theirs = partial(_not_measured, "intramural"), partial(_not_measured, "helm")
    return MetricSpec(name, display_name, 0, 1, False, doc, fn=ours, helm_fn=theirs, later=True)


SPECS = (
    _metric(
        "BERTScore-P",
        "BERTScore P",
        "Likeness of the answer's tokens to the reference's, by an encoder's vectors.",
    ),
    _metric(
        "BERTScore-R",
        "BERTScore R",
        "Likeness of the reference's tokens to the answer's, by an encoder's vectors.",
    ),
    _metric("BERTScore-F", "BERTScore F1", "Harmonic mean of BERTScore's precision and recall."),
)
NAMES = tuple(spec.name for spec in SPECS)
"""In the order of a triple's figures."""
