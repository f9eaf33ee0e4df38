"""Estimate the recall of redaction at a site, with an interval, from its reviews. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.statistics.intervals import Mean, estimate_mean
from agent.store import ReviewedText


@dataclass(frozen=True, slots=True)
class Estimate:
    """The recall of redaction for one kind of identifier, or for all kinds together.

    Attributes:
        entity: the kind of identifier, or "all".
        found: identifiers that redaction found completely, according to the reviewers.
        missed: identifiers that redaction missed, wholly or in part.
        wrong: detections of words that do not identify a person.
        recall: the share of identifiers that were found; its interval treats records as units.
    """

    entity: str
    found: int
    missed: int
    wrong: int
    recall: Mean


def estimate_recall(texts: Sequence[ReviewedText]) -> list[Estimate]:
    """Return the estimate for all kinds together, then one for each kind."""
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
