"""What would leave is shown in full: state, figures with verdicts, difference to the last release, bytes."""

import re
from html import unescape
from pathlib import Path

import pytest

from agent.cli.submission import submission
from agent.service.web.benchmark_titles import BenchmarkTitles
from agent.service.words import name_figure
from agent.site.directory import Site
from agent.store import Account, AuditEvent
from agent.store.audit import AuditLog
from tests.agent.delivery.whole_site import SUITE, drafts, fill, ok, rows
from tests.agent.service.web.running_service import RunningService
from tests.aggregator.federation import CARD, MODELS


def read(text: str) -> str:
    """Return a page's words as a browser shows them, with single spaces."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def test_a_steward_reads_every_figure_its_verdict_and_every_byte(
    member: RunningService, site: Site
) -> None:
    stella, find_title = member.sign_in("stella"), BenchmarkTitles().find
    for draft in drafts(site):
        page = read(stella.get(f"/outbox/{draft['digest']}").text)
        assert draft["payload"] in page
        for word in draft["gate_words"].values():
            assert word in page
        for figure in draft["figures"]:
            assert name_figure(figure["subject"], lambda name: find_title(name, None)) in page
            assert figure["value"] in page
        assert "No result of this model for this scorecard was accepted before" in page


def test_states_come_in_words_with_the_next_step(member: RunningService, site: Site) -> None:
    stella = member.sign_in("stella")
    page = read(stella.get("/outbox").text)
    assert "2 drafts wait for your decision" in page
    assert "A draft: nothing has left the site." in page
    assert "The steward has signed it. Nothing has left the site yet." in page
    assert "2 statements have no receipt yet" in page  # the datasets, which are approved
    newest = rows(site)[-1]["digest"]
    assert page.index(f"result {newest[:12]}") < page.index("dataset ")


def test_a_data_scientist_sees_no_draft_in_which_they_had_no_part(
    member: RunningService, site: Site
) -> None:
    dana = member.sign_in("dana")
    page = dana.get("/outbox").text
    assert "There is nothing of yours here yet." in read(page)
    for row in rows(site):
        assert row["digest"][:12] not in page
        assert dana.get(f"/outbox/{row['digest']}").status_code == 409
    assert dana.get("/outbox/00").status_code == 409  # and a short prefix finds nothing


@pytest.mark.full
def test_the_next_release_is_compared_with_the_accepted_one(
    joined: RunningService, site: Site, tmp_path: Path
) -> None:
    """Only the public figure has changed, and so only it does."""
    key, model = tmp_path / "steward.key", MODELS[0].name
    ok(site, submission, "prepare", "--suite", SUITE, "--model", model)
    ok(site, submission, "approve", "--key", key, answer="y\n")
    ok(site, submission, "send")
    first = rows(site, "result")[-1]["digest"]
    for cell in CARD.cells:
        right = 30 if cell.benchmark == "pubmed_qa" else 80
        fill(site, cell.benchmark, cell.metric, model, right=right, suite="later")
    ok(site, submission, "prepare", "--suite", "later", "--model", model)
    stella = joined.sign_in("stella")
    page = read(stella.get(f"/outbox/{rows(site, 'result')[-1]['digest']}").text)
    assert f"Compared with result {first[:12]}" in page
    assert "1 figure has changed, 2 figures stay the same" in page
    accepted = read(stella.get(f"/outbox/{first}").text)
    assert "It is in the aggregator's log, and the site holds the receipt" in accepted


def test_a_site_without_an_aggregator_says_what_comes_first(
    running: RunningService, people: dict[str, Account]
) -> None:
    del people
    for name in ("dana", "stella"):
        page = running.sign_in(name).get("/outbox")
        assert page.status_code == 200
        assert "This site is not enrolled with an aggregator" in page.text
        assert "An administrator begins that" in page.text
    assert "/outbox/prepare" not in page.text


def test_the_audit_log_is_read_once_a_page(
    member: RunningService, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was read and checked again for each draft, which took seconds with many events."""
    reads: list[int] = []
    read_events = AuditLog.read_events

    def count(log: AuditLog) -> list[AuditEvent]:
        events = read_events(log)
        reads.append(len(events))
        return events

    monkeypatch.setattr(AuditLog, "read_events", count)
    draft = rows(site)[-1]["digest"]
    for name in ("stella", "dana"):
        browser = member.sign_in(name)
        for path in ("/outbox", f"/outbox/{draft}", "/outbox/request"):
            reads.clear()
            browser.get(path)
            assert len(reads) <= 1, (name, path)
    assert reads == []  # dana may not download the request
    member.sign_in("stella").get("/outbox")
    assert len(reads) == 1
