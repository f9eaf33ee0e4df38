"""Nobody decides about what they had a part in: the ways around that rule that we could think of, and the way in."""

import re
from pathlib import Path

import pytest

from agent.access.accounts import change_roles
from agent.cli.submission import submission
from agent.runs.delete_run import delete_run
from agent.runs.privacy import share_run
from agent.service.web.queueing import find_queuers
from agent.site.directory import Site
from agent.store import AuditEvent, Role, Run, Store
from tests.agent.delivery.whole_site import SUITE, ok, rows, states
from tests.agent.service.web.running_service import Browser, RunningService
from tests.agent.service.web.steward_tool import StewardTool
from tests.agent.service.web.test_outbox_pages import read
from tests.aggregator.federation import MODELS

HAD_A_PART = "had a part in a submission"


def make_steward_too(site: Site, name: str) -> str:
    """Give a data scientist the role of a steward as well; return the account's id."""
    with site.store() as store:
        account = store.accounts.find(name)
        assert account is not None
        change_roles(store, account, {Role.DATA_SCIENTIST, Role.STEWARD})
        return account.account_id


def queue_rescore(browser: Browser, suite: str = SUITE) -> None:
    token = {"X-CSRF": browser.read_secret(), "Origin": browser.origin}
    body = {"arguments": ["rescore", "--suite", suite]}
    assert browser.client.post("/api/v1/jobs", json=body, headers=token).status_code == 200


def give_run(store: Store, run_id: str, account: str, *, private: bool = False) -> Run:
    """Let a run be one that an account made; return it."""
    store.database.connection.execute(
        "UPDATE runs SET owner = ?, private = ? WHERE run_id = ?", (account, private, run_id)
    )
    run = store.runs.find(run_id)
    assert run is not None
    return run


def expect_refusal(browser: Browser, signed: bytes, words: str = HAD_A_PART) -> None:
    refused = browser.upload("/outbox/decision", signed, decision="signed")
    assert refused.status_code == 409, refused.text
    assert words in refused.text


def get_request(member: RunningService) -> bytes:
    """Return the request with all drafts, as a steward without a part in any of them gets it."""
    request = member.sign_in("stella").get("/outbox/request")
    assert request.status_code == 200, request.text
    return request.content


@pytest.mark.full
def test_a_steward_reads_signs_elsewhere_and_hands_the_file_in(
    member: RunningService, site: Site, steward: StewardTool, tmp_path: Path
) -> None:
    stella = member.sign_in("stella")
    request = stella.get("/outbox/request")
    assert "attachment" in request.headers["content-disposition"]
    signed = steward.approve(request.content, tmp_path / "steward.key")
    assert stella.upload("/outbox/decision", signed, decision="signed").status_code == 303
    assert states(site, "result") == ["approved"] * 2
    assert stella.upload("/outbox/decision", signed, decision="signed").status_code == 303


def test_an_account_with_both_roles_cannot_approve_results_whose_jobs_it_queued(
    member: RunningService, site: Site, steward: StewardTool, tmp_path: Path
) -> None:
    """The roles allow each half, and the rule forbids the whole: in the file, on the page, and by rejection."""
    make_steward_too(site, "dana")
    dana = member.sign_in("dana")
    queue_rescore(dana)
    request = get_request(member)
    signed = steward.approve(request, tmp_path / "steward.key")
    expect_refusal(dana, signed)
    first = rows(site, "result")[0]["digest"]
    page = dana.get(f"/outbox/{first}").text
    assert "You had a part in this statement, so you cannot decide about it" in page
    assert f'action="/outbox/{first}/reject"' not in page
    assert dana.submit(f"/outbox/{first}/reject", reason="other").status_code == 409
    assert dana.get("/outbox/request").status_code == 400
    assert "in which you had a part" in dana.get("/outbox").text
    assert states(site, "result") == ["prepared"] * 2
    stella = member.sign_in("stella")
    assert stella.upload("/outbox/decision", signed, decision="signed").status_code == 303
    assert states(site, "result") == ["approved"] * 2


@pytest.mark.full
def test_a_file_of_rejections_is_no_way_around_it(
    member: RunningService, site: Site, steward: StewardTool
) -> None:
    make_steward_too(site, "dana")
    dana = member.sign_in("dana")
    queue_rescore(dana)
    first = rows(site, "result")[0]["digest"]
    rejected = steward.reject(get_request(member), "too_much", first)
    refused = dana.upload("/outbox/decision", rejected, decision="rejected")
    assert refused.status_code == 409
    assert HAD_A_PART in refused.text
    assert states(site, "result") == ["prepared"] * 2


@pytest.mark.full
def test_a_second_account_does_not_help_if_it_signs_with_a_key_of_the_first(
    joined: RunningService, site: Site, steward: StewardTool, tmp_path: Path
) -> None:
    """Dana once approved the work of others with this key; now it signs her own work, handed in by another account."""
    make_steward_too(site, "dana")
    key = tmp_path / "steward.key"
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[0].name)
    dana = joined.sign_in("dana")
    signed = steward.approve(dana.get("/outbox/request").content, key)
    assert dana.upload("/outbox/decision", signed, decision="signed").status_code == 303
    drafted = dana.submit("/outbox/prepare", suite=SUITE, model=MODELS[1].name)
    assert drafted.status_code == 303, drafted.text
    stella = joined.sign_in("stella")
    signed = steward.approve(stella.get("/outbox/request").content, key)
    expect_refusal(stella, signed, "the key of the approval belongs to someone who had a part")
    assert states(site, "result") == ["approved", "prepared"]


