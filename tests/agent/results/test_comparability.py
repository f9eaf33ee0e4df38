"""What two results must share to be compared."""

from dataclasses import replace

import pytest

from agent.results.leaderboard import OTHER_PARTS
from agent.results.summarize import compare_summaries
from tests.agent.results.run_summaries import of


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"scoring": "helm"}, "other scoring rules"),
        ({"agent_version": "0.0.1"}, "other scoring rules"),
        ({"reading_version": 7}, "other scoring rules"),
        (
            {"parser": {"kind": "json", "field": "answer", "pattern": ""}},
            "another parser of answers",
        ),
        (
            {"parser": {"kind": "pattern", "field": "", "pattern": "B"}},
            "another parser of answers",
        ),
        ({"benchmark_digest": "e"}, "another definition of the benchmark"),
        ({"sampled": 50}, "another sample"),
        ({"answer_mode": "constrained"}, "another way of asking"),
        ({"answer_mode": "logprob"}, "another way of asking"),
        (
            {"metrics": [{"name": "m", "options": {"encoder": "sha256:e"}}]},
            "another encoder or other options of the metric",
        ),
        (
            {"metrics": [{"name": "m", "options": {"code": "sha256:e"}}]},
            "other code of the site's own metric",
        ),
        ({"data": {"known": "sample", "digest": "d", "instances": 100}}, "another kind of data"),
        ({"data": {"known": "official", "digest": "e", "instances": 100}}, OTHER_PARTS),
        ({"arguments": {"condition": "homelessness"}}, OTHER_PARTS),
        ({"origin": {"kind": "helm-leaderboard"}}, "made elsewhere"),
    ],
)
def test_results_of_two_kinds_are_not_compared_and_the_reader_is_told_why(
    change: dict[str, object], why: str
):
    one, other = of("a", 0.9, {}), of("b", 0.1, {}, **change)
    found = compare_summaries([one, other])
    assert (found.rates, found.columns, found.left_out) == ({"a": None, "b": None}, 0, {why: 2})
    again = of("c", 0.2, {}, **change)
    assert compare_summaries([one, other, again]).rates == {"a": None, "b": 0.0, "c": 1.0}


def test_a_limit_above_the_data_chooses_nothing_and_lengths_of_answers_are_the_models_own():
    one, other = of("a", 0.9, {}), of("b", 0.1, {}, sampled=100, sample_seed=7, max_tokens=4000)
    assert compare_summaries([one, other]).rates == {"a": 1.0, "b": 0.0}
    long = replace(other, run=replace(other.run, name="x:model=b,num_output_tokens=4000"))
    assert compare_summaries([one, long]).rates == {"a": 1.0, "b": 0.0}
    whole = of("b", 0.1, {}, parser={"kind": "option_letter", "field": "", "pattern": ""})
    assert compare_summaries([one, whole]).rates == {"a": 1.0, "b": 0.0}
    named = replace(other, run=replace(other.run, name="x:model=b,answer_mode=generate"))
    assert compare_summaries([one, named]).rates == {"a": 1.0, "b": 0.0}
    told = replace(other, run=replace(other.run, name="x:model=b,instructions=none"))
    assert compare_summaries([one, told]).rates == {"a": None, "b": None}
