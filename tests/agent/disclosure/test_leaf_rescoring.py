"""Scores that were committed to against the answers in the store: a site that changed scores is found out."""

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from agent.disclosure.commitment import OpenedLeaf, compute_scores_root, list_records, open_leaves
from agent.disclosure.findings import Finding
from agent.disclosure.leaf_rescoring import LeafCheck, check_leaves
from agent.site.directory import Site, create_site
from agent.store import Run, Store
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.runs.suites import run, write_benchmark

BENCHMARK = "parser: option_letter\nchoices: [yes, no]\ngold: {column: gold, form: text}\n"
METRICS = "metrics:\n  - name: exact_match\n  - name: rouge_l\n"
MODEL, SCORECARD, SECRET = "aa" * 32, "bb" * 32, b"s" * 32
PATIENTS = 12


def says(asked: Asked) -> Message | None:
    return (
        Message({"role": "assistant", "content": "The answer is (A)."})
        if "invented note" in asked.prompt
        else None
    )


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Return a site that has asked one model about 12 patients, of whom 8 were answered rightly."""
    site = create_site(tmp_path / "site", "Test")
    rows = [
        {"note": f"invented note {n}.", "gold": "yes" if n % 3 else "no"} for n in range(PATIENTS)
    ]
    folder = write_benchmark(site, "own", rows, BENCHMARK + METRICS)
    (folder / "prompt.txt").write_text("Note: {note}\n{options}\nAnswer:")
    with FaultServer(models=["a/b"], fault=says) as server:
        run(site, server.url, "own:model=a/b")
    return site


def commit(store: Store) -> tuple[Run, list[OpenedLeaf], str]:
    """Commit to the scores as the store has them now; return every leaf, opened, and the root."""
    (stored,) = store.runs.select("s")
    findings = [
        Finding(
            benchmark="own",
            metric=metric,
            definition="cc" * 32,
            access="private",
            binary=metric == "exact_match",
            low=0,
            high=1,
            scores=store.scores.read_units(stored.run_id, metric),
            dataset="",
            known="own",
            available=PATIENTS,
        )
        for metric in ("exact_match", "rouge_l")
    ]
    records = list_records(findings, model=MODEL, scorecard=SCORECARD, site_secret=SECRET)
    root = compute_scores_root(findings, model=MODEL, scorecard=SCORECARD, site_secret=SECRET)
    return stored, open_leaves(records, range(len(records))), root


def check(
    site: Site, store: Store, stored: Run, leaves: list[OpenedLeaf], root: str
) -> list[LeafCheck]:
    return check_leaves(store, [stored], leaves, root, site.means)


def outcomes(checks: list[LeafCheck]) -> dict[str, int]:
    return dict(Counter(check.outcome.value for check in checks))


def change(site: Site, statement: str) -> None:
    """Change the database as whoever may write it can: scores are plain numbers there."""
    with closing(sqlite3.connect(site.directory / "store" / "site.sqlite3")) as database, database:
        database.execute(statement)


def test_every_leaf_of_an_honest_site_matches(site: Site) -> None:
    with site.store() as store:
        checks = check(site, store, *commit(store))
    assert outcomes(checks) == {"match": 2 * PATIENTS}
    assert [check.leaf.index for check in checks] == list(range(2 * PATIENTS))


def test_scores_that_were_raised_before_they_were_committed_to_are_found(site: Site) -> None:
    change(site, "UPDATE scores SET value = 1.0 WHERE metric = 'exact_match'")
    with site.store() as store:
        checks = check(site, store, *commit(store))
    wrong = [check for check in checks if check.outcome == "different"]
    assert len(wrong) == 4
    assert {check.finding for check in wrong} == {
        "the submission has 1, but the stored answer gets 0"
    }


def test_answers_dropped_as_failures_of_the_server_are_found(site: Site) -> None:
    """Wrong answers are turned into timeouts, which would leave the mean of the others."""
    change(
        site,
        "UPDATE scores SET value = NULL, reason = 'timeout' WHERE metric = 'exact_match' AND value = 0",
    )
    with site.store() as store:
        checks = check(site, store, *commit(store))
    wrong = [check for check in checks if check.outcome == "different"]
    assert {check.finding for check in wrong} == {
        "the submission has no score (timeout), but the stored answer gets 0"
    }
    assert len(wrong) == 4


def test_scores_changed_after_the_submission_do_not_hide_what_was_committed(site: Site) -> None:
    with site.store() as store:
        stored, leaves, root = commit(store)
        change(site, "UPDATE scores SET value = 1.0")
        assert outcomes(check(site, store, stored, leaves, root)) == {"match": 2 * PATIENTS}


def test_leaf_of_another_submission_is_no_match(site: Site) -> None:
    with site.store() as store:
        stored, leaves, root = commit(store)
        checks = check(site, store, stored, leaves[:1], "00" * 32)
        assert [check.finding for check in checks] == [
            "the leaf is not among those that the submission commits to"
        ]
        swapped = [replace(leaves[0], record=leaves[1].record)]
        assert outcomes(check(site, store, stored, swapped, root)) == {"different": 1}


def test_purged_texts_are_said_to_be_uncheckable_and_not_called_matches(site: Site) -> None:
    with site.store() as store:
        stored, leaves, root = commit(store)
        store.purge(0)
        checks = check(site, store, stored, leaves, root)
    assert outcomes(checks) == {"not_checkable": 2 * PATIENTS}
    assert {check.finding for check in checks} == {"the texts behind the leaf were purged"}


def test_instances_that_left_the_store_are_said_to_be_uncheckable(site: Site) -> None:
    with site.store() as store:
        _, leaves, root = commit(store)
        checks = check_leaves(store, [], leaves, root, site.means)
    assert {check.finding for check in checks} == {"the leaf's instance is no longer in the store"}
