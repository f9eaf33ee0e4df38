"""What leaves the site through the pages: read, handed to the steward, and approved by nobody who had a part in it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.access.accounts import change_roles
from agent.cli.submission import submission
from agent.service.web.queueing import find_queuers
from agent.site.directory import Site
from agent.store import AuditEvent, Role
from tests.agent.delivery.whole_site import SUITE, Wire, as_steward, join, ok, rows, states
from tests.agent.service.web.running_service import RunningService, add_people
from tests.aggregator.conftest import Served


@pytest.fixture
def member(site: Site, served: Served, wire: Wire, tmp_path: Path) -> Iterator[RunningService]:
    """The service of a site in a federation, with two drafts."""
    join(site, served, wire, tmp_path)
    ok(site, submission, "prepare", "--suite", SUITE)
    add_people(site)
    running = RunningService(site)
    yield running
    running.stop()


def sign(tmp_path: Path, request: bytes, *words: str) -> bytes:
    """Return the file that the steward's own tool writes about a request."""
    (tmp_path / "request").write_bytes(request)
    root = json.loads((tmp_path / "invite.json").read_text())["root_keys"][0]
    listed = ("--list", tmp_path / "list.jsonl", "--root", root)
    out = tmp_path / "decided"
    as_steward(words[0], tmp_path / "request", *words[1:], "--out", out, *listed, answer="y\ny\n")
    return out.read_bytes()


@pytest.mark.full
def test_a_steward_reads_signs_elsewhere_and_hands_the_file_in(
    member: RunningService, site: Site, tmp_path: Path
) -> None:
    stella = member.sign_in("stella")
    digest = rows(site, "result")[0]["digest"]
    page = stella.get(f"/outbox/{digest}")
    assert page.status_code == 200
    assert "Exactly these" in page.text
    request = stella.get("/outbox/request")
    assert "attachment" in request.headers["content-disposition"]
    signed = sign(tmp_path, request.content, "approve", "--key", str(tmp_path / "steward.key"))
    assert stella.upload("/outbox/decision", signed, decision="signed").status_code == 303
    assert states(site, "result") == ["approved"] * 2
    assert stella.upload("/outbox/decision", signed, decision="signed").status_code == 303


@pytest.mark.full
def test_who_queued_a_job_of_the_suite_cannot_approve_its_results(
    member: RunningService, site: Site, tmp_path: Path
) -> None:
    """An account that is both: the roles allow each half, and the rule forbids the whole."""
    with site.store() as store:
        dana = store.accounts.find("dana")
        assert dana is not None
        change_roles(store, dana, {Role.DATA_SCIENTIST, Role.STEWARD})
    browser = member.sign_in("dana")
    token = {"X-CSRF": browser.read_secret(), "Origin": member.origin}
    body = {"arguments": ["rescore", "--suite", SUITE]}
    assert browser.client.post("/api/v1/jobs", json=body, headers=token).status_code == 200
    request = browser.get("/outbox/request").content
    signed = sign(tmp_path, request, "approve", "--key", str(tmp_path / "steward.key"))
    refused = browser.upload("/outbox/decision", signed, decision="signed")
    assert refused.status_code == 409
    assert "had a part in a submission" in refused.text
    assert states(site, "result") == ["prepared"] * 2
    stella = member.sign_in("stella")
    assert stella.upload("/outbox/decision", signed, decision="signed").status_code == 303
    assert states(site, "result") == ["approved"] * 2


@pytest.mark.full
def test_rejected_drafts_are_gone_and_other_files_change_nothing(
    member: RunningService, site: Site, tmp_path: Path
) -> None:
    stella = member.sign_in("stella")
    for content in (b"", b"{}", b"not json", b"\x00" * 100):
        for decision in ("signed", "rejected"):
            refused = stella.upload("/outbox/decision", content, decision=decision)
            assert refused.status_code in (400, 409)
    assert states(site, "result") == ["prepared"] * 2
    first = rows(site, "result")[0]["digest"]
    request = stella.get("/outbox/request").content
    rejected = sign(tmp_path, request, "reject", "--reason", "too_much", "--digest", first)
    assert stella.upload("/outbox/decision", rejected, decision="rejected").status_code == 303
    assert first not in [row["digest"] for row in rows(site, "result")]


@pytest.mark.parametrize(
    ("suite", "accounts"),
    [("autumn", {"a1", "c3"}), ("spring", {"b2", "c3"}), ("", {"a1", "b2", "c3"})],
)
def test_the_audit_log_tells_who_queued_jobs_of_a_suite(suite: str, accounts: set[str]) -> None:
    details = (
        "job=1 suite=autumn account=a1",
        "job=2 suite=spring account=b2",
        "job=3 suite= account=c3",
    )
    events = [AuditEvent(n, 0, "job queued", detail, "", "") for n, detail in enumerate(details)]
    events.append(AuditEvent(9, 0, "job cancelled", "job=1 suite=autumn account=d4", "", ""))
    assert find_queuers(events, suite) == accounts
