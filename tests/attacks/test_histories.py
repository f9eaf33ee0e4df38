"""Fifty histories under each policy's turn: nothing is recovered; with one function replaced, outcomes are."""

import random
from collections.abc import Callable, Mapping, Sequence

import pytest

from agent.disclosure import perturbation, precedents
from agent.disclosure.perturbation import draw_noise
from protocol.disclosure import CellSums, release_cell
from protocol.policy import DisclosurePolicy, bucket_of, bucket_range
from tests.attacks.attacker import Knowledge, Likelihood, knowledge_of
from tests.attacks.histories import POLICIES, attack_all, attack_in_parallel
from tests.attacks.hospital import Figure
from tests.attacks.margins import CELL, read_policy

HISTORIES = 50


@pytest.mark.full
@pytest.mark.parametrize("name", POLICIES)
def test_her_model_of_one_figure_is_the_product(name: str) -> None:
    policy = read_policy(name)
    likelihood = Likelihood(policy, 2)
    draw = random.Random(name)
    for units in [11, 22, 40, 100, 150, 600, *(draw.randint(11, 620) for _ in range(20))]:
        bucket = bucket_of(units)
        if bucket_range(bucket)[0] < policy.min_units:
            continue
        pieces = likelihood.pieces(units, bucket, "exact_match")
        near_edges = [piece.low + side for piece in pieces[1:] for side in (-1e-6, 1e-6)]
        totals = [draw.uniform(-20, units + 20) for _ in range(30)]
        for total in [*draw.sample(near_edges, min(12, len(near_edges))), *totals]:
            expected = next(piece.value for piece in pieces if piece.low <= total < piece.high)
            assert release_cell(CELL, CellSums(units, total, total), bucket, policy) == expected


@pytest.mark.full
def test_nothing_is_recovered_and_enough_is_published() -> None:
    outcomes = attack_in_parallel(range(HISTORIES), POLICIES, processes=1)
    assert sum(outcome.histories for outcome in outcomes.values()) == HISTORIES
    for name, outcome in outcomes.items():
        assert outcome.findings.attacked > 5_000
        assert outcome.findings.recovered == 0, (name, outcome.findings.examples)
        assert outcome.findings.certainty < 0.99
        assert not outcome.unsendable, name
        assert outcome.again.value >= 0.2, name
    published = sum(outcome.whole_utility.part for outcome in outcomes.values())
    assert published >= 0.9 * sum(outcome.whole_utility.whole for outcome in outcomes.values())


def recovered(
    seeds: Sequence[int], knows: Callable[[DisclosurePolicy], Knowledge], name: str = "strict"
) -> int:
    policy = read_policy(name)
    return sum(
        attack_all(range(seed, seed + 1), policy, knows(policy)).findings.recovered
        for seed in seeds
    )


@pytest.mark.full
def test_without_noise_every_edge_of_a_rule_gives_outcomes_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def knows(policy: DisclosurePolicy) -> Knowledge:
        known = knowledge_of(policy)
        return Knowledge(0.0, known.context, known.repeats)

    seeds = (0, 1)
    assert recovered(seeds, knowledge_of) == 0
    monkeypatch.setattr(perturbation, "draw_noise", lambda shares, scale, key, figure: 0.0)
    assert recovered(seeds, knows) > 100


@pytest.mark.full
def test_noise_of_scores_alone_tells_that_two_models_differ_in_one_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second registered name of the same weights, with one answer given anew: other figures mean another score."""

    def draw_for_scores(
        shares: Mapping[str, float], scale: int, key: bytes, figure: Sequence[str]
    ) -> float:
        return draw_noise(shares, scale, key, ())

    def knows(policy: DisclosurePolicy) -> Knowledge:
        known = knowledge_of(policy)

        def any_figure(figure: Figure) -> str:
            return ""

        return Knowledge(known.scale, any_figure, known.repeats)

    seeds = (2, 22)
    assert recovered(seeds, knowledge_of) == 0
    monkeypatch.setattr(perturbation, "draw_noise", draw_for_scores)
    assert recovered(seeds, knows) > 0


def test_an_exact_threshold_of_repeats_tells_whether_one_more_answer_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def exact(
        distance: int, policy: DisclosurePolicy, key: bytes, figures: Sequence[object]
    ) -> float:
        return distance

    def knows(policy: DisclosurePolicy) -> Knowledge:
        known = knowledge_of(policy)
        return Knowledge(
            known.scale, known.context, lambda distance: float(distance < policy.changed_units)
        )

    seeds = (3, 6)
    assert recovered(seeds, knowledge_of) == 0
    monkeypatch.setattr(precedents, "perturb_distance", exact)
    assert recovered(seeds, knows) > 0
