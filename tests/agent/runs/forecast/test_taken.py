"""A run and a judging end with the forecast after 20 answers beside what they took, on servers with known delays."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.catalog.deployments import Prices
from agent.inference.live_forecast import WorkForecast, WorkTaken
from agent.runs.forecast.taken import describe_taken
from agent.site.directory import Site, create_site
from agent.statistics.prediction import Range
from tests.agent.fault_server import Body, FaultServer
from tests.agent.judging.juries import (
    acts,
    deploy,
    judge_server,
    open_benchmark,
    verdict,
    write_jury,
)
from tests.agent.runs.forecast.commands import told
from tests.agent.runs.forecast.conftest import PRICES

_LINE = re.compile(r"(\w+): forecast (?:about )?([\d.]+)(?: to ([\d.]+))? s, took ([\d.]+) s")


def counted(text: str) -> Body:
    """A reply with the number of its tokens."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 200, "completion_tokens": len(text) // 4}
    return Body(json.dumps({"id": "1", "choices": [choice], "usage": usage}).encode())


@pytest.fixture
def slow_judges(tmp_path: Path) -> Iterator[Site]:
    """A site whose model and judge take 50 ms for each reply; every other reply of the judge has to be corrected."""
    site = create_site(tmp_path / "site", "Test")
    open_benchmark(site, instances=60)
    write_jury(site.judges, "a")
    replies = [counted(text) for text in ("no verdict", verdict())]
    with (
        judge_server(acts(*(replies * 200)), latency_s=0.05) as judge,
        judge_server(acts(counted("An answer")), latency_s=0.05) as model,
    ):
        deploy(site, {"a": judge.url, "m": model.url}, PRICES)
        yield site


def read_lines(said: str) -> dict[str, tuple[float, float, float]]:
    """Return low, high and actual seconds by phase."""
    lines: dict[str, tuple[float, float, float]] = {}
    for phase, low, high, took in _LINE.findall(said):
        lines[phase] = float(low), float(high or low), float(took)
    return lines


def test_of_lanes_at_once_the_slowest_tells_the_time_and_all_are_paid_for():
    def work(low: float, high: float, seconds: float) -> WorkTaken:
        return WorkTaken(WorkForecast(Range(low, high)), seconds, ("m",), {}, {})

    prices = {"m": Prices("EUR", gpu_hour_rate=3600.0, gpus=1)}
    lanes = [[work(10, 20, 15.0), work(10, 20, 15.0)], [work(25, 30, 28.0)]]
    time_line, cost_line = describe_taken("asking", lanes, prices)
    assert time_line == "asking: forecast 25 to 40 s, took 30.0 s"
    assert (
        cost_line
        == "asking: cost forecast 45.00 to 70.00 EUR by GPU hours, was 58.00 EUR by GPU hours"
    )
    assert describe_taken("asking", [[], []], prices) == []


def assert_holds(low: float, high: float, took: float) -> None:
    # A machine that delays some of the first answers widens the interval. That an interval is not wide without need is
    # tested without a clock, see tests/agent/inference/test_live_forecast.py.
    assert low <= took <= high or took / 1.5 <= (low + high) / 2 <= took * 1.5


def test_a_run_ends_with_its_forecast_beside_what_it_took(slow_judges: Site):
    words = ("run", "-r", "open:model=test/m", "--suite", "s", "--quiet", "-n", "2")
    said = told(slow_judges, *words)
    lines = read_lines(said)
    assert list(lines) == ["asking", "judging", "both"]
    for low, high, took in lines.values():
        assert_holds(low, high, took)
    assert lines["asking"][2] >= 1.5  # 60 answers of 50 ms, 2 at once
    assert re.search(
        r"judging: cost forecast [\d.]+ to [\d.]+ EUR by tokens, .*, was [\d.]+ EUR", said
    )
    assert "forecast" not in told(slow_judges, *words)  # nothing is asked again


def test_judging_expects_the_corrections_that_it_saw(slow_judges: Site):
    told(slow_judges, "run", "-r", "open:model=test/m", "--suite", "s", "--quiet", "--no-judging")
    said = told(slow_judges, "judge", "--suite", "s", "--quiet", "-n", "2")
    assert_holds(*read_lines(said)["judging"])


def test_a_dry_run_rests_on_20_stored_answers_and_judgements(slow_judges: Site):
    words = ("run", "-r", "open:model=test/m", "--suite", "s", "--quiet", "-n", "2")
    assert "how many is not known yet" in told(slow_judges, *words, "--dry-run")
    told(slow_judges, *words, "-m", "20")
    said = told(slow_judges, *words, "--dry-run")
    assert "tokens out, as in 20 answers seen" in said
    assert re.search(r"judge local/a: \d+ requests with about \d+ corrections", said)
    assert "how many is not known yet" not in said
    took = read_lines(told(slow_judges, *words, "--replace"))
    # 20 of 60 judgements are not asked for again, which the forecast does not know
    for line, phase, share in (
        ("  takes", "asking", 1),
        ("  judge local/a: takes", "judging", 2 / 3),
    ):
        found = re.search(rf"{line} ([\d.]+) to ([\d.]+) s, as in 20 answers seen", said)
        assert found is not None, said
        assert_holds(float(found[1]) * share, float(found[2]) * share, took[phase][2])


def test_verdicts_by_another_rubric_do_not_predict_those_to_come(slow_judges: Site):
    words = ("-r", "open:model=test/m", "--suite", "s", "--quiet")
    told(slow_judges, "run", *words, "-m", "20")
    criteria = "".join(f"      part {number}: Is it right?\n" for number in range(8))
    open_benchmark(slow_judges, instances=60, more=criteria)
    said = told(slow_judges, "run", *words, "--dry-run")
    assert "how many is not known yet" in said
    judging = [line for line in said.splitlines() if line.startswith("  judge local/a:")]
    assert judging
    assert not any("answers seen" in line for line in judging)


def test_a_note_about_several_runs_is_printed_once(slow_judges: Site):
    open_benchmark(slow_judges, instances=2, name="more")
    words = ("-r", "open:model=test/a", "-r", "more:model=test/a")
    said = told(slow_judges, "run", *words, "--suite", "s", "--dry-run")
    assert said.count("a model judges itself") == 1


def test_few_answers_have_no_forecast(tmp_path: Path):
    site = create_site(tmp_path / "site", "Test")
    open_benchmark(site, instances=20)
    with FaultServer(models=["m"], answer="An answer") as server:
        words = ("--server", server.url, "-r", "open:model=m", "--suite", "s", "--quiet")
        assert "forecast" not in told(site, "run", *words)
