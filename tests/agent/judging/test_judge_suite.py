"""Juries whose files are edited, whose answers were purged, and whose quorum two files ask for."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli.main import intramural
from agent.errors import ConfigError
from agent.io.progress import Progress
from agent.judging.judge_suite import JudgedRun, JudgeOptions, judge_suite
from agent.site.directory import Site
from agent.vocabulary import Reason, Unscored
from tests.agent.fault_server import FaultServer, Message
from tests.agent.judging.juries import (
    acts,
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

ENTRY = "open:model=m"


@pytest.fixture
def model() -> Iterator[FaultServer]:
    with FaultServer(models=["m"], answer="An answer") as server:
        yield server


@pytest.fixture
def judges(site: Site) -> Iterator[FaultServer]:
    """One server that plays the judges a, b and c."""
    with judge_server(says(verdict(4, 4))) as server:
        deploy(site, dict.fromkeys("abc", server.url))
        yield server


def judge(site: Site, **options: object) -> tuple[list[JudgedRun], list[str]]:
    return judge_suite(site, JudgeOptions("s", **options), Progress(quiet=True))  # type: ignore[arg-type]


def told(site: Site, *words: str) -> Result:
    return CliRunner().invoke(intramural, ["--site", str(site.directory), *words])


@pytest.mark.full
@pytest.mark.parametrize("replace", [False, True])
def test_another_jury_for_answers_that_were_purged_takes_no_score_away(
    site: Site, model: FaultServer, judges: FaultServer, tmp_path: Path, replace: bool
):
    open_benchmark(site)
    write_jury(site.judges, "abc")
    run(site, model.url, ENTRY)
    with site.store() as store:
        assert store.purge(0) > 0
    before, asked = kept(site), len(judged(judges))
    two = write_jury(tmp_path / "two.yaml", "ab")
    (heard,), _ = judge(site, judges=two, replace=replace)
    assert heard.left == "the texts of 3 instances were purged"
    assert kept(site) == before
    assert (before[0], len(judged(judges))) == ([4.0] * 3, asked)
    assert "nothing left to judge" in told(site, "judge", "--suite", "s").output


def test_answers_purged_before_any_judge_saw_them_are_said_to_be_gone(
    site: Site, model: FaultServer, judges: FaultServer
):
    open_benchmark(site)
    write_jury(site.judges, "abc")
    run(site, model.url, ENTRY, no_judging=True)
    with site.store() as store:
        assert store.purge(0) > 0
    assert (
        "unchanged: the texts of 3 instances were purged"
        in told(site, "judge", "--suite", "s").output
    )


def test_some_answers_purged_the_jury_that_there_is_goes_on_with_the_rest(
    site: Site, model: FaultServer, judges: FaultServer, tmp_path: Path
):
    open_benchmark(site)
    write_jury(site.judges, "ab")
    run(site, model.url, ENTRY, no_judging=True)
    judge(site, only=["a"])
    with site.store() as store:
        store.database.connection.execute(
            "DELETE FROM answers WHERE request_key = (SELECT MIN(request_key) FROM answers)"
        )
    (heard,), _ = judge(site)
    assert (heard.left, heard.judged.answers) == ("", 2)
    three = write_jury(tmp_path / "three.yaml", "abc")
    (heard,), _ = judge(site, judges=three, replace=True)
    assert heard.left == "the texts of 1 instance were purged"
    assert kept(site)[0].count(4.0) == 2


def test_the_stricter_of_two_quorums_holds_whoever_asks_for_it(site: Site, model: FaultServer):
    open_benchmark(site, more="    quorum: 3\n")
    dumb = acts(Message({"role": "assistant", "content": "I cannot say."}))
    with judge_server(says(verdict(4, 4))) as good, judge_server(dumb) as bad:
        deploy(site, {"a": good.url, "b": good.url, "c": bad.url})
        write_jury(site.judges, "abc", "quorum: 2\n")
        run(site, model.url, ENTRY)
        assert kept(site)[0] == [Unscored(Reason.NO_QUORUM)] * 3


def test_a_jurys_stricter_quorum_holds_over_the_benchmarks(site: Site, model: FaultServer):
    open_benchmark(site, more="    quorum: 2\n")
    dumb = acts(Message({"role": "assistant", "content": "I cannot say."}))
    with judge_server(says(verdict(4, 4))) as good, judge_server(dumb) as bad:
        deploy(site, {"a": good.url, "b": good.url, "c": bad.url})
        write_jury(site.judges, "abc", "quorum: 3\n")
        run(site, model.url, ENTRY)
        assert kept(site)[0] == [Unscored(Reason.NO_QUORUM)] * 3


def test_a_quorum_that_is_taken_out_of_the_file_is_gone(site: Site, model: FaultServer):
    open_benchmark(site)
    dumb = acts(Message({"role": "assistant", "content": "I cannot say."}))
    with judge_server(says(verdict(4, 4))) as good, judge_server(dumb) as bad:
        deploy(site, {"a": good.url, "b": good.url, "c": bad.url})
        write_jury(site.judges, "abc", "quorum: 3\n")
        run(site, model.url, ENTRY)
        assert kept(site)[0] == [Unscored(Reason.NO_QUORUM)] * 3
        write_jury(site.judges, "abc")
        with pytest.raises(ConfigError, match="another jury"):
            judge(site, judges=site.judges)
        judge(site, judges=site.judges, replace=True)
        assert kept(site)[0] == [4.0] * 3
        asked = len(model.asked)
        run(site, model.url, ENTRY)  # which takes it for the same jury
        assert (kept(site)[0], len(model.asked)) == ([4.0] * 3, asked)


def test_the_quorum_of_a_jury_that_left_does_not_bind_the_next(
    site: Site, model: FaultServer, judges: FaultServer, tmp_path: Path
):
    open_benchmark(site)
    write_jury(site.judges, "abc", "quorum: 3\n")
    run(site, model.url, ENTRY)
    judge(site, judges=write_jury(tmp_path / "one.yaml", "a"), replace=True)
    assert kept(site)[0] == [4.0] * 3
    with site.store() as store:
        (one,) = store.runs.select("s")
    assert one.details.metrics[0].jury.quorum is None


def test_too_few_seats_for_the_benchmarks_quorum_are_refused_by_name(
    site: Site, model: FaultServer, judges: FaultServer, tmp_path: Path
):
    open_benchmark(site, more="    quorum: 3\n")
    write_jury(site.judges, "abc")
    run(site, model.url, ENTRY)
    one = write_jury(tmp_path / "one.yaml", "a")
    said = "open requires 3 valid verdicts, and the jury of one.yaml has 1 seat"
    with pytest.raises(ConfigError, match=said):
        judge(site, judges=one, replace=True)
    with pytest.raises(ConfigError, match=said):
        run(site, model.url, ENTRY, judges=one, replace=True)
    assert kept(site)[0] == [4.0] * 3


def test_an_edited_file_of_the_site_is_said_to_wait_for_its_name(
    site: Site, model: FaultServer, judges: FaultServer
):
    open_benchmark(site)
    write_jury(site.judges, "ab")
    run(site, model.url, ENTRY)
    assert judge(site)[1] == []
    write_jury(site.judges, "abc")
    (note,) = judge(site)[1]
    assert note == (
        "1 run keeps its jury (a, b), which differs from the site's judges.yaml: "
        "to use that file, give it with --judges FILE --replace"
    )
    with pytest.raises(ConfigError, match="--replace discards a jury, but no other jury is given"):
        judge(site, replace=True)
    judge(site, judges=site.judges, replace=True)
    assert [len(seats) for seats in kept(site)[1].values()] == [3] * 3
    assert judge(site)[1] == []


def test_a_run_whose_benchmark_names_its_judges_waits_for_no_file(
    site: Site, model: FaultServer, judges: FaultServer
):
    open_benchmark(site, more="    judges:\n      - {name: local/a, model_name: test/a}\n")
    write_jury(site.judges, "abc")
    run(site, model.url, ENTRY)
    assert [len(seats) for seats in kept(site)[1].values()] == [1] * 3
    assert judge(site)[1] == []