@pytest.mark.full
def test_a_private_run_that_was_shown_and_deleted_is_still_somebodys_part(
    joined: RunningService, site: Site, steward: StewardTool, tmp_path: Path
) -> None:
    """Its job is in the audit log without a suite; the entry of the day on which it was shown tells."""
    account = make_steward_too(site, "dana")
    with site.store() as store:
        run = next(run for run in store.runs.select(SUITE) if run.model == MODELS[1].name)
        share_run(store, give_run(store, run.run_id, account, private=True))
        shown = store.runs.find(run.run_id)
        assert shown is not None
        assert not shown.is_private
        delete_run(site, store, shown)
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[0].name)
    signed = steward.approve(get_request(joined), tmp_path / "steward.key")
    expect_refusal(joined.sign_in("dana"), signed)


def test_whoever_scheduled_a_job_of_the_suite_had_a_part(
    member: RunningService, site: Site, steward: StewardTool, tmp_path: Path
) -> None:
    account = make_steward_too(site, "dana")
    with site.store() as store:
        detail = f"schedule=a1 suite={SUITE} account={account}"
        store.audit.record("job scheduled", detail)
    signed = steward.approve(get_request(member), tmp_path / "steward.key")
    expect_refusal(member.sign_in("dana"), signed)


@pytest.mark.full
def test_a_draft_of_the_command_line_is_still_the_work_of_those_who_own_its_runs(
    member: RunningService, site: Site, steward: StewardTool, tmp_path: Path
) -> None:
    account = make_steward_too(site, "dana")
    with site.store() as store:
        give_run(store, store.runs.select(SUITE)[0].run_id, account)
    signed = steward.approve(get_request(member), tmp_path / "steward.key")
    expect_refusal(member.sign_in("dana"), signed)


@pytest.mark.full
def test_drafts_without_figures_are_not_approved_by_whoever_drafted_them(
    joined: RunningService, site: Site, steward: StewardTool, tmp_path: Path
) -> None:
    """A plan of one's own; and then the result under a plan of another who is a steward too."""
    make_steward_too(site, "dana")
    dana = joined.sign_in("dana")
    planned = dana.submit(
        "/outbox/plan",
        model=MODELS[0].name,
        scorecard="pilot",
        days="30",
        assurance="served_claimed",
    )
    assert planned.status_code == 303, planned.text
    signed = steward.approve(get_request(joined), tmp_path / "steward.key")
    expect_refusal(dana, signed)
    stella = joined.sign_in("stella")
    assert stella.upload("/outbox/decision", signed, decision="signed").status_code == 303
    assert stella.submit("/outbox/send").status_code == 303
    assert states(site, "plan") == ["receipted"]
    dan = joined.sign_in("dan")
    assert dan.submit("/outbox/prepare", suite=SUITE, model=MODELS[0].name).status_code == 303
    signed = steward.approve(get_request(joined), tmp_path / "steward.key")
    expect_refusal(dana, signed)
    assert stella.upload("/outbox/decision", signed, decision="signed").status_code == 303


def test_other_files_change_nothing_and_rejected_drafts_are_gone(
    member: RunningService, site: Site, steward: StewardTool
) -> None:
    stella = member.sign_in("stella")
    for content in (b"", b"{}", b"not json", b"\x00" * 100):
        for decision in ("signed", "rejected"):
            refused = stella.upload("/outbox/decision", content, decision=decision)
            assert refused.status_code in (400, 409)
    assert states(site, "result") == ["prepared"] * 2
    first = rows(site, "result")[0]["digest"]
    request = stella.get("/outbox/request").content
    rejected = steward.reject(request, "too_much", first)
    assert stella.upload("/outbox/decision", rejected, decision="rejected").status_code == 303
    assert first not in [row["digest"] for row in rows(site, "result")]
    page = stella.get("/outbox").text
    assert "Rejected by a steward" in page
    assert "it reveals too much" in page


def test_a_draft_is_rejected_on_its_page_with_a_reason_of_the_list(
    member: RunningService, site: Site
) -> None:
    stella = member.sign_in("stella")
    first, second = (row["digest"] for row in rows(site, "result"))
    for reason in ("", "because", "wrong_figures "):
        refused = stella.submit(f"/outbox/{second}/reject", reason=reason)
        assert (refused.status_code == 400) == (reason.strip() != "wrong_figures")
    assert [row["digest"] for row in rows(site, "result")] == [first]
    again = stella.submit(f"/outbox/{second}/reject", reason="other")
    assert again.status_code == 409
    with site.store() as store:
        detail = [e.detail for e in store.audit.read_events() if e.event == "submission rejected"]
        stella_account = store.accounts.find("stella")
    assert stella_account is not None
    assert [re.sub(r"about=[0-9a-f]{64}", "about=MODEL", text) for text in detail] == [
        f"digest={second} reason=wrong_figures kind=result about=MODEL account={stella_account.account_id}"
    ]
    row = read(stella.get("/outbox").text).partition("Rejected by a steward")[2]
    assert f"result {second[:12]} example/" in row  # the model, although the draft is gone
    assert "the figures are wrong stella" in row


@pytest.mark.parametrize(
    ("suites", "accounts"),
    [
        ({"autumn"}, {"a1"}),
        ({"autumn", ""}, {"a1", "c3"}),
        ({"spring", ""}, {"b2", "c3"}),
        (None, {"a1", "b2", "c3"}),
    ],
)
def test_the_audit_log_tells_who_queued_jobs_of_a_suite(
    suites: set[str] | None, accounts: set[str]
) -> None:
    details = (
        "job=1 suite=autumn account=a1",
        "job=2 suite=spring account=b2",
        "job=3 suite= account=c3",
    )
    events = [AuditEvent(n, 0, "job queued", detail, "", "") for n, detail in enumerate(details)]
    events.append(AuditEvent(9, 0, "job cancelled", "job=1 suite=autumn account=d4", "", ""))
    assert find_queuers(events, suites) == accounts
