"""Results are drafted in the browser by the rules of the command; the gate is foretold nothing without a debit."""

import pytest

from agent.cli.submission import submission
from agent.disclosure.ledger import ReleaseEntry
from agent.disclosure.site_gate import open_gate
from agent.io.days import today_day
from agent.site.directory import Site
from agent.store import JobState, QueuedCommand
from tests.agent.delivery.whole_site import SUITE, ok, rows
from tests.agent.service.web.running_service import RunningService
from tests.agent.service.web.test_approval_pages import give_run
from tests.agent.service.web.test_outbox_pages import read
from tests.aggregator.federation import MODELS


def count_debits(site: Site) -> int:
    entries = open_gate(site, today_day()).ledger().entries
    return sum(isinstance(entry.content, ReleaseEntry) for entry in entries)


def test_looking_ahead_writes_nothing_and_foretells_no_protected_figure(
    joined: RunningService, site: Site
) -> None:
    dana = joined.sign_in("dana")
    assert SUITE in dana.get("/outbox/prepare").text
    page = read(dana.get(f"/outbox/prepare?suite={SUITE}").text)
    assert "Draft 2 results" in page
    assert "leaves as it is" in page
    for verdict in ("low-coded", "perturbed", "suppressed"):
        assert verdict not in page
    assert count_debits(site) == 0
    assert rows(site, "result") == []


def test_results_are_drafted_as_the_command_does_and_name_their_author(
    joined: RunningService, site: Site
) -> None:
    dana = joined.sign_in("dana")
    model = MODELS[1].name
    drafted = dana.submit("/outbox/prepare", suite=SUITE, model=model)
    (row,) = rows(site, "result")
    assert drafted.headers["location"] == f"/outbox/{row['digest']}"
    assert row["model"] == model
    assert count_debits(site) == 1
    ok(site, submission, "prepare", "--suite", SUITE, "--model", model)
    assert [again["digest"] for again in rows(site, "result")] == [row["digest"]]
    assert dana.get(f"/outbox/{row['digest']}").status_code == 200  # her own, so she sees it
    with site.store() as store:
        account = store.accounts.find("dana")
        details = [e.detail for e in store.audit.read_events() if e.event == "submission prepared"]
    assert account is not None
    assert details[0].endswith(f"account={account.account_id}")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"suite": ""}, "No suite is chosen"),
        ({"suite": "never-run"}, "never-run"),
        ({"suite": SUITE, "scorecard": "no-such-card"}, "There is no scorecard no-such-card"),
        ({"suite": SUITE, "model": "example/never-run"}, "has no runs of example/never-run"),
    ],
)
def test_what_cannot_be_drafted_is_refused_with_the_reason(
    joined: RunningService, site: Site, fields: dict[str, str], words: str
) -> None:
    dana = joined.sign_in("dana")
    refused = dana.submit("/outbox/prepare", **fields)
    assert refused.status_code == 409
    assert words in read(refused.text)
    assert rows(site, "result") == []


@pytest.mark.full
def test_a_private_run_is_not_submitted_even_by_its_owner(
    joined: RunningService, site: Site
) -> None:
    with site.store() as store:
        account = store.accounts.find("dana")
        assert account is not None
        run_id = store.runs.select(SUITE)[0].run_id
        give_run(store, run_id, account.account_id, private=True)
    page = read(joined.sign_in("dana").get(f"/outbox/prepare?suite={SUITE}").text)
    assert "is kept from others, so it cannot be submitted" in page
    assert "Draft" not in page.split("What would it report?")[1]


def test_nothing_is_drafted_while_a_job_works_on_the_suite(
    joined: RunningService, site: Site
) -> None:
    with site.store() as store:
        command = QueuedCommand(("rescore", "--suite", SUITE), "rescore", "x", suite=SUITE)
        job = store.jobs.add(command, 1_800_000_000)
        store.database.connection.execute(
            "UPDATE jobs SET state = ? WHERE job_id = ?", (JobState.RUNNING, job.job_id)
        )
    refused = joined.sign_in("dana").submit("/outbox/prepare", suite=SUITE)
    assert refused.status_code == 409
    assert "is working on suite" in read(refused.text)
