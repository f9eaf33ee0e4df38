"""Estimate the share of a site's identifiers that redaction finds, by its reviews: recall with an interval. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.statistics.intervals import Mean, estimate_mean
from agent.store import ReviewedText


@dataclass(frozen=True, slots=True)
class Estimate:
    """Figures of one kind of identifier, or of all ("all").

    Attributes:
        recall: the share of identifiers, by the reviewers, that redaction found whole. Records are the units.
        found, missed: the counts behind it.
        wrong: marks on words that identify no person.
    """

    entity: str
    found: int
    missed: int
    wrong: int
    recall: Mean


def estimate_recall(texts: Sequence[ReviewedText]) -> list[Estimate]:
    """Return the figures of all kinds together, then of each kind."""
    kinds: set[str] = set()
    for text in texts:
        kinds.update(text.figures or ())
    in_order = sorted(kinds)
    estimates = [_estimate_kinds(texts, "all", in_order)]
    for kind in in_order:
        estimates.append(_estimate_kinds(texts, kind, [kind]))
    return estimates


def _estimate_kinds(texts: Sequence[ReviewedText], name: str, kinds: Sequence[str]) -> Estimate:
    outcomes: list[tuple[bytes, float]] = []
    found = missed = wrong = 0
    for text in texts:
        unit = text.record.to_bytes(8, "big")
        for kind in kinds:
            found_here, missed_here, wrong_here = (text.figures or {}).get(kind, (0, 0, 0))
            outcomes += [(unit, 1.0)] * found_here
            outcomes += [(unit, 0.0)] * missed_here
            found += found_here
            missed += missed_here
            wrong += wrong_here
    return Estimate(name, found, missed, wrong, recall=estimate_mean(outcomes, binary=True))
