"""A benchmark against real language-model servers: llama.cpp with small real models, others with random weights.

The answers are poor or nonsense; what counts is that every part of the way works with what the server really does.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agent.cli.run_report import EXIT_FAILED_INSTANCES
from agent.errors import InferenceError
from agent.inference.capabilities import Capabilities, Needs, check_needs
from agent.inference.limits import HttpLimits
from agent.inference.probe import probe
from agent.vocabulary import Failure, Reason, Response, Shortenable
from tests.agent.inference.asking import ask, chat
from tests.servers.real_servers import CONTEXT, MODEL, NAME, RealServer
from tests.servers.sites import intramural, read_seats, write_open_benchmark

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

LIMITS = HttpLimits(max_attempts=2)
INSTANCES = 3  # of each benchmark: a server takes seconds for a prompt
# The software behind each of the servers.
SOFTWARE = {
    "transformers": "transformers",
    "vllm": "vllm",
    "smollm2": "llama.cpp",
    "gemma3": "llama.cpp",
}
# What each server is known to do; the probe must find it. Features left out differ between versions.
KNOWN: Mapping[str, Mapping[str, str]] = {
    "transformers": {
        "model_name": "honoured",
        "max_tokens": "honoured",
        "temperature_zero": "honoured",
        "stop": "ignored",
        "n": "ignored",
        "logprobs": "ignored",
        "json_schema": "ignored",
        "usage": "honoured",
    },
    "vllm": {
        "model_list": "honoured",
        "model_name": "honoured",
        "max_tokens": "honoured",
        "max_completion_tokens": "honoured",
        "stop": "honoured",
        "n": "honoured",
        "seed": "honoured",
        "logprobs": "honoured",
        "top_logprobs": "honoured",
        "choice": "honoured",
        "usage": "honoured",
    },
    "llama.cpp": {
        "model_list": "honoured",
        "max_tokens": "honoured",
        "stop": "honoured",
        "logprobs": "honoured",
        "top_logprobs": "honoured",
        "choice": "honoured",
        "usage": "honoured",
    },
}


@pytest.fixture(scope="session")
def found(real_server: RealServer) -> Capabilities:
    return asyncio.run(probe(real_server.deployment, LIMITS))


def test_the_probe_finds_what_the_server_is_known_to_honour_and_to_ignore(real_server, found):
    seen = {name: feature.state for name, feature in found.features.items()}
    expected = KNOWN[SOFTWARE[real_server.name]]
    assert {name: seen[name] for name in expected} == expected


def test_the_probe_names_the_server(real_server, found):
    software = SOFTWARE[real_server.name]
    assert found.server == software
    assert found.extra_body == ({"repeat_penalty": 1.0} if software == "llama.cpp" else {})


def test_the_names_that_the_server_gives_its_model_are_taken_for_forms_of_the_one_asked(found):
    assert found.other_names == ()
    assert not found.inline_thoughts


def test_many_requests_at_once_are_all_answered_within_their_limit(real_server, found):
    prompts = [
        chat(f"Question {i}: yes or no?", model=real_server.model, max_tokens=12) for i in range(40)
    ]
    outcome = ask(
        real_server.deployment, prompts, limits=LIMITS, max_in_flight=8, capabilities=found
    )
    assert outcome.reasons() == {}
    for result in outcome.results.values():
        assert isinstance(result, Response)
        assert result.completion_tokens is None or result.completion_tokens <= 12


def test_an_answer_is_cut_at_its_stop_whether_the_server_does_it_or_not(real_server, found):
    plain = chat("Write words.", model=real_server.model, max_tokens=12)
    (whole,) = ask(
        real_server.deployment, [plain], limits=LIMITS, capabilities=found
    ).results.values()
    assert isinstance(whole, Response)
    mark = whole.text[4:6]
    stopped = chat("Write words.", model=real_server.model, max_tokens=12, stop=(mark,))
    (cut,) = ask(
        real_server.deployment, [stopped], limits=LIMITS, capabilities=found
    ).results.values()
    assert isinstance(cut, Response)
    assert mark not in cut.text
    said = check_needs(found, Needs(stop=True))
    assert any("stop sequences" in sentence for sentence in said) == (
        found.state("stop") == "ignored"
    )


def test_a_prompt_longer_than_the_model_takes_is_told_apart_where_the_server_says_so(
    real_server, found
):
    long = chat("word " * 30_000, model=real_server.model, max_tokens=4)
    uncounted = replace(found, counting=None, window=None)  # so the server itself must refuse it
    outcome = ask(real_server.deployment, [long], limits=LIMITS, capabilities=uncounted)
    (result,) = outcome.results.values()
    if real_server.name == "transformers":  # it runs past the model's context without a word
        assert isinstance(result, Response)
    else:
        assert result == Failure(Reason.CONTEXT_LENGTH, 400)


def test_a_prompt_that_is_counted_and_too_long_is_not_sent(real_server, found):
    if found.counting is None:
        pytest.skip(f"{real_server.name} does not count tokens")
    long = chat("word " * 30_000, model=real_server.model, max_tokens=4)
    outcome = ask(real_server.deployment, [long], limits=LIMITS, capabilities=found)
    assert list(outcome.results.values()) == [Failure(Reason.CONTEXT_LENGTH)]


def test_an_over_long_note_is_shortened_by_the_models_own_tokens(real_server, found):
    """By the server's count where it counts, else by the model's own tokenizer file."""
    software = SOFTWARE[real_server.name]
    counts = None if software == "transformers" else software
    assert found.counting == counts
    assert found.window == (CONTEXT if counts else None)
    file = real_server.folder / "tokenizer.json"
    where = replace(
        real_server.deployment,
        max_sequence_length=CONTEXT,
        tokenizer_file=None if counts else file,
    )
    capabilities = asyncio.run(probe(where, LIMITS))
    assert capabilities.counting == (counts or "tokenizer_file")
    before, note, after = (
        "Read.\n\nNote: ",
        "No fever, no cough; äöü of 12.5 mg. " * 500,
        "\n\nQuestion: well?",
    )
    part = Shortenable(0, len(before), len(before) + len(note), "start")
    long = chat(before + note + after, model=real_server.model, max_tokens=8, shortenable=part)
    (result,) = ask(where, [long], limits=LIMITS, capabilities=capabilities).results.values()
    assert isinstance(result, Response)
    assert result.prompt_tokens is not None
    assert 1950 <= result.prompt_tokens <= 2040
    assert result.shortened > 1000


@pytest.fixture
def site(real_server: RealServer, tmp_path: Path) -> Path:
    """A site whose only deployment is the real server."""
    site = tmp_path / "site"
    command = [sys.executable, "-m", "agent", "init", str(site), "--site-name", "Test"]
    subprocess.run(command, check=True)
    real_server.write_deployment(site)
    return site


def test_a_benchmark_runs_from_the_command_line_to_the_leaderboard(site):
    run = ["run", "--suite", "servers", "--max-eval-instances", str(INSTANCES), "--quiet"]
    for benchmark in ("pubmed_qa", "medcalc_bench"):
        run += ["--run-entries", f"{benchmark}:model={MODEL}"]
    intramural(site, *run)
    first = intramural(site, "summarize", "--suite", "servers", "--format", "json")
    rows = json.loads(first)
    assert rows
    assert "pubmed_qa" in first
    assert "medcalc_bench" in first
    assert intramural(site, *run)  # again: everything is kept
    assert intramural(site, "summarize", "--suite", "servers", "--format", "json") == first


@pytest.mark.parametrize("mode", ["constrained", "logprob"])
def test_an_exam_is_asked_in_the_ways_that_the_server_honours(site, found, mode):
    """A model of random weights writes no letter; limited to the options it writes nothing else."""
    run = ["run", "--suite", "ways", "--max-eval-instances", str(INSTANCES), "--quiet"]
    run += ["--answer-mode", mode, "-r", f"pubmed_qa:model={MODEL}"]
    feature = {"constrained": "choice", "logprob": "top_logprobs"}[mode]
    if found.state(feature) != "honoured":
        refused = InferenceError.exit_code
        intramural(site, *run, accept=(refused,))
        return
    intramural(site, *run)
    rows = json.loads(intramural(site, "summarize", "--suite", "ways", "--format", "json"))
    (main,) = [row for row in rows if row["metric"] == "exact_match"]
    assert main["n"] + main["unscored"] == INSTANCES
    assert main["unscored_reasons"].keys() <= {"unparsed"}
    if mode == "constrained":
        assert main["n"] == INSTANCES


def test_a_jury_that_babbles_settles_every_answer_without_a_score(
    real_server, found, site, tmp_path
):
    """A judge of random weights gives no verdict: the run completes, its seats stay empty, and nothing is scored."""
    if real_server.is_real:
        pytest.skip(f"{real_server.name} is a real model, which may give verdicts")
    if found.state("json_schema") == "honoured":
        pytest.skip(f"{real_server.name} makes even this model write a verdict in due form")
    write_open_benchmark(site)
    (site / "judges.yaml").write_text(
        "judges:\n"
        f"  - {{name: one, model: {MODEL}, model_deployment: {NAME}}}\n"
        f"  - {{name: two, model: {MODEL}, model_deployment: {NAME}}}\n",
        "utf-8",
    )
    run = ["run", "--suite", "jury", "--quiet", "-r", f"open:model={MODEL}"]
    intramural(site, *run, accept=(EXIT_FAILED_INSTANCES,))  # another jury is needed
    (row,) = json.loads(intramural(site, "summarize", "--suite", "jury", "--format", "json"))
    assert row["n"] == 0
    assert row["mean"] is None
    assert row["unscored_reasons"] == {"no_quorum": 2}
    intramural(site, *run, accept=(EXIT_FAILED_INSTANCES,))  # again: no judge is asked twice
    seats = read_seats(site, "jury", tmp_path / "out")
    assert [seat["grades"] for seat in seats] == [None] * 4
    for seat in seats:
        assert seat["reason"] in {"no_verdict", "cut_off", "no_text", "too_long"}
        # Not every reply can be corrected: a long one may not fit into the judge's window once more.
        replies = len(seat["replies"])
        assert 1 <= replies <= 2
        assert seat["repaired"] == (replies == 2)
