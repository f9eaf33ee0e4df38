"""Chart the differences between two models in each benchmark, with zero in the middle of the scale."""

from dataclasses import dataclass

from agent.plots.charts import Chart, Grid, Panel, Point
from agent.results.compare_models import BenchmarkComparison, ModelComparison
from agent.statistics.resampling import MIN_UNITS

MIN_REACH = 0.05  # share of the metric's range; the scale is never narrower, so that small differences look small


def build_differences_chart(comparison: ModelComparison, a: str, b: str) -> Chart:
    """Build one panel whose scale extends equally far to both sides, in shares of the metrics' ranges.

    The scale covers the interval of every benchmark with ten or more units. Wider intervals, and the bounds of unscored
    instances, are cut off at the ends of the scale.
    """
    reach = _find_reach(comparison)
    panel = Panel(
        title="A - B",
        metric="difference of means as a share of each metric's range, cut off at the ends",
        ends=(f"B better by {reach:.3f}", f"A better by {reach:.3f}"),
        points=tuple(_build_point(benchmark, reach) for benchmark in comparison.benchmarks),
    )
    return Chart(f"A is {a}, B is {b}", (panel,), Grid((), (), ()), "difference")


@dataclass(frozen=True, slots=True)
class _Shares:
    """A difference and its interval as shares of the metric's range."""

    value: float | None
    low: float | None
    high: float | None


def _find_reach(comparison: ModelComparison) -> float:
    """Return how far the scale extends to either side."""
    large_enough = [each for each in comparison.benchmarks if each.difference.units >= MIN_UNITS]
    reach = MIN_REACH
    for benchmark in large_enough or comparison.benchmarks:
        shares = _divide_by_range(benchmark)
        for end in (shares.value, shares.low, shares.high):
            if end is not None:
                reach = max(reach, abs(end))
    return reach


def _divide_by_range(benchmark: BenchmarkComparison) -> _Shares:
    difference, width = benchmark.difference, benchmark.scale_width
    return _Shares(
        value=None if difference.value is None else difference.value / width,
        low=None if difference.low is None else difference.low / width,
        high=None if difference.high is None else difference.high / width,
    )


def _build_point(benchmark: BenchmarkComparison, reach: float) -> Point:
    difference, bounds, width = benchmark.difference, benchmark.bounds, benchmark.scale_width

    def place(value: float | None) -> float | None:
        if value is None:
            return None
        return min(1.0, max(0.0, (value / width / reach + 1) / 2))

    least = most = None
    if bounds is not None and bounds.matters:
        least, most = place(bounds.low), place(bounds.high)
    return Point(
        label=benchmark.paired.benchmark,
        value=place(difference.value),
        low=place(difference.low),
        high=place(difference.high),
        least=least,
        most=most,
        said=f"{_describe_shares(_divide_by_range(benchmark))}, n {difference.n}",
        baseline=False,
    )


def _describe_shares(shares: _Shares) -> str:
    if shares.value is None:
        return "none"
    words = f"{shares.value:+.3f}"
    if shares.low is not None and shares.high is not None:
        words += f" ({shares.low:+.3f} to {shares.high:+.3f})"
    return words
