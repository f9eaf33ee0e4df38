"""Estimates of a run's requests, tokens, time and cost, which name their basis."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.catalog.deployments import Prices
from agent.runs.forecast.cost import (
    Pace,
    PromptSize,
    apply_seen,
    describe_forecast,
    describe_total,
    estimate_seconds,
    forecast,
    measure_prompt,
)
from agent.runs.forecast.seen import SeenAnswers
from agent.statistics.prediction import Range
from agent.store import AnswerSize
from agent.vocabulary import Instance, Message, Reference, Shortenable

PLAIN = {"max_tokens": 16, "budget": None, "can_shorten": True, "thinks": False}


def prompt(characters: int, fixed: int | None = None, answer: int | None = 1) -> PromptSize:
    return PromptSize(characters, characters, characters if fixed is None else fixed, answer)


def test_without_counts_a_token_is_four_characters_and_that_is_said():
    found = forecast([prompt(400)] * 10, {}, **PLAIN)
    assert (found.requests, found.prompt_tokens, found.answer_most) == (10, 1000, 160)
    assert "not counted; assuming 4 characters per token" in describe_forecast(found, None, None)[0]


def test_counts_of_a_sample_stand_for_the_rest():
    found = forecast([prompt(400)] * 10, {0: 200, 5: 200}, **PLAIN)
    assert (found.prompt_tokens, found.counted) == (2000, 2)


def test_a_text_without_latin_letters_is_not_taken_for_more_tokens_than_bytes():
    instance = Instance(
        "1", "1", (Message("user", "äöü"),), (), shortenable=Shortenable(0, 0, 2, "start")
    )
    assert measure_prompt(instance) == PromptSize(3, 6, 1, None)


def test_prompts_that_do_not_fit_are_shortened_or_left_out():
    sizes = [prompt(400), prompt(4000, fixed=100), prompt(4000), prompt(4000, fixed=3000)]
    found = forecast(sizes, {}, **{**PLAIN, "budget": 500})
    assert (found.requests, found.shortened, found.not_fitting) == (2, 1, 2)
    assert found.prompt_tokens == 100 + 500
    uncountable = forecast(sizes, {}, **{**PLAIN, "budget": 500, "can_shorten": False})
    assert (uncountable.shortened, uncountable.not_fitting) == (0, 3)


def test_where_nobody_counts_what_may_be_above_a_limit_is_not_asked():
    found = forecast(
        [prompt(400), prompt(600)], {}, **{**PLAIN, "can_shorten": False}, byte_limit=500
    )
    assert (found.requests, found.not_fitting) == (1, 1)


def test_answers_are_taken_for_as_long_as_references_but_not_of_a_model_that_thinks():
    sizes = [prompt(400, answer=39), prompt(400, answer=None), prompt(400, answer=10_000)]
    found = forecast(sizes, {}, **PLAIN)
    assert found.answer_expected == round((10.75 + 16) / 2 * 3)
    assert forecast(sizes, {}, **{**PLAIN, "thinks": True}).answer_expected is None
    assert forecast([prompt(400, answer=None)], {}, **PLAIN).answer_expected is None
    choice = Instance(
        "1", "1", (Message("user", "?"),), (Reference("a long option", True),), multiple_choice=True
    )
    assert measure_prompt(choice).answer == 1


def test_options_whose_texts_are_rated_are_one_request_each_and_one_more():
    references = (Reference("eight   ", True), Reference("eight   ", False))
    question = Instance("1", "1", (Message("user", "?" * 400),), references, multiple_choice=True)
    size = measure_prompt(question, rates_texts=True)
    found = forecast([size] * 10, {}, **{**PLAIN, "max_tokens": 64})
    assert (found.requests, found.answer_most, found.answer_expected) == (30, 30, 30)
    assert found.prompt_tokens == 10 * (3 * 100 + 2 * 2)


def test_an_unknown_window_is_said():
    assert "is unknown" in describe_forecast(forecast([prompt(4)], {}, **PLAIN), None, None)[-1]
    assert (
        "is unknown"
        not in describe_forecast(forecast([prompt(4)], {}, **{**PLAIN, "budget": 9}), None, None)[
            -1
        ]
    )


def test_time_and_cost_are_ranges():
    found = forecast([prompt(4000, answer=4)] * 1000, {}, **PLAIN)
    pace = Pace(10, base_s=0.1, prompt_token_s=0.001, answer_token_s=0.05)
    # 100 rounds of 0.1 s; 1,000,000 prompt tokens by 10; 2,000 or 16,000 answer tokens by 10; a trial may be wrong
    assert estimate_seconds(found, pace) == Range(
        pytest.approx((10 + 100 + 10) / 1.25), pytest.approx((10 + 100 + 80) * 1.25)
    )
    lines = describe_forecast(found, pace, Prices("EUR", 1.0, 10.0, gpu_hour_rate=36.0, gpus=1))
    assert lines[1] == (
        "2,000 to 16,000 tokens out: answers as long as the reference answers, or as long as allowed"
    )
    assert lines[-2].startswith("takes 1.6 to 4.0 min, from a trial of the server with 10")
    assert lines[-1] == "costs 1.02 to 1.16 EUR by tokens, 0.9600 to 2.38 EUR by GPU hours"


def test_answers_that_were_seen_say_how_long_the_others_will_be():
    found = forecast([prompt(400, answer=4)] * 100, {}, **PLAIN)
    sizes = [AnswerSize(100, tokens, 2.0) for tokens in (8, 12)] * 10
    seen = SeenAnswers(asked_seconds=11.0).add(sizes)
    found = apply_seen(found, seen, 4)
    lines = describe_forecast(found, Pace(4, 99.0), None)
    assert lines[1] == "936 to 1,064 tokens out, as in 20 answers seen"
    # 20 answers of 2 s, 4 at once, took 11 s; so 100 take 51 s
    assert found.seconds_seen is not None
    assert found.seconds_seen.low < 51 < found.seconds_seen.high < 51 * 1.5
    assert lines[-1].endswith("as in 20 answers seen")


def test_an_answer_whose_options_were_rated_is_seen_once_and_not_once_a_request():
    references = tuple(Reference("eight   ", False) for _ in range(4))
    question = Instance("1", "1", (Message("user", "?" * 400),), references, multiple_choice=True)
    found = forecast([measure_prompt(question, rates_texts=True)] * 100, {}, **PLAIN)
    assert found.requests == 500
    # Each of the stored answers took five requests too, all in these 2 s.
    seen = SeenAnswers(asked_seconds=11.0).add([AnswerSize(500, 5, 2.0)] * 20)
    found = apply_seen(found, seen, 4)
    assert found.answers == Range(500, 500)
    assert found.seconds_seen is not None
    assert found.seconds_seen.low < 51 < found.seconds_seen.high < 51 * 1.5


def test_a_total_says_that_only_some_of_its_runs_rest_on_answers_seen():
    unseen = forecast([prompt(400, answer=4)] * 100, {}, **PLAIN)
    seen = apply_seen(unseen, SeenAnswers().add([AnswerSize(100, 10, 2.0)] * 20), 4)
    nothing = forecast([], {}, **PLAIN)
    paces, prices = [None, None], [None, None]
    mixed = describe_total([seen, unseen], paces, prices)[1]
    assert mixed.endswith("as in 20 answers seen, and as allowed where none were seen")
    assert describe_total([seen, nothing], paces, prices)[1].endswith("as in 20 answers seen")


def test_times_of_another_load_are_not_used():
    found = forecast([prompt(400, answer=4)] * 100, {}, **PLAIN)
    seen = SeenAnswers(asked_seconds=11.0).add([AnswerSize(100, 10, 2.0)] * 20)
    assert apply_seen(found, seen, 64).seconds_seen is None
    lines = describe_forecast(apply_seen(found, seen, 64), Pace(64, 1.0), None)
    assert lines[-1].startswith("takes ")
    assert "from a trial of the server with 64 concurrent questions" in lines[-1]


def test_corrections_are_expected_as_often_as_they_were_seen():
    found = forecast([prompt(400, answer=None)] * 100, {}, **PLAIN)
    sizes = [AnswerSize(100, 10, 1.0), AnswerSize(300, 20, 2.0, corrected=True)] * 10
    judged = apply_seen(found, SeenAnswers().add(sizes), 4)
    assert (judged.requests, judged.corrections, judged.prompt_tokens) == (150, 50, 20000)
    first = describe_forecast(judged, None, None)[0]
    assert first.startswith("150 requests with about 50 corrections, about 20,000 tokens in")


def test_a_server_that_did_not_end_its_trial_gives_a_least_time_and_no_cost_by_hours():
    found = forecast([prompt(400)] * 100, {}, **PLAIN)
    lines = describe_forecast(
        found, Pace(10, 10.0, at_least=True), Prices("EUR", gpu_hour_rate=1.0, gpus=1)
    )
    assert lines[-1].startswith("more than 1 min 40 s")


def test_several_runs_are_summed_and_their_time_is_known_only_if_each_is():
    one, other = (forecast([prompt(400)] * n, {}, **PLAIN) for n in (10, 20))
    pace = Pace(10, 1.0)
    assert describe_total([one, other], [pace, pace], [None, None])[0].startswith(
        "30 requests, about 3,000 tokens in"
    )
    assert describe_total([one, other], [pace, pace], [None, None])[-1].startswith(
        "takes 2.4 to 3.8 s"
    )
    assert not any(
        line.startswith("takes")
        for line in describe_total([one, other], [pace, None], [None, None])
    )


def test_of_runs_on_different_servers_the_slowest_server_tells_the_time():
    runs = [forecast([prompt(400)] * n, {}, **PLAIN) for n in (10, 20, 10)]
    paces, prices = [Pace(10, 1.0)] * 3, [None] * 3
    in_turn = describe_total(runs, paces, prices)[-1]
    assert in_turn == describe_total(runs, paces, prices, [[0, 1, 2]])[-1]
    at_once = describe_total(runs, paces, prices, [[0, 2], [1]])[-1]
    assert in_turn == "takes 3.2 to 5.0 s"
    assert at_once == "takes 1.6 to 2.5 s, with 2 servers asked at once"


@given(
    st.lists(
        st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.none() | st.integers(0, 10**5)),
        max_size=30,
    ),
    st.data(),
)
def test_whatever_the_prompts_an_estimate_adds_up(drawn, data):
    sizes = [PromptSize(a, 4 * a, min(a, b), c) for a, b, c in drawn]
    counts = {i: data.draw(st.integers(1, 10**6)) for i in range(0, len(sizes), 3)}
    budget = data.draw(st.none() | st.integers(-5, 10**5))
    found = forecast(
        sizes,
        counts,
        max_tokens=7,
        budget=budget,
        can_shorten=data.draw(st.booleans()),
        thinks=False,
    )
    assert found.requests + found.not_fitting == len(sizes)
    assert 0 <= found.shortened <= found.requests
    assert found.answer_expected is None or found.answer_expected <= found.answer_most
    if budget is not None:
        assert found.prompt_tokens <= max(budget, 0) * found.requests
    assert found.answers.low <= found.answers.high
    describe_forecast(found, Pace(3, 0.1), None)
