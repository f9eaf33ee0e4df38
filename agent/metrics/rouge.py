"""ROUGE-1, ROUGE-2 and ROUGE-L F-measures (Lin 2004), by Google's rouge-score package.

The package's words are runs of a-z and 0-9; every other character separates them. A text in another script has no
words there and would score 0 against itself, so a reference that is written mostly in other letters has no score. In
languages with accented letters words fall into pieces: the figure can be computed but means less than in English.
"""

import re
import unicodedata
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


def can_compare(gold: str, rouge_type: str) -> bool:
    """Tell whether the package sees in a reference what it is to count: words, for ROUGE-2 a pair of them."""
    words = re.findall(r"[a-z0-9]+", gold.lower())
    letters = sum(unicodedata.category(c)[0] in "LN" for c in gold)
    return len(words) >= (2 if rouge_type == "rouge2" else 1) and 2 * sum(map(len, words)) >= letters


def _score(rouge_type: str, answer: str, instance: Instance, options: Options) -> float | Unscored:
    golds = [r.text for r in instance.references if r.correct and can_compare(r.text, rouge_type)]
    return _best(rouge_type, golds, answer, options)


def _helm_score(rouge_type: str, answer: str, instance: Instance, options: Options) -> float | Unscored:
    """Upstream takes the best over all references, also those marked incorrect, in whatever script."""
    return _best(rouge_type, [r.text for r in instance.references], answer, options)


def _best(rouge_type: str, golds: list[str], answer: str, options: Options) -> float | Unscored:
    if not golds:
        return Unscored(Reason.NO_REFERENCE)
    stemmer = bool(options.get("stemmer", True))
    return max(f_measure(gold, answer, rouge_type, stemmer=stemmer) for gold in golds)


def _metric(name: str, display_name: str, rouge_type: str, doc: str) -> MetricSpec:
    return MetricSpec(
        name,
        display_name,
        0,
        1,
        False,
        doc,
        fn=partial(_score, rouge_type),
        helm_fn=partial(_helm_score, rouge_type),
        options={"stemmer": True},
    )


SPECS = (
    _metric("rouge_1", "ROUGE-1", "rouge1", "Overlap of single words with the reference, F-measure."),
    _metric("rouge_2", "ROUGE-2", "rouge2", "Overlap of word pairs with the reference, F-measure."),
    _metric("rouge_l", "ROUGE-L", "rougeL", "Longest common sequence of words with the reference, F-measure."),
)
