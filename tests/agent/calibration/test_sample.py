"""The answers that clinicians are shown: an even share of each model, and as many patients as there are."""

from collections import Counter
from random import Random

import pytest

from agent.calibration.sample import SampleCandidate, choose_answers, make_codes


def answers(run: str, count: int, units: int) -> list[SampleCandidate]:
    return [
        SampleCandidate(run, n, b"unit %d" % (n % units), b"instance %d" % n) for n in range(count)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_models_have_even_shares_and_one_with_few_answers_gives_all_of_them(seed: int):
    found = choose_answers(
        {"a": answers("a", 20, 20), "b": answers("b", 20, 20), "c": []}, 9, Random(seed)
    )
    assert sorted(Counter(one.run_id for one in found).values()) == [4, 5]
    found = choose_answers({"a": answers("a", 20, 20), "b": answers("b", 2, 2)}, 10, Random(seed))
    assert Counter(one.run_id for one in found) == {"a": 8, "b": 2}


@pytest.mark.parametrize("seed", range(5))
def test_a_patient_comes_again_only_when_no_other_is_left_and_no_answer_comes_twice(seed: int):
    given = {"a": answers("a", 12, 6), "b": answers("b", 12, 6)}
    assert len({one.unit for one in choose_answers(given, 6, Random(seed))}) == 6
    instances = [one.instance for one in choose_answers({"a": given["a"]}, 12, Random(seed))]
    assert len(set(instances)) == 12
    assert len(choose_answers(given, 100, Random(seed))) == 24


def test_the_same_state_gives_the_same_sample_and_the_same_codes():
    given = {"a": answers("a", 30, 30)}
    assert choose_answers(given, 10, Random(1)) == choose_answers(given, 10, Random(1))
    codes = make_codes(500, Random(1))
    assert codes == make_codes(500, Random(1))
    assert len(set(codes)) == 500
    assert not set("".join(codes)) & set("AEIOU0123456789")
