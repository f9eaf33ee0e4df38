"""Remarks on the comparison of two models in one benchmark, for the reader of its numbers."""

from collections import Counter
from collections.abc import Mapping

from agent.results.compare_models import BenchmarkComparison
from agent.statistics.paired import MeanDifference


def format_p(value: float | None) -> str | None:
    """Return a p value as text, "<0.001" for smaller ones; None if there is none."""
    if value is None:
        return None
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def list_remarks(comparison: BenchmarkComparison) -> list[str]:
    """Return remarks on one benchmark's row for the reader of the table."""
    paired = comparison.paired
    side_a, side_b = paired.side_a, paired.side_b
    remarks: list[str] = []
    unscored = [_describe_unscored("A", side_a.unscored), _describe_unscored("B", side_b.unscored)]
    if any(unscored):
        remarks.append(f"unscored {' and '.join(filter(None, unscored))}")
    if side_a.inapplicable or side_b.inapplicable:
        remarks.append(
            f"left out as not applicable: {side_a.inapplicable} of A, {side_b.inapplicable} of B"
        )
    if side_a.seats_empty or side_b.seats_empty:
        remarks.append(
            f"lacking a judge's verdict: {side_a.seats_empty} answers of A and {side_b.seats_empty} of B, of "
            f"{paired.scored}; each pair of answers is compared on the judges that graded both"
        )
    at_floor, bounds, without_family = (
        comparison.at_floor,
        comparison.bounds,
        comparison.without_family,
    )
    if at_floor is not None and at_floor.value is not None:
        remarks.append(
            f"A - B is {_format_difference(at_floor)} if answers left unscored by a model count as the lowest"
        )
    if bounds is not None and bounds.matters:
        remarks.append(
            f"depending on the true scores of unscored answers, A - B is {bounds.low:.3f} to {bounds.high:.3f}"
        )
    if side_a.only or side_b.only:
        remarks.append(f"asked of one model only: {side_a.only} of A, {side_b.only} of B")
    if side_a.family:
        remarks.append(f"judges of A's own family: {', '.join(side_a.family)}")
    if side_b.family:
        remarks.append(f"judges of B's own family: {', '.join(side_b.family)}")
    if without_family is not None and without_family.value is not None:
        remarks.append(
            f"without judges of either family A - B is {_format_difference(without_family)}, n {without_family.n}"
        )
    if paired.passed_over:
        remarks.append(
            f"only the last run of each model counts; earlier runs left out: {paired.passed_over}"
        )
    if paired.other_ways:
        remarks.append(
            f"left out, because asked in another way: the runs with answer_mode={' and '.join(paired.other_ways)}; "
            "put them into a suite of their own to compare them"
        )
    return remarks


def _describe_unscored(model: str, reasons: Mapping[str, int]) -> str:
    """Return the number of a model's unscored instances with their reasons; "" if all have a score."""
    if not reasons:
        return ""
    counts = ", ".join(f"{count} {reason}" for reason, count in Counter(reasons).most_common())
    return f"{sum(reasons.values())} of {model} ({counts})"


def _format_difference(difference: MeanDifference) -> str:
    interval = "" if difference.low is None else f" ({difference.low:.3f} to {difference.high:.3f})"
    return f"{difference.value:.3f}{interval}"
