"""Scoring as a user gives the commands: both rules, again, and of answers from elsewhere."""

import json

import pytest

from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.runs.suites import answers_file
from tests.end_to_end.conftest import UserSite


def answer(asked: Asked) -> Message | None:
    if "invented person" not in asked.prompt:
        return None
    return Message({"role": "assistant", "content": "Yes" if "1" in asked.prompt else "**Yes**"})


def test_a_suite_is_scored_by_both_rules_and_again_by_one_without_a_server(make_site):
    site: UserSite = make_site(instances=20)
    with FaultServer(models=["test/model"], fault=answer) as server:
        done = site.run(server.url, "--scoring", "both")
        assert done.returncode == 0, done.stderr
    both = site.summary()
    assert both["helm"]["n"] == both["n"] == 20
    refused = site.intramural("rescore", "--suite", "s", "--scoring", "helm")
    assert refused.returncode == 2
    assert "would drop the scores by our rules from 1 run of suite s" in refused.stderr
    assert site.summary()["helm"] is not None
    again = site.intramural("rescore", "--suite", "s", "--scoring", "helm", "--replace")
    assert again.returncode == 0, again.stderr
    assert "dropped the scores by our rules from 1 run" in again.stderr
    assert "1 of 1 runs scored again" in again.stderr
    assert site.summary()["mean"] == both["helm"]["mean"]
    settled = site.run(server.url, "--scoring", "helm")  # its server is gone
    assert settled.returncode == 0, settled.stderr
    assert "asked 0, kept 20" in settled.stdout
    unknown = site.intramural("rescore", "--suite", "nope")
    assert unknown.returncode == 2
    assert "there is no suite nope" in unknown.stderr


@pytest.mark.full
def test_answers_of_another_harness_get_the_figures_of_a_run(make_site):
    site: UserSite = make_site(instances=20)
    with FaultServer(models=["test/model"], fault=answer) as server:
        assert site.run(server.url).returncode == 0
    given = {
        one.instance.id: one.response.text for one in site.stored() if one.instance and one.response
    }
    answers = answers_file(site.directory.parent / "answers.jsonl", given)
    words = [
        "--data",
        site.config.with_name("dataset.csv"),
        "--answers",
        answers,
        "--format",
        "json",
    ]
    (site.directory / "benchmarks" / "own").mkdir()
    for part in ("prompt.txt", "dataset.csv"):
        (site.directory / "benchmarks" / "own" / part).write_bytes(
            site.config.with_name(part).read_bytes()
        )
    (site.directory / "benchmarks" / "own" / "benchmark.yaml").write_bytes(site.config.read_bytes())
    done = site.intramural("score", "own", *words)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    for key in ("metric", "n", "units", "mean", "low", "high", "interval", "unscored"):
        assert row[key] == site.summary()[key], key
    answers.write_text(answers.read_text() + '{"instance_id": "Mr. Quellmalz", "answer": "Yes"}\n')
    refused = site.intramural("score", "own", *words)
    assert refused.returncode == 3
    assert "answers.jsonl: line 21: has an instance_id that is not in the data" in refused.stderr
    assert "Quellmalz" not in refused.stderr + refused.stdout


@pytest.mark.full
def test_suites_are_joined_under_a_name_and_nothing_else(make_site):
    site: UserSite = make_site(instances=20)
    with FaultServer(models=["test/model"], fault=answer) as server:
        assert site.run(server.url).returncode == 0
    for words in (["--suites", "s"], ["--suite", "s", "--release", "r"]):
        refused = site.intramural("summarize", *words)
        assert refused.returncode == 2
        assert "--release" in refused.stderr
    made = site.intramural("summarize", "--suites", "s", "--release", "r1", "--format", "json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)[0]["n"] == 20
    shown = site.intramural("summarize", "--release", "r1")
    assert shown.returncode == 0, shown.stderr
    assert "Release r1" in shown.stdout
