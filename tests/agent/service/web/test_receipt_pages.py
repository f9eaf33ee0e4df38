"""Receipts are verified when they are shown; the ledger is compared with all statements and with kept heads."""

import pytest

from agent.disclosure.ledger_report import read_site_ledger
from agent.site.directory import Site
from tests.agent.delivery.whole_site import PROTECTED, rows
from tests.agent.service.web.running_service import RunningService
from tests.agent.service.web.test_outbox_pages import read


@pytest.fixture
def sent(joined: RunningService) -> RunningService:
    """A site whose two datasets have receipts."""
    assert joined.sign_in("stella").submit("/outbox/send").status_code == 303
    return joined


def test_receipts_are_listed_shown_and_downloaded(sent: RunningService, site: Site) -> None:
    ada = sent.sign_in("ada")
    page = read(ada.get("/receipts").text)
    assert page.count("verified") >= len(PROTECTED)
    for row in rows(site):
        assert row["digest"][:12] in page
        receipt = ada.get(f"/receipts/{row['digest']}")
        assert "Verified just now: this statement is entry" in read(receipt.text)
        file = ada.get(f"/receipts/{row['digest']}/file")
        assert file.content == (site.submissions / f"{row['digest']}.receipt").read_bytes()
        assert "attachment" in file.headers["content-disposition"]
    assert "The statement" not in read(receipt.text)  # an administrator does not see the outbox


def test_a_receipt_that_was_changed_is_named(sent: RunningService, site: Site) -> None:
    digest = rows(site)[0]["digest"]
    path = site.submissions / f"{digest}.receipt"
    other = site.submissions / f"{rows(site)[1]['digest']}.receipt"
    path.write_bytes(other.read_bytes())
    stella = sent.sign_in("stella")
    assert "1 receipt does not verify" in read(stella.get("/receipts").text)
    assert "The receipt does not verify" in read(stella.get(f"/receipts/{digest}").text)


def test_there_is_no_receipt_of_what_was_not_sent(joined: RunningService, site: Site) -> None:
    dana = joined.sign_in("dana")
    assert "There is no receipt yet." in read(dana.get("/receipts").text)
    digest = rows(site)[0]["digest"]
    for path in (f"/receipts/{digest}", f"/receipts/{digest}/file", "/receipts/00"):
        assert dana.get(path).status_code == 409


def test_the_ledger_matches_its_statements_and_a_head_that_was_kept(
    joined: RunningService, site: Site
) -> None:
    dana = joined.sign_in("dana")
    page = read(dana.get("/receipts/ledger").text)
    assert f"they match all {len(PROTECTED)} statements" in page
    head = read_site_ledger(site).head
    kept = f"{head.length}:{head.head}"
    assert kept in page
    assert "still contains entry" in read(dana.get(f"/receipts/ledger?head={kept}").text)
    other = f"{head.length}:{'0' * 64}"
    assert "restored from a backup" in read(dana.get(f"/receipts/ledger?head={other}").text)
    assert "A head is the number" in read(dana.get("/receipts/ledger?head=x").text)


def test_a_ledger_that_was_cut_or_changed_is_an_alarm(joined: RunningService, site: Site) -> None:
    entries = sorted((site.submissions / "ledger").glob("*.json"))
    kept = entries[-1].read_bytes()
    entries[-1].unlink()
    dana = joined.sign_in("dana")
    assert "The ledger does not match 1 of" in read(dana.get("/receipts/ledger").text)
    entries[-1].write_bytes(kept.replace(b'"number":2', b'"number":3'))
    page = dana.get("/receipts/ledger")
    assert page.status_code == 200
    assert 'role="alert"' in page.text


def test_a_site_without_an_aggregator_has_empty_pages_that_say_what_comes_first(
    running: RunningService,
) -> None:
    ada = running.sign_in("ada")
    assert '<a href="/federation">Federation</a> says how' in ada.get("/receipts").text
    assert "intramural enroll" in ada.get("/federation").text
    assert "No dataset was registered, and no figure of protected data was prepared yet." in read(
        ada.get("/receipts/ledger").text
    )
