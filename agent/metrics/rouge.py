"""ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum F-measures (Lin 2004), as computed by Google's rouge-score package.

In the package, words are runs of a-z and 0-9, and every other character separates them. A text in another script has no
such words and would score 0 against itself, so a reference written mostly in other letters has no score. Accented
letters split words, so in such languages the score can be computed but means less than in English.
"""

import re
import unicodedata
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import chain

from agent.metrics.spec import MetricSpec, MetricUse, Options
from agent.vocabulary import Instance, Reason, Scoring, Unscored

_MAX_WORDS = 50_000  # words whose stems are cached

_Words = tuple[str, ...]  # the words of a line or of a whole text


class _Tokenizer:
    """The package's tokenizer with a cache of stems, because stemming takes most of the time."""

    def __init__(self, stemmer: bool) -> None:
        from rouge_score.tokenizers import (  # imports nltk and numpy, half a second of CPU
            porter,
            tokenize,
        )

        self._split = tokenize.tokenize
        self._stemmer = (
            _Stems(lru_cache(_MAX_WORDS)(porter.PorterStemmer().stem)) if stemmer else None
        )

    def tokenize(self, text: str) -> list[str]:
        words: list[str] = self._split(text, self._stemmer)
        return words


@dataclass(frozen=True, slots=True)
class _Stems:
    stem: Callable[[str], str]


@cache
def _load_words(stemmer: bool) -> _Tokenizer:
    return _Tokenizer(stemmer)


@lru_cache(8)
def _split_words(text: str, stemmer: bool) -> _Words:
    """Return a text's words. They are cached because the metrics of one answer use the same words in succession."""
    return tuple(_load_words(stemmer).tokenize(text))


def _split_lines(text: str, stemmer: bool) -> list[_Words]:
    words = _load_words(stemmer)
    return [tuple(words.tokenize(line)) for line in text.split("\n") if line]


def compute_f_measure(gold: str, predicted: str, rouge_type: str, *, stemmer: bool) -> float:
    """Return the F-measure of one pair of texts, 0 to 1; `rouge_type` is rouge1, rouge2, rougeL or rougeLsum.

    ROUGE-Lsum treats each line as a sentence, as the package does.
    """
    if rouge_type == "rougeLsum":
        return _compute_rouge_l_sum(_split_lines(gold, stemmer), _split_lines(predicted, stemmer))
    gold_words = _split_words(gold, stemmer)
    predicted_words = _split_words(predicted, stemmer)
    if rouge_type == "rougeL":
        return _compute_rouge_l(gold_words, predicted_words)
    return _compute_rouge_n(gold_words, predicted_words, n=int(rouge_type.removeprefix("rouge")))


def _compute_rouge_n(gold: Sequence[str], predicted: Sequence[str], n: int) -> float:
    gold_grams = _count_grams(gold, n)
    predicted_grams = _count_grams(predicted, n)
    common = (gold_grams & predicted_grams).total()
    return _combine(common, max(predicted_grams.total(), 1), max(gold_grams.total(), 1))


def _count_grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    shifted = [words[start:] for start in range(n)]
    return Counter(zip(*shifted, strict=False))


def _combine(common: int, predicted: int, gold: int) -> float:
    """Return the F-measure of common / predicted and common / gold, equal to the package's to the last digit."""
    precision = common / predicted
    recall = common / gold
    if precision + recall > 0:
        return 2 * precision * recall / (precision + recall)
    return 0.0


