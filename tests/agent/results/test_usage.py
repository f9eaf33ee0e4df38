"""What a run cost: sums, rates and amounts, and nothing where nobody knows."""

from dataclasses import replace

import pytest

from agent.catalog.deployments import Prices
from agent.results.usage import (
    Cost,
    compute_cost,
    describe_usage,
    format_cost,
    format_duration,
    format_total_cost,
)
from agent.store import Usage

USAGE = Usage(
    answers=1000,
    prompt_tokens=2_000_000,
    completion_tokens=500_000,
    uncounted=0,
    attempts=1012,
    shortened=0,
    left_out_tokens=0,
    answer_seconds=4000.0,
    asked_seconds=1800.0,
)
BOTH = Prices("EUR", 0.5, 2.0, gpu_hour_rate=3.0, gpus=4)


def test_all_that_is_known_is_said():
    first, money = describe_usage(USAGE, BOTH, all_asked_now=True)
    assert first == (
        "1,000 answers, 1,012 requests (12 retries), 2,000,000 tokens in, 500,000 tokens out, 30 min 0 s spent asking,"
        " 277.8 tokens/s out"
    )
    assert (
        money == "cost: 2.00 EUR by tokens, 6.00 EUR by GPU hours"
    )  # 2 * 0.5 + 0.5 * 2; 0.5 h * 4 * 3


def test_requests_that_rate_the_texts_of_options_are_no_retries():
    (line,) = describe_usage(USAGE, None, all_asked_now=False, answer_mode="logprob_text")
    assert line.startswith("1,000 answers, 1,012 requests, 2,000,000 tokens in")


def test_without_prices_no_cost_is_named():
    assert not any("cost" in line for line in describe_usage(USAGE, None, all_asked_now=True))


def test_tokens_that_were_not_counted_leave_the_cost_by_tokens_unknown():
    lines = describe_usage(replace(USAGE, uncounted=3), BOTH, all_asked_now=True)
    assert "tokens/s" not in lines[0]
    assert "did not count, not in the totals: 3" in lines[1]
    assert lines[2] == "cost: 6.00 EUR by GPU hours; tokens unknown, because some were not counted"
    only_tokens = describe_usage(
        replace(USAGE, uncounted=3), Prices("EUR", 0.5, 2.0), all_asked_now=True
    )
    assert only_tokens[2] == "cost: tokens unknown, because some were not counted"


def test_answers_that_were_there_before_give_no_rate():
    assert "tokens/s" not in describe_usage(USAGE, None, all_asked_now=False)[0]


def test_shortened_prompts_are_told():
    lines = describe_usage(
        replace(USAGE, shortened=34, left_out_tokens=120_000), None, all_asked_now=True
    )
    assert lines[1] == "prompts shortened to fit: 34, by 120,000 tokens in total"


def test_a_run_without_answers_says_nothing():
    assert describe_usage(replace(USAGE, answers=0), BOTH, all_asked_now=True) == []


def test_a_price_that_is_not_given_is_not_zero():
    assert (
        compute_cost(
            Prices("EUR", gpu_hour_rate=1.0, gpus=1),
            prompt_tokens=1,
            completion_tokens=1,
            seconds=None,
        ).tokens
        is None
    )
    found = compute_cost(Prices("USD", 0.0, 0.0), prompt_tokens=1, completion_tokens=1, seconds=1)
    assert (found.tokens, found.gpu_hours) == (0.0, None)
    assert (
        compute_cost(
            Prices("USD", 1.0, 1.0), prompt_tokens=None, completion_tokens=1, seconds=1
        ).tokens
        is None
    )


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.04, "0.0 s"), (59.9, "59.9 s"), (200, "3 min 20 s"), (18_720, "5 h 12 min")],
)
def test_durations(seconds, said):
    assert format_duration(seconds) == said


@pytest.mark.parametrize(
    ("tokens", "said"),
    [(1_000_000, "1.50"), (100_000, "0.1500"), (23, "0.000034"), (1, "0.0000015"), (0, "0.00")],
)
def test_a_small_cost_has_digits_that_say_something(tokens: int, said: str):
    found = compute_cost(
        Prices("EUR", 1.5, 0.0), prompt_tokens=tokens, completion_tokens=0, seconds=None
    )
    assert format_cost(found) == f"{said} EUR by tokens"


def test_several_runs_cost_a_total_only_where_it_is_known_of_each_alike():
    euro, more = Cost("EUR", 1.0, 2.0), Cost("EUR", 0.5, None)
    assert format_total_cost([euro, euro]) == "2.00 EUR by tokens, 4.00 EUR by GPU hours"
    assert format_total_cost([more, more, more]) == "1.50 EUR by tokens"
    for other in (more, None, Cost("USD", 1.0, 2.0)):
        assert format_total_cost([euro, other]) == ""
