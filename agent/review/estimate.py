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


FEW_IDENTIFIERS = 100  # fewer are too few for a reliable estimate


@dataclass(frozen=True, slots=True)
class ReviewSummary:
    """The result of a sample as far as it is reviewed.

    Attributes:
        estimates: for all kinds together, then for each kind.
        texts: number of texts in the sample.
        reviewed: number of them that are reviewed.
        records: number of records with a reviewed text.
        identifiers: number of identifiers in the reviewed texts.
    """

    estimates: tuple[Estimate, ...]
    texts: int
    reviewed: int
    records: int
    identifiers: int

    @property
    def is_reliable(self) -> bool:
        """Whether there are enough identifiers for a reliable estimate."""
        return self.identifiers >= FEW_IDENTIFIERS


def summarize_review(texts: Sequence[ReviewedText]) -> ReviewSummary:
    """Return the result of a sample. Without any reviewed text it has no estimates."""
    reviewed = [text for text in texts if text.figures is not None]
    identifiers = 0
    for text in reviewed:
        for rightly_found, missed, _ in (text.figures or {}).values():
            identifiers += rightly_found + missed
    return ReviewSummary(
        estimates=tuple(estimate_recall(reviewed)) if reviewed else (),
        texts=len(texts),
        reviewed=len(reviewed),
        records=len({text.record for text in reviewed}),
        identifiers=identifiers,
    )


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