def _compute_rouge_l(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Return the package's score, equal to the last digit, without its quadratic table."""
    common = _measure_longest_common(gold, predicted)
    return _combine(common, len(predicted), len(gold)) if common else 0.0


def _compute_rouge_l_sum(gold: list[_Words], predicted: list[_Words]) -> float:
    """Return ROUGE-Lsum as the package computes it: each line of the reference is compared with every predicted line.

    Words are common if they are in the reference line's longest common subsequence with any predicted line. A word
    counts at most as often as it occurs in each of the two texts (as in version 1.5.5 of the original program).
    """
    gold_words = Counter(chain.from_iterable(gold))
    predicted_words = Counter(chain.from_iterable(predicted))
    if not gold_words or not predicted_words:
        return 0.0

    # Each distinct line is compared once: a text may repeat a line a thousand times.
    predicted_lines = set(predicted)
    shared_words = {line: _find_shared_words(line, predicted_lines) for line in set(gold)}

    common = 0
    unmatched_gold, unmatched_predicted = gold_words.copy(), predicted_words.copy()
    for line in gold:
        for word in shared_words[line]:
            if unmatched_gold[word] > 0 and unmatched_predicted[word] > 0:
                common += 1
                unmatched_gold[word] -= 1
                unmatched_predicted[word] -= 1
    return _combine(common, predicted_words.total(), gold_words.total())


def _find_shared_words(line: _Words, predicted_lines: Iterable[_Words]) -> list[str]:
    """Return the words of a line that are in its longest common subsequence with at least one predicted line."""
    words = set(line)
    indices: set[int] = set()
    for predicted_line in predicted_lines:
        if not words.isdisjoint(predicted_line):  # most lines share no words, and need no table
            indices |= _find_common_indices(line, predicted_line)
    return [line[index] for index in sorted(indices)]


def _find_common_indices(gold: Sequence[str], predicted: Sequence[str]) -> set[int]:
    """Return the indices in `gold` of the longest common subsequence; ties are broken as in the package."""
    rows = list(_build_rows(gold, predicted))

    def measure(i: int, j: int) -> int:
        """Return the length for the first i words of `gold` and the first j of `predicted`."""
        return i - (rows[j] & ((1 << i) - 1)).bit_count()

    # The package walks back through its table from the last words of both texts, which breaks ties the same way.
    indices: set[int] = set()
    i, j = len(gold), len(predicted)
    while i > 0 and j > 0:
        if gold[i - 1] == predicted[j - 1]:
            indices.add(i - 1)
            i -= 1
            j -= 1
        elif measure(i, j - 1) > measure(i - 1, j):
            j -= 1
        else:
            i -= 1
    return indices


def _build_rows(gold: Sequence[str], predicted: Sequence[str]) -> Iterator[int]:
    """Yield the rows of the table of longest common subsequences, each as the bits of one number (Hyyrö 2004).

    In row j, bit i is 0 if word i of `gold` lengthens the common subsequence with the first j words of `predicted`.
    """
    bits_of_word: dict[str, int] = {}
    for index, word in enumerate(gold):
        bits_of_word[word] = bits_of_word.get(word, 0) | 1 << index
    all_bits = (1 << len(gold)) - 1
    row = all_bits
    yield row
    for word in predicted:
        matches = row & bits_of_word.get(word, 0)
        row = ((row + matches) | (row - matches)) & all_bits
        yield row


def _measure_longest_common(gold: Sequence[str], predicted: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    last_row = deque(_build_rows(gold, predicted), maxlen=1)[0]
    return len(gold) - last_row.bit_count()


def can_compare(gold: str, rouge_type: str) -> bool:
    """Return whether the package's words cover most letters of a reference; ROUGE-2 needs at least two words."""
    words = re.findall(r"[a-z0-9]+", gold.lower())
    if len(words) < (2 if rouge_type == "rouge2" else 1):
        return False
    readable_letters = sum(len(word) for word in words)
    all_letters = sum(unicodedata.category(character)[0] in "LN" for character in gold)
    return 2 * readable_letters >= all_letters


@dataclass(frozen=True, slots=True)
class RougeComparison:
    """One answer and its references. All values are plain, so that they can be sent to a worker."""

    rouge_type: str
    stemmer: bool
    golds: tuple[str, ...]
    answer: str

    def compute_best(self) -> float:
        """Return the F-measure with the most similar reference."""
        return max(
            compute_f_measure(gold, self.answer, self.rouge_type, stemmer=self.stemmer)
            for gold in self.golds
        )


def build_comparison(
    use: MetricUse, answer: str, instance: Instance, rules: Scoring
) -> RougeComparison | Unscored:
    """Return the comparison of an answer with its references.

    HELM always stems, and takes the maximum over all references, even incorrect ones and those in any script.
    """
    rouge_type = TYPES[use.name]
    stemmer = rules == "helm" or bool(use.options.get("stemmer", True))
    golds: list[str] = []
    for reference in instance.references:
        if rules == "helm" or (reference.correct and can_compare(reference.text, rouge_type)):
            golds.append(reference.text)
    if not golds:
        return Unscored(Reason.NO_REFERENCE)
    return RougeComparison(rouge_type, stemmer, tuple(golds), answer)


def _score(
    name: str, rules: Scoring, answer: str, instance: Instance, options: Options
) -> float | Unscored:
    comparison = build_comparison(MetricUse(name, options), answer, instance, rules)
    if isinstance(comparison, Unscored):
        return comparison
    return comparison.compute_best()


def _make_spec(name: str, display_name: str, doc: str) -> MetricSpec:
    return MetricSpec(
        name,
        display_name,
        0,
        1,
        False,
        doc,
        fn=partial(_score, name, "intramural"),
        helm_fn=partial(_score, name, "helm"),
        options={"stemmer": True},
        later=True,
    )


TYPES = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL", "rouge_lsum": "rougeLsum"}
"""The package's names for our metrics."""

SPECS = (
    _make_spec("rouge_1", "ROUGE-1", "Overlap of single words with the reference, F-measure."),
    _make_spec("rouge_2", "ROUGE-2", "Overlap of word pairs with the reference, F-measure."),
    _make_spec(
        "rouge_l", "ROUGE-L", "Longest common sequence of words with the reference, F-measure."
    ),
    _make_spec(
        "rouge_lsum", "ROUGE-Lsum", "Longest common sequences of words, line by line, F-measure."
    ),
)
