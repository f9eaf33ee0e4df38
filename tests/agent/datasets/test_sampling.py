"""`--max-eval-instances` takes the very instances that HELM takes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.datasets.sampling import sample


def test_ten_of_a_thousand_are_helms_ten():
    # numpy.random.seed(0); numpy.random.choice(1000, 10, replace=False)
    assert sample(range(1000), 10) == [993, 859, 298, 553, 672, 971, 27, 231, 306, 706]


@pytest.mark.parametrize("seed", [0, 1, 42, 2**32 - 1])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (500, 100), (1047, 1000), (4183, 1000)])
def test_the_same_as_numpys_legacy_generator(n, k, seed):
    np.random.seed(seed)
    assert sample(range(n), k, seed) == list(np.random.choice(n, k, replace=False))


@given(st.integers(1, 300), st.integers(1, 300))
def test_never_an_instance_twice_and_never_more_than_asked(n, k):
    taken = sample(range(n), k)
    assert len(taken) == len(set(taken)) == min(n, k)
    if n <= k:
        assert taken == list(range(n))  # all, and in dataset order


def test_no_limit_takes_all():
    assert sample("abc", None) == ["a", "b", "c"]
