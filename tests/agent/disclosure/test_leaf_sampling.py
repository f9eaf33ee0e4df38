"""What a sample of leaves excludes: the bound against scipy's hypergeometric distribution, and against guessing."""

from collections import Counter

import pytest
from scipy.stats import beta, hypergeom

from agent.disclosure.leaf_sampling import bound_wrong_leaves, draw_leaves


@pytest.mark.parametrize(
    ("size", "drawn", "wrong"),
    [
        (1, 1, 0),
        (10, 3, 0),
        (60, 60, 0),
        (60, 60, 4),
        (300, 299, 0),
        (1000, 300, 0),
        (1000, 300, 1),
        (1000, 300, 17),
        (1000, 300, 300),
        (12_345, 300, 0),
        (12_345, 300, 2),
        (250_000, 300, 0),
        (250_000, 300, 5),
    ],
)
def test_bound_is_the_largest_number_that_scipy_does_not_exclude(
    size: int, drawn: int, wrong: int
) -> None:
    bound = bound_wrong_leaves(size, drawn, wrong)
    assert wrong <= bound <= size - drawn + wrong
    assert hypergeom.cdf(wrong, size, bound, drawn) > 0.05
    if bound < size - drawn + wrong:
        assert hypergeom.cdf(wrong, size, bound + 1, drawn) <= 0.05


def test_bound_of_many_leaves_is_that_of_clopper_and_pearson_and_near_the_rule_of_three() -> None:
    share = bound_wrong_leaves(10_000_000, 300, 0) / 10_000_000
    assert share == pytest.approx(beta.ppf(0.95, 1, 300), rel=1e-3)
    assert share == pytest.approx(3 / 300, rel=0.01)


@pytest.mark.parametrize("size", [5, 12, 30])
def test_bound_covers_the_truth_in_at_least_95_of_100_samples(size: int) -> None:
    """Counted over all possible outcomes, for every number of wrong leaves and every size of sample."""
    for drawn in range(1, size + 1):
        bounds = [bound_wrong_leaves(size, drawn, wrong) for wrong in range(drawn + 1)]
        for truly_wrong in range(size + 1):
            covered = sum(
                hypergeom.pmf(wrong, size, truly_wrong, drawn)
                for wrong in range(min(drawn, truly_wrong) + 1)
                if truly_wrong <= bounds[wrong]
            )
            assert covered >= 0.95 - 1e-9, (drawn, truly_wrong)


def test_a_sample_of_everything_leaves_no_doubt() -> None:
    assert [bound_wrong_leaves(40, 40, wrong) for wrong in (0, 1, 40)] == [0, 1, 40]


def test_leaves_are_drawn_once_each_and_again_by_the_same_seed() -> None:
    drawn = draw_leaves(1000, 300, "a steward's seed")
    assert drawn == sorted(set(drawn))
    assert len(drawn) == 300
    assert 0 <= drawn[0] < drawn[-1] < 1000
    assert draw_leaves(1000, 300, "a steward's seed") == drawn
    assert draw_leaves(1000, 300, "another seed") != drawn
    assert draw_leaves(7, 300, "a steward's seed") == list(range(7))


def test_every_leaf_is_drawn_as_often_as_any_other() -> None:
    counts = Counter(place for seed in range(2000) for place in draw_leaves(20, 5, str(seed)))
    expected = 2000 * 5 / 20
    chi_squared = sum((counts[place] - expected) ** 2 / expected for place in range(20))
    assert chi_squared < 43.8  # the 99.9 % point of 19 degrees of freedom
