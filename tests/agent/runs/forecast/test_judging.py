"""What `run` and `judge` say before and after about juries: what is left to ask, what it took, and what is missing."""

import re
from pathlib import Path

import pytest

from agent.site.directory import Site
from tests.agent.fault_server import FaultServer
from tests.agent.judging.juries import NOTE, deploy, judged, open_benchmark, write_jury
from tests.agent.runs.forecast.commands import judge, refused, run, told
from tests.agent.runs.suites import NOWHERE


@pytest.mark.full
def test_judging_can_be_forecast_for_answers_that_wait(
    site: Site, model: FaultServer, judges: FaultServer
):
    open_benchmark(site, instances=2, name="more")
    run(site, model, "--no-judging", entries=2)
    asked = judge(site, "--dry-run")
    assert "judge local/a: 3 requests, about" in asked
    together = asked.partition("all 2 runs")[2]
    assert "judge local/a: 5 requests, about" in together
    assert "judge local/c: 5 requests, about" in together
    assert "judge local/b" not in judge(site, "--dry-run", "--only", "a")
    judge(site, "--only", "a")
    asked = judge(site, "--dry-run")
    assert "judge local/a: nothing is left to judge" in asked
    assert "judge local/b: 3 requests" in asked
    judge(site)
    assert judge(site, "--dry-run").count("nothing is left to judge") == 2
    assert len(judged(judges)) == 3 * 3  # equal answers to equal questions share their judgements


def test_a_forecast_of_another_jury_changes_nothing(
    site: Site, model: FaultServer, judges: FaultServer, tmp_path: Path
):
    run(site, model)
    two = write_jury(tmp_path / "two.yaml", "ab")
    words = ("judge", "--suite", "s", "--dry-run", "--judges", str(two))
    assert "another jury" in refused(site, *words)
    asked = told(site, *words, "--replace")
    assert "judge local/a: 3 requests" in asked
    assert "replies that these judges gave as part of another jury, which are reused" in asked
    assert "nothing left to judge" in judge(site)


def test_a_dry_run_totals_each_judge_over_the_runs(
    site: Site, model: FaultServer, judges: FaultServer
):
    open_benchmark(site, instances=2, name="more")
    together = run(site, model, "--dry-run", entries=2).partition("all 2 runs")[2]
    assert "judge local/a: 5 requests, about" in together
    assert re.search(
        r"judge local/c: costs [\d.,]+ to [\d.,]+ EUR by tokens, [\d.,]+ to [\d.,]+ EUR by GPU hours",
        together,
    )


def test_what_judges_took_is_said_with_its_cost_by_run_and_together(
    site: Site, model: FaultServer, judges: FaultServer
):
    open_benchmark(site, instances=2, name="more")
    took = run(site, model, entries=2)
    first, _, together = took.partition("all 2 runs:")
    assert "judge local/a: 3 judgements, 3 requests, " in first
    assert "judge local/a: cost 0.0750 EUR by tokens\n" in first
    assert re.search(
        r"judge local/a: cost at most [\d.]+ EUR by GPU hours, for the [\d.]+ s of judging now",
        first,
    )
    assert "judge local/c: 5 judgements, 5 requests, " in together
    assert "judge local/c: cost 0.1250 EUR by tokens\n" in together
    again = run(site, model, entries=2)
    assert "judge local/a: 3 judgements" in again
    assert "judging now" not in again  # nobody knows how long the GPUs were held


def test_judge_says_what_it_took(site: Site, model: FaultServer, judges: FaultServer):
    run(site, model, "--no-judging")
    took = judge(site, "--only", "a")
    assert re.search(
        r"judge local/a: 3 judgements, 3 requests, [\d,]+ tokens in, [\d,]+ tokens out", took
    )
    assert re.search(r"judge local/a: cost [\d.]+ EUR by tokens\n", took)
    assert "judge local/a: cost at most " in took
    took = judge(site)
    assert "judge local/b: cost at most " in took


