"""Differences of two models, drawn beside each other."""

import pytest

from agent.plots.differences import build_differences_chart
from agent.results.compare_models import compare_models
from agent.results.paired_models import Pairing
from tests.agent.results.pairs import JURY, SHARE, noisy, paired


def test_a_drawing_puts_benchmarks_of_all_scales_beside_each_other():
    jury, rouge = (
        paired("open", JURY, noisy(1, 0.4, 50, 4.0)),
        paired("closed", SHARE, noisy(2, 0.1, 80)),
    )
    tiny = paired("tiny", SHARE, [(1.0, 0.0), (0.0, 0.0), (1.0, 0.1)])
    found = compare_models(Pairing("a", "b", (jury, rouge, tiny), {}))
    (panel,) = build_differences_chart(found, "a", "b").panels
    reach = max(
        abs(end) / r
        for d, r in zip(found.benchmarks, (4, 1), strict=False)
        for end in (d.difference.low, d.difference.high)
    )
    assert panel.ends[1] == f"A better by {reach:.3f}"
    for benchmark, point, scale in zip(found.benchmarks, panel.points, (4, 1, 1), strict=True):
        place = (benchmark.difference.value / scale / reach + 1) / 2
        assert point.value == pytest.approx(min(1.0, place))
        assert 0 <= point.low <= point.value <= point.high <= 1
        assert point.said.startswith(f"{benchmark.difference.value / scale:+.3f} (")
