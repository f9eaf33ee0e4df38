"""ROUGE-1, ROUGE-2 and ROUGE-L F-measures (Lin 2004), by Google's rouge-score package.

The package's words are runs of a-z and 0-9; every other character separates them. A text in another script has no
words there and would score 0 against itself, so a reference that is written mostly in other letters has no score. In
languages with accented letters words fall into pieces: the figure can be computed but means less than in English.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

from agent.metrics.spec import MetricSpec, Options
from agent.vocabulary import Instance, Reason, Unscored

_MOST_WORDS = 50_000  # whose stems are remembered


class _Words:
    """The package's own words, with every stem computed once: stemming is most of the work."""

    def __init__(self, stemmer: bool) -> None:
        from rouge_score.tokenizers import porter, tokenize  # brings nltk and numpy, half a second of CPU

        self._split = tokenize.tokenize
        self._stemmer = _Stems(lru_cache(_MOST_WORDS)(porter.PorterStemmer().stem)) if stemmer else None

    def tokenize(self, text: str) -> list[str]:
        words: list[str] = self._split(text, self._stemmer)
        return words


@dataclass(frozen=True, slots=True)
class _Stems:
    stem: Callable[[str], str]


@cache
def _words(stemmer: bool) -> _Words:
    return _Words(stemmer)


@cache
def _scorer(rouge_type: str, stemmer: bool) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer([rouge_type], tokenizer=_words(stemmer))


def f_measure(gold: str, predicted: str, rouge_type: str, *, stemmer: bool) -> float:
    """Return the F-measure of one pair of texts, 0 to 1; `rouge_type` is rouge1, rouge2 or rougeL."""
    if rouge_type == "rougeL":
        return _rouge_l(_words(stemmer).tokenize(gold), _words(stemmer).tokenize(predicted))
    measure: float = _scorer(rouge_type, stemmer).score(gold, predicted)[rouge_type].fmeasure
    return measure


def _rouge_l(gold: list[str], predicted: list[str]) -> float:
    """Return the package's figure to the last digit, without its table of words times words."""
    common = _longest_common(gold, predicted)
    if not common:
        return 0.0
    precision, recall = common / len(predicted), common / len(gold)
    return 2 * precision * recall / (precision + recall)


def _longest_common(a: list[str], b: list[str]) -> int:
    """Length of the longest common subsequence, a row of the table at once as the bits of one number (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for index, word in enumerate(a):
        places[word] = places.get(word, 0) | 1 << index
    full = (1 << len(a)) - 1
    row = full
    for word in b:
        hits = row & places.get(word, 0)
        row = ((row + hits) | (row - hits)) & full
    return len(a) - row.bit_count()


def can_compare(gold: str, rouge_type: str) -> bool:
    """Tell whether the package sees in a reference what it is to count: words, for ROUGE-2 a pair of them."""
    words = re.findall(r"[a-z0-9]+", gold.lower())
    letters = sum(unicodedata.category(c)[0] in "LN" for c in gold)
    return len(words) >= (2 if rouge_type == "rouge2" else 1) and 2 * sum(map(len, words)) >= letters


def _score(rouge_type: str, answer: str, instance: Instance, options: Options) -> float | Unscored:
    golds = [r.text for r in instance.references if r.correct and can_compare(r.text, rouge_type)]
    return _best(rouge_type, golds, answer, stemmer=bool(options.get("stemmer", True)))


def _helm_score(rouge_type: str, answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Upstream stems always, and takes the best over all references, also those marked incorrect, in any script."""
    return _best(rouge_type, [r.text for r in instance.references], answer, stemmer=True)


def _best(rouge_type: str, golds: list[str], answer: str, *, stemmer: bool) -> float | Unscored:
    if not golds:
        return Unscored(Reason.NO_REFERENCE)
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