def test_answers_that_nobody_judges_are_not_left_without_a_word(
    site: Site, model: FaultServer, judges: FaultServer
):
    said = run(site, model, "--no-judging")
    assert "answers of open wait for their jury: run `intramural judge --suite s` to ask it" in said
    assert "judging is postponed" in run(site, model, "--dry-run", "--no-judging")
    site.judges.unlink()
    open_benchmark(site, instances=2, name="more")
    words = ("run", "--server", model.url, "-r", "more:model=m", "--suite", "t", "--quiet")
    assert "no jury: answers are stored without being judged" in told(site, *words, "--dry-run")
    said = told(site, *words)
    assert "no jury: answers of more are stored but not judged; write judges.yaml" in said
    assert "`intramural judge --suite t`" in said


def test_a_model_on_the_jury_of_its_own_answers_is_said(site: Site, judges: FaultServer):
    words = ("run", "-r", "open:model=test/a", "--suite", "s", "--quiet")
    note = "note: a model judges itself: local/a is on the jury for its own answers"
    assert note in told(site, *words, "--dry-run")
    # Its answer is a verdict, so each judge's verdict is a quotation, and the jury gives none.
    assert note in told(site, *words, code=9)


def test_doctor_and_the_tables_say_that_a_model_judges_itself(site: Site, judges: FaultServer):
    assert "judges itself" not in told(site, "doctor")
    told(site, "run", "-r", "open:model=test/a", "--suite", "s", "--quiet", code=9)
    assert "a model judges itself: local/a is on the jury for its own answers" in told(
        site, "doctor"
    )
    assert "A model judges itself: a is test/a." in told(site, "summarize", "--suite", "s")


def test_doctor_says_that_there_is_no_jury(site: Site):
    site.judges.unlink()
    assert "jury: none; answers in free text" in told(site, "doctor")


def test_a_server_without_a_limit_of_tokens_fails_the_doctor_and_is_named_by_the_run(site: Site):
    with FaultServer(models=["judge"], ignores=["max_tokens", "max_completion_tokens"]) as endless:
        deploy(site, {"a": endless.url})
        site.judges.unlink()
        assert "runs and juries that use it are refused" in told(site, "doctor", code=4)
        said = refused(site, "run", "-r", "open:model=test/a", "--suite", "s", "--quiet")
    assert (
        "deployment local/a: the server does not honour features that this run needs: a token limit"
        in said
    )
    assert "omit it" not in said


def test_a_site_that_is_not_there_is_said_to_be_none(tmp_path: Path):
    none = Site(tmp_path / "none")
    said = refused(none, "run", "-r", "open:model=test/a")
    assert f"{none.directory} is not a site directory: it has no site.yaml" in said
    assert "intramural init" in said


def test_judge_names_the_judges_that_can_be_asked_where_one_is_down(
    site: Site, model: FaultServer, judges: FaultServer
):
    run(site, model, "--no-judging")
    deploy(site, {"a": judges.url, "b": judges.url, "c": NOWHERE})
    said = refused(site, "judge", "--suite", "s", "--quiet")
    assert re.search(r"judge local/c: the server 127\.0\.0\.1:\d+ refuses connections", said)
    assert "Or ask the others now, with --only a --only b." in said
    assert "--no-judging" not in said
    deploy(site, {"a": judges.url, "b": judges.url})
    said = refused(site, "judge", "--suite", "s", "--quiet")
    assert "the jury names the deployment 'local/c'" in said
    assert "--no-judging" not in said
    assert "--no-judging" in refused(
        site, "run", "--server", model.url, "-r", "open:model=m", "--suite", "t"
    )
    assert not [asked for asked in judges.asked if NOTE in asked.prompt]


def test_a_name_that_nobody_bears_is_answered_with_those_that_there_are(
    site: Site, model: FaultServer, judges: FaultServer
):
    run(site, model, "--no-judging")
    said = refused(site, "judge", "--suite", "s", "-b", "opne")
    assert "suite s contains no run of benchmark 'opne' (did you mean 'open'?)" in said
    said = refused(site, "judge", "--suite", "s", "--only", "d")
    assert "has no judge 'd'" in said
    assert "a or local/a; b or local/b; c or local/c" in said
