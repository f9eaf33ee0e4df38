"""Noise: as promised, the same for the same scores, and telling of no single score."""

import math

import pytest

from agent.disclosure.perturbation import draw_noise, perturb_sums
from protocol.policy import bucket_range, grid_step
from tests.agent.disclosure.gated_cards import ROUGE, ROUGE_CARD
from tests.agent.disclosure.ward import (
    SECRETS,
    finding,
    gate_says,
    right,
)
from tests.protocol import world


def test_the_same_scores_get_the_same_noise_whoever_asks() -> None:
    """Asking again, by another scorecard, averages nothing away; what differs in any way has a draw of its own."""
    shares = {f"person {i}": float(i % 3 == 0) for i in range(100)}
    key, figure = SECRETS.perturbation, ("model", "dataset", "exact_match")
    draw = draw_noise(shares, 2, key, figure)
    assert draw == draw_noise(dict(reversed(shares.items())), 2, key, figure)
    assert draw != draw_noise({**shares, "person 1": 1.0}, 2, key, figure)
    assert draw != draw_noise(shares, 2, bytes(32), figure)
    assert draw != draw_noise(shares, 2, key, ("other model", "dataset", "exact_match"))
    sums = perturb_sums(shares, world.STRICT, key, figure)
    assert sums.total == pytest.approx(34 + 2 * draw)


def test_a_spread_does_not_betray_that_one_score_lies_between_0_and_1() -> None:
    """All others are 0 or 1. With one draw for both sums, a spread that does not fit the value would say: not she."""
    policy = world.STRICT
    did_not_fit = {0.0: 0, 0.5: 0}
    for target in did_not_fit:
        for count in range(70, 110):
            release = gate_says(
                [finding("ward", "rouge_l", [*right(count, 199), target])],
                card=ROUGE_CARD,
                policy=policy,
            )
            value, spread = release.cells[ROUGE], release.spreads[ROUGE]
            step = grid_step(bucket_range(release.groups["ward"])[0], policy)
            rates = [(value + step * (place / 200 - 0.5)) / 1000 for place in range(201)]
            did_not_fit[target] += spread not in {
                round(50 * math.sqrt(rate * (1 - rate))) for rate in rates
            }
    assert (
        min(did_not_fit.values()) > 5
    )  # whatever the target's score is, the spread often does not fit


def test_noise_has_the_distribution_that_is_promised() -> None:
    draws = [draw_noise({"p": i / 7}, 2, SECRETS.perturbation, ()) for i in range(4000)]
    assert abs(sum(draws) / len(draws)) < 0.1
    assert sum(abs(draw) for draw in draws) / len(draws) == pytest.approx(1, abs=0.06)
    assert sum(abs(draw) < 3 for draw in draws) / len(draws) == pytest.approx(0.95, abs=0.015)
