"""Compare two engines on the same texts, by the texts in which they leave no identifier. Pure.

Each engine succeeds or fails on each text with identifiers, so the texts are pairs and McNemar's exact test applies: it
considers only the texts in which one engine succeeds and the other does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.redaction.measuring.measures import ComparedText
from agent.statistics.paired import Pair, estimate_paired_difference


@dataclass(frozen=True, slots=True)
class EngineComparison:
    """The comparison of two engines on the texts with identifiers.

    Attributes:
        both, only_a, only_b, neither: numbers of texts that both engines, one of them, or none leaves clean.
        difference: share of clean texts with the first engine minus that with the second; None without texts.
        low, high: its 95 % interval (Newcombe 1998).
        p: two-sided p value of McNemar's exact test; None without texts.
    """

    both: int
    only_a: int
    only_b: int
    neither: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None

    @property
    def texts(self) -> int:
        """The number of texts with identifiers."""
        return self.both + self.only_a + self.only_b + self.neither


def compare_clean_texts(a: Sequence[ComparedText], b: Sequence[ComparedText]) -> EngineComparison:
    """Compare the texts that two engines leave clean; both sequences are of the same texts."""
    pairs: list[Pair] = []
    both = 0
    for number, (text_a, text_b) in enumerate(zip(a, b, strict=True)):
        if text_a.has_identifiers:
            pairs.append(Pair(number, float(text_a.is_clean), float(text_b.is_clean)))
            both += text_a.is_clean and text_b.is_clean
    estimate = estimate_paired_difference(pairs, binary=True, reach=1.0)
    only_a, only_b = estimate.better_a, estimate.better_b
    return EngineComparison(
        both=both,
        only_a=only_a,
        only_b=only_b,
        neither=len(pairs) - both - only_a - only_b,
        difference=estimate.value,
        low=estimate.low,
        high=estimate.high,
        p=estimate.exact_p,
    )
