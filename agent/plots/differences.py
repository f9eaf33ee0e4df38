"""What is drawn of two models that meet: their difference in each benchmark, no difference in the middle."""

from agent.plots.charts import Chart, Grid, Panel, Point
from agent.results.compare_models import BenchmarkComparison, ModelComparison
from agent.statistics.resampling import FEWEST_UNITS

FEWEST_REACH = 0.05  # of the metric's range: a smaller difference does not fill the scale


def build_differences_chart(found: ModelComparison, a: str, b: str) -> Chart:
    """Say what to draw: one panel, whose scale reaches as far to A's side as to B's. All as shares of metrics' ranges.

    The scale holds the interval of every benchmark of ten units or more. Wider ones are cut at its ends, and so are
    the bounds of what is unscored.
    """
    told = [duel for duel in found.duels if duel.difference.units >= FEWEST_UNITS] or found.duels
    reach = max([FEWEST_REACH, *(abs(end) for duel in told for end in _ends(duel))])
    points = tuple(_point(duel, reach) for duel in found.duels)
    ends = (f"B better by {reach:.3f}", f"A better by {reach:.3f}")
    panel = Panel(
        "A - B",
        "difference of means as a share of each metric's range, cut at the ends",
        ends,
        points,
    )
    return Chart(f"A is {a}, B is {b}", (panel,), Grid((), (), ()), "difference")


def _range(duel: BenchmarkComparison) -> float:
    return float(duel.paired.metric.high - duel.paired.metric.low)


def _ends(duel: BenchmarkComparison) -> list[float]:
    found = duel.difference
    return [end / _range(duel) for end in (found.value, found.low, found.high) if end is not None]


def _point(duel: BenchmarkComparison, reach: float) -> Point:
    found, bounds = duel.difference, duel.bounds

    def place(value: float | None) -> float | None:
        return None if value is None else min(1.0, max(0.0, (value / _range(duel) / reach + 1) / 2))

    matters = bounds is not None and bounds.matters
    value, low, high = (None if end is None else end / _range(duel) for end in (found.value, found.low, found.high))
    said = "none" if value is None else f"{value:+.3f}"
    if low is not None and high is not None:
        said += f" ({low:+.3f} to {high:+.3f})"
    return Point(
        duel.paired.benchmark,
        *(place(found.value), place(found.low), place(found.high)),
        least=place(bounds.low) if bounds is not None and matters else None,
        most=place(bounds.high) if bounds is not None and matters else None,
        said=f"{said}, n {found.n}",
        baseline=False,
    )
