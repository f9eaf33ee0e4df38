"""Further ways around the rule that nobody decides about what they had a part in, each of which led somewhere once."""

from pathlib import Path

import pytest

from agent.cli.submission import submission
from agent.runs.privacy import share_run
from agent.site.directory import Site
from tests.agent.delivery.whole_site import SUITE, ok, rows, states
from tests.agent.service.web.running_service import Browser, RunningService
from tests.agent.service.web.steward_tool import StewardTool
from tests.agent.service.web.test_approval_pages import (
    expect_refusal,
    get_request,
    give_run,
    make_steward_too,
    queue_rescore,
)


def queue(browser: Browser, *arguments: str) -> int:
    """Queue a command line by the HTTP interface; return the status of the answer."""
    headers = {"X-CSRF": browser.read_secret(), "Origin": browser.origin}
    body = {"arguments": list(arguments)}
    return browser.client.post("/api/v1/jobs", json=body, headers=headers).status_code


def test_a_job_that_was_queued_while_the_whole_suite_was_private_is_a_part_once_it_is_shown(
    joined: RunningService, site: Site, steward: StewardTool, tmp_path: Path
) -> None:
    """Dana knows the name of dan's private suite. Her job waits until he has shown it, and then scores it anew."""
    make_steward_too(site, "dana")
    with site.store() as store:
        dan = store.accounts.find("dan")
        assert dan is not None
        hidden = [
            give_run(store, run.run_id, dan.account_id, private=True)
            for run in store.runs.select(SUITE)
        ]
    queue_rescore(joined.sign_in("dana"))
    with site.store() as store:
        for run in hidden:
            share_run(store, run)
    ok(site, submission, "prepare", "--suite", SUITE)
    signed = steward.approve(get_request(joined), tmp_path / "steward.key")
    expect_refusal(joined.sign_in("dana"), signed)
    assert states(site, "result") == ["prepared"] * 2


@pytest.mark.parametrize(
    "arguments", [("datasets", "fetch", "pubmed_qa"), ("rescore", "--suite", "")]
)
def test_a_job_of_no_suite_does_not_make_everybodys_drafts_ones_own(
    member: RunningService, site: Site, arguments: tuple[str, ...]
) -> None:
    """For approval, such a job counts as a part in every suite. It gives no right to read or discard them all."""
    dan = member.sign_in("dan")
    assert queue(dan, *arguments) == 200
    first = rows(site, "result")[0]["digest"]
    assert first[:12] not in dan.get("/outbox").text
    assert dan.get(f"/outbox/{first}").status_code == 409
    assert dan.submit(f"/outbox/{first}/discard").status_code == 409
    assert states(site, "result") == ["prepared"] * 2
