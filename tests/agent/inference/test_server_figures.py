"""The text of /metrics of vLLM and llama.cpp, as the servers write it, and text that is none."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.inference.server_figures import (
    ServerFigures,
    add_figures,
    describe_load,
    describe_work,
    parse_metrics,
    subtract_figures,
)

# Recorded after two equal requests to llama.cpp's server with SmolLM2.
LLAMA = """\
# HELP llamacpp:prompt_tokens_total Number of prompt tokens processed, excluding cached tokens
# TYPE llamacpp:prompt_tokens_total counter
llamacpp:prompt_tokens_total 49
# HELP llamacpp:prompt_tokens_cached_total Number of prompt tokens reused from the cache
# TYPE llamacpp:prompt_tokens_cached_total counter
llamacpp:prompt_tokens_cached_total 47
# HELP llamacpp:prompt_seconds_total Total time spent processing prompts
# TYPE llamacpp:prompt_seconds_total counter
llamacpp:prompt_seconds_total 4.14139
# HELP llamacpp:tokens_predicted_total Number of generation tokens processed
# TYPE llamacpp:tokens_predicted_total counter
llamacpp:tokens_predicted_total 16
# HELP llamacpp:predicted_tokens_seconds Average generation throughput in tokens/s
# TYPE llamacpp:predicted_tokens_seconds gauge
llamacpp:predicted_tokens_seconds 2.68234
# HELP llamacpp:requests_processing Number of requests processing
# TYPE llamacpp:requests_processing gauge
llamacpp:requests_processing 0
# HELP llamacpp:requests_deferred Number of requests deferred
# TYPE llamacpp:requests_deferred gauge
llamacpp:requests_deferred 0
"""

# In the form of vLLM's V1 engine, with two engines behind one address.
VLLM = """\
# HELP python_gc_objects_collected_total Objects collected during gc
# TYPE python_gc_objects_collected_total counter
python_gc_objects_collected_total{generation="0"} 8834.0
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="org/model"} 3.0
vllm:num_requests_running{engine="1",model_name="org/model"} 2.0
# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="org/model"} 1.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 9.0
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="org/model"} 50000.0
# TYPE vllm:prefix_cache_queries_created gauge
vllm:prefix_cache_queries_created{engine="0",model_name="org/model"} 1.7e+09
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{engine="0",model_name="org/model"} 30000.0
vllm:prefix_cache_hits_total{engine="1",model_name="org/model"} 2500.0
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0",model_name="org/model"} 5.0e+04
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="org/model"} 12000.0 1712345678
# TYPE vllm:request_queue_time_seconds histogram
vllm:request_queue_time_seconds_bucket{engine="0",le="0.3",model_name="org/model"} 90.0
vllm:request_queue_time_seconds_count{engine="0",model_name="org/model"} 100.0
vllm:request_queue_time_seconds_sum{engine="0",model_name="org/model"} 25.0
"""


def test_llamacpps_text_is_read_and_the_cached_tokens_are_part_of_the_prompts():
    assert parse_metrics(LLAMA) == ServerFigures("llama.cpp", 96, 47, 16, running=0, waiting=0)


def test_vllms_text_is_read_with_all_engines_added_up():
    assert parse_metrics(VLLM) == ServerFigures(
        "vLLM", 50000, 32500, 12000, running=5, waiting=1, queue_s=25.0, queued=100.0
    )


def test_a_version_without_a_cache_of_prefixes_has_no_share():
    lines = [line for line in VLLM.splitlines() if "prefix_cache" not in line]
    figures = parse_metrics("\r\n".join(lines))
    assert figures is not None
    assert figures.cached_share is None
    assert figures.prompt_tokens == 50000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html>404</html>",
        '{"error":{"message":"This server does not support metrics endpoint."}}',
        "vllm:prompt_tokens_total{} 3",
        "vllm:prompt_tokens_total NaN\nvllm:generation_tokens_total 3",
        "sglang:prompt_tokens_total 8.1\nsglang:generation_tokens_total 7.5",
        "\x00" * 100,
    ],
)
def test_text_that_is_none_of_theirs_has_no_figures(text: str):
    assert parse_metrics(text) is None


@given(st.text())
def test_no_text_raises(text: str):
    parse_metrics(text)
    parse_metrics(VLLM + text)


@pytest.mark.parametrize("name", ["vllm:num_requests_running", "vllm:prompt_tokens_total"])
def test_numbers_that_overflow_when_added_up_are_no_figures(name: str):
    figures = parse_metrics(f"{VLLM}\n{name} 1e308\n{name} 1e308\n")
    assert figures == parse_metrics(VLLM)
    work = subtract_figures(figures, parse_metrics(VLLM))
    assert work is not None
    assert describe_work(work, 1.0) == ""


def test_two_readings_tell_of_the_work_between_them():
    before = parse_metrics(VLLM)
    assert before is not None
    after = replace(
        before,
        prompt_tokens=60000,
        cached_tokens=40000,
        completion_tokens=13000,
        queue_s=35.0,
        queued=120,
    )
    work = subtract_figures(after, before)
    assert work is not None
    assert describe_work(work, 10.0) == (
        "by vLLM's own figures: 1,000 tokens/s of prompts (75% from its cache), 100 tokens/s of answers, "
        "0.50 s in its queue per request"
    )


def test_a_server_that_was_started_in_between_has_no_figures():
    before = parse_metrics(VLLM)
    assert before is not None
    assert subtract_figures(replace(before, prompt_tokens=10, cached_tokens=0), before) is None
    assert subtract_figures(parse_metrics(LLAMA), before) is None
    assert subtract_figures(None, before) is None


def test_replicas_are_added_up_unless_one_has_no_figures():
    figures = parse_metrics(VLLM)
    assert figures is not None
    both = add_figures([figures, figures])
    assert both is not None
    assert both.prompt_tokens == 100000
    assert both.cached_share == figures.cached_share
    assert add_figures([figures, None]) is None
    assert add_figures([figures, parse_metrics(LLAMA)]) is None


def test_requests_of_others_are_named():
    figures = parse_metrics(VLLM)
    assert figures is not None
    assert "5 running and 1 waiting requests" in describe_load(figures)
    idle = parse_metrics(LLAMA)
    assert idle is not None
    assert describe_load(idle) == ""
    assert describe_work(replace(idle, prompt_tokens=0), 1.0) == ""


def test_figures_that_add_up_to_more_than_a_number_holds_stop_no_run():
    text = LLAMA + "llamacpp:requests_processing 1e308\n" * 2
    figures = parse_metrics(text)
    assert figures is not None
    assert figures.running == 0
    assert len(describe_load(replace(figures, waiting=1))) < 200
    text = LLAMA.replace("tokens_predicted_total 16", "tokens_predicted_total 1e300")
    assert parse_metrics(text) is None
