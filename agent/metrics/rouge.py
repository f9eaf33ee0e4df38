"""ROUGE-1, ROUGE-2 and ROUGE-L F-measures (Lin 2004), by Google's rouge-score package."""

from functools import cache, partial
from typing import Any

from agent.metrics.spec import MetricSpec, Options
from agent.vocabulary import Instance, Reason, Unscored


@cache
def _scorer(rouge_type: str, stemmer: bool) -> Any:
    from rouge_score.rouge_scorer import RougeScorer  # brings nltk and numpy, half a second of CPU

    return RougeScorer([rouge_type], use_stemmer=stemmer)


def f_measure(gold: str, predicted: str, rouge_type: str, *, stemmer: bool) -> float:
    """Return the F-measure of one pair of texts, 0 to 1; `rouge_type` is rouge1, rouge2 or rougeL."""
    measure: float = _scorer(rouge_type, stemmer).score(gold, predicted)[rouge_type].fmeasure
    return measure


def _score(rouge_type: str, correct_only: bool, answer: str, instance: Instance, options: Options) -> float | Unscored:
    golds = [r.text for r in instance.references if r.correct or not correct_only]
    if not golds:
        return Unscored(Reason.NO_REFERENCE)
    stemmer = options.get("stemmer", True)
    return max(f_measure(gold, answer, rouge_type, stemmer=stemmer) for gold in golds)


def _metric(name: str, display_name: str, rouge_type: str, doc: str) -> MetricSpec:
    return MetricSpec(
        name,
        display_name,
        0,
        1,
        False,
        doc,
        fn=partial(_score, rouge_type, True),
        # Upstream takes the best over all references, also those marked incorrect.
        helm_fn=partial(_score, rouge_type, False),
        options={"stemmer": True},
    )


SPECS = (
    _metric("rouge_1", "ROUGE-1", "rouge1", "Overlap of single words with the reference, F-measure."),
    _metric("rouge_2", "ROUGE-2", "rouge2", "Overlap of word pairs with the reference, F-measure."),
    _metric("rouge_l", "ROUGE-L", "rougeL", "Longest common sequence of words with the reference, F-measure."),
)
