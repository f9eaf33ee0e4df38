"""Scoring again where a jury graded: from stored replies, atomically with what each seat gave, and asking nobody."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.catalog.run_entries import parse_run_entry
from agent.io.progress import Progress
from agent.jury import seats as seats_module
from agent.jury.verdict import Fault, Verdict
from agent.runs import rescore
from agent.runs.outcomes import RunOutcome
from agent.runs.plan import RunOptions
from agent.runs.rescore import rescore_suite
from agent.runs.run import run_entries
from agent.scoring import jury_scores
from agent.site.directory import Site
from agent.store import Judgement, Seat, Store, juries
from agent.store.codec import encode_response
from agent.store.scores import Scores
from agent.vocabulary import Reason
from tests.agent.fault_server import FaultServer
from tests.agent.judging.judged_runs import JUDGES, ROWS, judged_site, judges, serve, verdict
from tests.end_to_end.conftest import ROOT
from tests.end_to_end.test_killed_exchange import KILLED

MODELS = ("hospital/b", *(f"maker/{judge}" for judge in JUDGES))


def graded(number: int, judge: str) -> str | None:
    """Return what each judge says: the second is repaired once, the third never has a verdict."""
    if judge == "judge-one":
        return verdict(4.5, 3)
    if judge == "judge-two":
        return verdict(2, 5)
    return "I cannot say."


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer(models=MODELS, fault=judges(graded)) as server:
        yield server


@pytest.fixture
def site(tmp_path: Path, server: FaultServer) -> Site:
    site = judged_site(tmp_path / "site")
    serve(site, server)
    run(site)
    return site


def run(site: Site, **options: object) -> RunOutcome:
    done = run_entries(
        site,
        [parse_run_entry("graded:model=hospital/b")],
        RunOptions("s", **options),
        Progress(quiet=True),
    )  # type: ignore[arg-type]
    (outcome,) = done.outcomes
    return outcome


def kept(store: Store) -> tuple[list[dict[str, object]], dict[int, list[Seat]]]:
    (stored,) = store.runs.select("s")
    return [
        dict(one.scores) for one in store.answers.read_instances(stored.run_id, 0, 99)
    ], store.juries.read_seats(stored.run_id, "jury_score")


def test_scoring_again_changes_nothing_of_what_the_same_rules_made(site: Site, server: FaultServer):
    with site.store() as store:
        before, asked = kept(store), len(server.asked)
        (done,) = rescore_suite(store, "s")
        assert kept(store) == before
    assert [row["jury_score"] for row in before[0]] == [(3.75 + 3.5) / 2] * len(ROWS)
    assert all(
        [seat.reason for seat in seats] == [None, None, Fault.NO_VERDICT]
        for seats in before[1].values()
    )
    assert not done.left
    assert not any(change.changed for change in done.changes)
    assert len(server.asked) == asked
    outcome = run(site)  # and the run finds nothing left to do
    assert (outcome.asked, len(server.asked)) == (0, asked)


def test_helms_rule_is_reckoned_from_the_first_replies(site: Site, server: FaultServer):
    with site.store() as store:
        seats = kept(store)[1]
        (done,) = rescore_suite(store, "s", "both")
        scores, again = kept(store)
    assert {(row["jury_score"], row["jury_score@helm"]) for row in scores} == {
        (3.625, (4 + 3 + 2 + 5) / 4)
    }
    assert again == seats
    assert {change.metric: change.after for change in done.changes}["jury_score@helm"] == 3.5
    asked = len(server.asked)
    run(site, scoring="both")
    assert len(server.asked) == asked


def test_a_stricter_reader_closes_seats_and_takes_the_score_with_them(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    real = seats_module.read_verdict

    def whole_numbers_only(reply: str, rubric: object, *shown: object) -> Verdict | Fault:
        found = real(reply, rubric, *shown)  # type: ignore[arg-type]
        halves = isinstance(found, Verdict) and any(grade % 1 for grade in found.grades.values())
        return Fault.NOT_A_NUMBER if halves else found

    monkeypatch.setattr(seats_module, "read_verdict", whole_numbers_only)
    with site.store() as store:
        (done,) = rescore_suite(store, "s")
        scores, seats = kept(store)
    assert all(row["jury_score"].reason == "no_quorum" for row in scores)  # type: ignore[attr-defined]
    assert all(given[0].reason == Fault.NOT_A_NUMBER for given in seats.values())
    assert {change.metric: change.changed for change in done.changes}["jury_score"] == len(ROWS)
    assert {change.metric: change.changed for change in done.changes}["rouge_l"] == 0


def test_killed_in_mid_draft_it_leaves_seats_and_scores_of_one_making(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(rescore, "BATCH", 2)
    monkeypatch.setattr(jury_scores, "compute_jury_score", lambda *_: 1.0)
    monkeypatch.setattr(
        jury_scores,
        "fill_seat",
        lambda seat, key, *_: Seat(seat, None, Fault.OUT_OF_RANGE, judgement_key=key),
    )
    real, drafted = Scores.draft, 0

    def killed(self: Scores, *given: object) -> None:
        nonlocal drafted
        drafted += 1
        if drafted == 3:
            raise KeyboardInterrupt
        real(self, *given)  # type: ignore[arg-type]

    with site.store() as store:
        before = kept(store)
        monkeypatch.setattr(Scores, "draft", killed)
        with pytest.raises(KeyboardInterrupt):
            rescore_suite(store, "s")
        assert kept(store) == before
        rescore_suite(store, "s")
        scores, seats = kept(store)
    assert {row["jury_score"] for row in scores} == {1.0}
    assert {seat.reason for given in seats.values() for seat in given} == {Fault.OUT_OF_RANGE}


@pytest.mark.full
@pytest.mark.usefixtures("without_scipy")
@pytest.mark.parametrize("at", ["draft:1", "put_draft_in_place:0"])
def test_killed_outright_it_has_taken_nothing_away(site: Site, at: str):
    with site.store() as store:
        before = kept(store)
    words = ["--site", str(site.directory), "rescore", "--suite", "s", "--scoring", "both"]
    command = [sys.executable, "-c", KILLED, f"agent.store.scores.Scores:{at}", *words]
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=60
    )
    assert ended.returncode == -9, ended.stderr
    with site.store() as store:
        assert kept(store) == before
        rescore_suite(store, "s", "both")
        scores, seats = kept(store)
    assert seats == before[1]
    assert {row["jury_score@helm"] for row in scores} == {3.5}


def test_seats_without_a_reply_stay_open_and_are_asked_by_the_next_run(site: Site):
    with site.store() as store:
        (stored,) = store.runs.select("s")
        missing = [
            (n, "jury_score", Seat(seat, None, Reason.TIMEOUT))
            for n in range(len(ROWS))
            for seat in (1, 2)
        ]
        store.scores.keep(stored.run_id, [], (), missing)
        rescore_suite(store, "s", "both")
        scores, seats = kept(store)
    assert [[seat.reason for seat in given] for given in seats.values()] == [
        [None, "timeout", "timeout"]
    ] * len(ROWS)
    assert {row[name].reason for row in scores for name in ("jury_score", "jury_score@helm")} == {
        Reason.NOT_JUDGED
    }  # type: ignore[attr-defined]
    run(site, scoring="both")
    with site.store() as store:
        assert {(row["jury_score"], row["jury_score@helm"]) for row in kept(store)[0]} == {
            (3.625, 3.5)
        }


@pytest.mark.full
@pytest.mark.parametrize(
    "all_of_them", [True, False], ids=["all", "one that another run had first"]
)
def test_where_replies_were_purged_the_run_is_left_as_it_was(site: Site, all_of_them: bool):
    with site.store() as store:
        before = kept(store)
        if all_of_them:
            assert store.purge(0) > len(ROWS)
        else:
            oldest = "SELECT judgement_key FROM judgements LIMIT 1"
            store.database.connection.execute(
                f"UPDATE judgements SET created_at = 0 WHERE judgement_key IN ({oldest})"
            )
            assert store.purge(1) == 1
        (done,) = rescore_suite(store, "s")
        assert kept(store) == before
    assert "purged" in done.left


def test_judgements_that_were_kept_before_marks_are_read_as_ever(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    def as_before(judgement: Judgement) -> bytes:
        return json.dumps([encode_response(reply).decode() for reply in judgement.replies]).encode()

    with site.store() as store:
        before = kept(store)
        keys = {seat.judgement_key for seats in before[1].values() for seat in seats} - {None}
        judgements = {key: store.juries.find_judgement(key) for key in keys}
        monkeypatch.setattr(juries, "_encode", as_before)
        store.scores.keep(store.runs.select("s")[0].run_id, (), judgements.items(), ())
        again = {key: store.juries.find_judgement(key) for key in keys}
        assert again == {key: Judgement(one.replies) for key, one in judgements.items()}
        rescore_suite(store, "s")
        assert kept(store) == before
