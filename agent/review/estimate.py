"""How much of a site's identifiers redaction finds, by its reviews: recall with its interval. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.statistics.intervals import Mean, estimate_mean
from agent.store import ReviewedText


@dataclass(frozen=True, slots=True)
class Estimate:
    """Figures of one kind of identifier, or of all ("all").

    Attributes:
        recall: of the identifiers that reviewers saw, the share that was found whole. Records are the units.
        found, missed: behind it.
        wrong: marks on what identifies nobody.
    """

    entity: str
    found: int
    missed: int
    wrong: int
    recall: Mean


def estimates(texts: Sequence[ReviewedText]) -> list[Estimate]:
    """Return the figures of all kinds together, then of each."""
    kinds = sorted({kind for text in texts for kind in text.figures or ()})
    return [_estimate(texts, "all", kinds), *(_estimate(texts, kind, [kind]) for kind in kinds)]


def _estimate(texts: Sequence[ReviewedText], name: str, kinds: Sequence[str]) -> Estimate:
    pairs: list[tuple[bytes, float]] = []
    wrong = 0
    for text in texts:
        unit = text.record.to_bytes(8, "big")
        for kind in kinds:
            right, missed, falsely = (text.figures or {}).get(kind, (0, 0, 0))
            pairs += [(unit, 1.0)] * right + [(unit, 0.0)] * missed
            wrong += falsely
    missed = sum(1 for _, hit in pairs if not hit)
    return Estimate(name, len(pairs) - missed, missed, wrong, estimate_mean(pairs, binary=True))
