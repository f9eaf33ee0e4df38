"""Scores of two models on one benchmark, by hand or by chance."""

import numpy as np

from agent.results.paired_instances import PairedBenchmark
from agent.statistics.paired import Pair
from agent.store import KeptMetric

JURY = KeptMetric(name="jury_score", low=1, high=5)
SHARE = KeptMetric(name="rouge_1", low=0, high=1)


def paired(name: str, metric: KeptMetric, scores: list[tuple[float, float]]) -> PairedBenchmark:
    pairs = tuple(Pair(unit, a, b) for unit, (a, b) in enumerate(scores))
    return PairedBenchmark(name, metric, pairs, pairs)


def noisy(seed: int, above: float, n: int, reach: float = 1.0) -> list[tuple[float, float]]:
    draw = np.random.default_rng(seed)
    return [
        (b + above + e, b)
        for b, e in zip(draw.random(n) * reach, draw.normal(0, 0.1 * reach, n), strict=True)
    ]
