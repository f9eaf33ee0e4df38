"""ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum F-measures (Lin 2004), as Google's rouge-score package has them.

The package's words are runs of a-z and 0-9; every other character separates them. A text in another script has no
words there and would score 0 against itself, so a reference that is written mostly in other letters has no score. In
languages with accented letters words fall into pieces: the figure can be computed but means less than in English.
"""

import re
import unicodedata
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

from agent.metrics.spec import MetricSpec, MetricUse, Options
from agent.vocabulary import Instance, Reason, Scoring, Unscored

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


@lru_cache(8)
def _tokens(text: str, stemmer: bool) -> tuple[str, ...]:
    """Return a text's words; the metrics of one answer come one after the other and share them."""
    return tuple(_words(stemmer).tokenize(text))


def f_measure(gold: str, predicted: str, rouge_type: str, *, stemmer: bool) -> float:
    """Return the F-measure of one pair of texts, 0 to 1; `rouge_type` is rouge1, rouge2, rougeL or rougeLsum.

    ROUGE-Lsum takes each line for a sentence, as the package does.
    """
    if rouge_type == "rougeLsum":
        lines = ([_words(stemmer).tokenize(line) for line in text.split("\n") if line] for text in (gold, predicted))
        return _rouge_l_sum(*lines)
    words, given = _tokens(gold, stemmer), _tokens(predicted, stemmer)
    if rouge_type == "rougeL":
        return _rouge_l(words, given)
    return _rouge_n(words, given, int(rouge_type.removeprefix("rouge")))


def _rouge_n(gold: Sequence[str], predicted: Sequence[str], n: int) -> float:
    sides = [Counter(zip(*(words[i:] for i in range(n)), strict=False)) for words in (gold, predicted)]
    common = sum(min(count, sides[1][gram]) for gram, count in sides[0].items())
    return _f(common, max(sides[1].total(), 1), max(sides[0].total(), 1))


def _f(common: int, given: int, right: int) -> float:
    """Return the package's figure to the last digit: its F-measure of common / given and common / right."""
    precision, recall = common / given, common / right
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def _rouge_l(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Return the package's figure to the last digit, without its table of words times words."""
    common = _longest_common(gold, predicted)
    return _f(common, len(predicted), len(gold)) if common else 0.0


def _rouge_l_sum(gold: list[list[str]], predicted: list[list[str]]) -> float:
    """Return the package's figure: of each line of the reference, the words it has in sequence with any line given.

    A word counts at most as often as each of the two texts has it (as in version 1.5.5 of the original program).
    """
    right, given = Counter(word for line in gold for word in line), Counter(w for line in predicted for w in line)
    if not right or not given:
        return 0.0
    sizes, hits = (given.total(), right.total()), 0
    others = [(line, frozenset(line)) for line in {tuple(line) for line in predicted}]
    united: dict[tuple[str, ...], list[int]] = {}  # by distinct line: a text may say one a thousand times
    for line in map(tuple, gold):
        if line not in united:
            near = (other for other, words in others if not words.isdisjoint(line))
            united[line] = sorted(set().union(*(_places_in_common(line, other) for other in near)))
        for place in united[line]:
            word = line[place]
            if given[word] > 0 and right[word] > 0:
                hits += 1
                given[word] -= 1
                right[word] -= 1
    return _f(hits, *sizes)


def _places_in_common(a: Sequence[str], b: Sequence[str]) -> set[int]:
    """Return where in `a` the longest common subsequence lies that the package takes, of several as long."""
    rows = list(_rows(a, b))

    def longest(i: int, j: int) -> int:
        """Of the first i words of `a` and the first j of `b`."""
        return i - (rows[j] & ((1 << i) - 1)).bit_count()

    i, j, found = len(a), len(b), set()
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            found.add(i - 1)
            i, j = i - 1, j - 1
        elif longest(i, j - 1) > longest(i - 1, j):
            j -= 1
        else:
            i -= 1
    return found


def _rows(a: Sequence[str], b: Sequence[str]) -> Iterator[int]:
    """Yield the rows of the table of longest common subsequences, each at once as the bits of one number (Hyyrö 2004).

    In row j, bit i is 0 where word i of `a` makes the sequence with the first j words of `b` longer by one.
    """
    places: dict[str, int] = {}
    for index, word in enumerate(a):
        places[word] = places.get(word, 0) | 1 << index
    full = (1 << len(a)) - 1
    row = full
    yield row
    for word in b:
        hits = row & places.get(word, 0)
        row = ((row + hits) | (row - hits)) & full
        yield row


def _longest_common(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence."""
    row = deque(_rows(a, b), maxlen=1)[0]
    return len(a) - row.bit_count()


def can_compare(gold: str, rouge_type: str) -> bool:
    """Tell whether the package sees in a reference what it is to count: words, for ROUGE-2 a pair of them."""
    words = re.findall(r"[a-z0-9]+", gold.lower())
    letters = sum(unicodedata.category(c)[0] in "LN" for c in gold)
    return len(words) >= (2 if rouge_type == "rouge2" else 1) and 2 * sum(map(len, words)) >= letters


@dataclass(frozen=True, slots=True)
class RougeComparison:
    """One answer and what it is compared with. Plain values, for another process to compute."""

    rouge_type: str
    stemmer: bool
    golds: tuple[str, ...]
    answer: str

    def best(self) -> float:
        """Return the F-measure with the reference that is most like the answer."""
        return max(f_measure(gold, self.answer, self.rouge_type, stemmer=self.stemmer) for gold in self.golds)


def comparison(use: MetricUse, answer: str, instance: Instance, rules: Scoring) -> RougeComparison | Unscored:
    """Return what is compared.

    Upstream stems always, and takes the best over all references, also those marked incorrect, in any script.
    """
    kind = TYPES[use.name]
    if rules == "helm":
        stemmer, golds = True, tuple(one.text for one in instance.references)
    else:
        stemmer = bool(use.options.get("stemmer", True))
        golds = tuple(one.text for one in instance.references if one.correct and can_compare(one.text, kind))
    return RougeComparison(kind, stemmer, golds, answer) if golds else Unscored(Reason.NO_REFERENCE)


def _score(name: str, rules: Scoring, answer: str, instance: Instance, options: Options) -> float | Unscored:
    compared = comparison(MetricUse(name, options), answer, instance, rules)
    return compared if isinstance(compared, Unscored) else compared.best()


def _metric(name: str, display_name: str, doc: str) -> MetricSpec:
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
"""The package's names."""

SPECS = (
    _metric("rouge_1", "ROUGE-1", "Overlap of single words with the reference, F-measure."),
    _metric("rouge_2", "ROUGE-2", "Overlap of word pairs with the reference, F-measure."),
    _metric("rouge_l", "ROUGE-L", "Longest common sequence of words with the reference, F-measure."),
    _metric("rouge_lsum", "ROUGE-Lsum", "Longest common sequences of words, line by line, F-measure."),
)
