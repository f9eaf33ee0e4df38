"""Original text: for accounts with that right alone, one instance at a time, with a reason, in the audit log."""

import pytest

from agent.access.accounts import change_reveal, require_account
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.web.running_service import RunningService

NAME = "Margaret Holloway"


@pytest.fixture
def run_id(filled: FilledSite) -> str:
    return filled.add([case(0, prompt=f"Patient {NAME} has fever. Is it malaria?", answer=NAME)])


def allow(running: RunningService, name: str) -> None:
    with running.site.store() as store:
        change_reveal(store, require_account(store, name), may_reveal=True)


def test_who_may_reveal_sees_the_text_after_an_entry_with_account_and_reason(
    running: RunningService, filled: FilledSite, run_id: str
):
    allow(running, "dana")
    browser = running.sign_in("dana")
    page = browser.get(f"/results/runs/{run_id}/instance-1.html")
    assert NAME not in page.text
    assert "choose a reason" in page.text
    shown = browser.submit(f"/reveal/runs/{run_id}/instance-1.html", reason="clinical")
    assert NAME in shown.text
    assert "Original text." in shown.text
    with filled.site.store() as store:
        account = require_account(store, "dana")
        (event,) = [e for e in store.audit.read_events() if e.event == "reveal"]
    assert event.detail.endswith(f"account={account.account_id} reason=clinical")
    assert run_id in event.detail


@pytest.mark.parametrize("reason", ["", "other", "because Margaret Holloway asked"])
def test_without_a_reason_of_the_list_nothing_is_shown(
    running: RunningService, filled: FilledSite, run_id: str, reason: str
):
    allow(running, "dana")
    refused = running.sign_in("dana").submit(
        f"/reveal/runs/{run_id}/instance-1.html", reason=reason
    )
    assert refused.status_code == 400
    assert NAME not in refused.text
    assert filled.audited() == []


def test_without_the_right_neither_form_nor_text_is_there(
    running: RunningService, filled: FilledSite, run_id: str
):
    allow(running, "ada")  # an administrator may not see instances at all
    for name in ("dana", "ada"):
        browser = running.sign_in(name)
        assert "choose a reason" not in browser.get(f"/results/runs/{run_id}/instance-1.html").text
        refused = browser.submit(f"/reveal/runs/{run_id}/instance-1.html", reason="score")
        assert refused.status_code == 403
    assert filled.audited() == []


@pytest.mark.parametrize(
    "path",
    [
        "runs/RUN/instances-1.html",
        "runs/RUN/instance-1.json",
        "runs/../RUN/instance-1.html",
        "style.css",
    ],
)
def test_only_single_instances_are_revealed(
    running: RunningService, filled: FilledSite, run_id: str, path: str
):
    allow(running, "dana")
    refused = running.sign_in("dana").submit(
        f"/reveal/{path.replace('RUN', run_id)}", reason="score"
    )
    assert refused.status_code in (400, 404)
    assert NAME not in refused.text
    assert filled.audited() == []
