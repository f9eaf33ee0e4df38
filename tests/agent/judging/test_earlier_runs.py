"""Answers that an earlier version stored, which kept nothing of what a jury is asked."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.site.directory import Site, create_site
from agent.store.run_details import write_details
from agent.vocabulary import Scale
from tests.agent.fault_server import FaultServer
from tests.agent.judging.juries import (
    deploy,
    judge_server,
    judged,
    kept,
    open_benchmark,
    says,
    verdict,
    write_jury,
)
from tests.agent.runs.suites import run
from tests.agent.terminal import Done, intramural

FORGOTTEN = "{} by an earlier version cannot be judged ({}): that version did not store the questions to the jury"


@pytest.fixture
def judge_one() -> Iterator[FaultServer]:
    with judge_server(says(verdict(2, 4))) as server:
        yield server


@pytest.fixture
def model() -> Iterator[FaultServer]:
    with FaultServer(models=["m"], answer="Words") as server:
        yield server


@pytest.fixture
def site(tmp_path: Path, judge_one: FaultServer, model: FaultServer) -> Site:
    site = create_site(tmp_path / "site", "Test")
    open_benchmark(site, instances=2)
    deploy(site, {"a": judge_one.url})
    write_jury(site.judges, "a")
    ask(site, model)
    return site


def ask(site: Site, model: FaultServer, benchmark: str = "open") -> None:
    run(site, model.url, f"{benchmark}:model=m", no_judging=True)
    forget(site)


def forget(site: Site) -> None:
    """Leave of every run's details what an earlier version kept."""
    with site.store() as store:
        for one in store.runs.select("s"):
            metrics = tuple(replace(metric, jury=None) for metric in one.details.metrics)
            details = write_details(replace(one.details, metrics=metrics))
            store.database.connection.execute(
                "UPDATE runs SET details = ?, plan_digest = x'00' WHERE run_id = ?",
                (details, one.run_id),
            )


def judge(site: Site, *words: str) -> Done:
    return intramural(
        "--site", site.directory, "judge", "--suite", "s", "--quiet", *words, cwd=site.directory
    )


def test_they_are_judged_by_the_definition_that_was_run_without_their_model(
    site: Site, judge_one: FaultServer, model: FaultServer
):
    assert "open:model=m" in judge(site, "--dry-run").stdout
    done = judge(site)
    assert (done.returncode, "2 answers judged, 2 requests to judges" in done.stdout) == (
        0,
        True,
    ), done.stderr
    assert kept(site)[0] == [3.0, 3.0]
    assert all("Is it plain?" in asked.prompt for asked in judged(judge_one))
    again = judge(site)
    assert (again.returncode, "nothing left to judge" in again.stdout) == (0, True), again.stderr
    assert len(judged(model)) == 2
    run(site, model.url, "open:model=m")
    assert len(judged(model)) == 2
    assert len(judged(judge_one)) == 2


def test_a_jury_that_the_definition_names_is_kept_with_them(site: Site, model: FaultServer):
    named = "    judges:\n      - {name: a, model: test/a, model_deployment: local/a}\n    scale: {low: 0, high: 10}\n"
    open_benchmark(site, instances=2, name="named", more=named)
    ask(site, model, "named")
    site.judges.unlink()
    done = judge(site, "-b", "named")
    assert done.returncode == 0, done.stderr
    with site.store() as store:
        (one,) = (one for one in store.runs.select("s") if one.benchmark == "named")
        assert one.details.metrics[0].jury.scale == Scale(0, 10)
        assert one.details.metrics[0].high == 10
        assert [
            row.scores["jury_score"] for row in store.answers.read_instances(one.run_id, 0, 9)
        ] == [3.0, 3.0]


def test_where_the_definition_has_changed_one_line_says_so_for_all_and_nothing_is_done(
    site: Site, judge_one: FaultServer, model: FaultServer
):
    open_benchmark(site, instances=2, name="other")
    ask(site, model, "other")
    before = kept_of_all(site)
    for name in ("open", "other"):
        definition = site.directory / "benchmarks" / name / "benchmark.yaml"
        definition.write_text(definition.read_text().replace("Is it right?", "Is it so?"))
    for words in ((), ("--dry-run",)):
        done = judge(site, *words)
        assert done.returncode == 2
        assert FORGOTTEN.format("2 runs", "open, other") in done.stderr
        assert "Run their `run` commands again" in done.stderr
    assert kept_of_all(site) == before
    assert judged(judge_one) == []


def test_the_others_are_judged_and_it_is_said_which_are_not(site: Site, model: FaultServer):
    open_benchmark(site, instances=1, name="other")
    ask(site, model, "other")
    definition = site.directory / "benchmarks" / "open" / "benchmark.yaml"
    definition.write_text(definition.read_text().replace("Is it right?", "Is it so?"))
    done = judge(site)
    assert (done.returncode, "1 answer judged" in done.stdout) == (0, True), done.stderr
    assert done.stderr.count("by an earlier version cannot be judged") == 1
    assert FORGOTTEN.format("1 run", "open") in done.stderr


def kept_of_all(site: Site) -> list[object]:
    with site.store() as store:
        return [
            (one.details, store.juries.read_seats(one.run_id, "jury_score"))
            for one in store.runs.select("s")
        ]
