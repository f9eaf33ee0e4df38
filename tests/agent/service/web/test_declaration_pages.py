"""Plans, plans that are given up, withdrawn results and discarded drafts, each by its form."""

from pathlib import Path

import pytest

from agent.cli.submission import submission
from agent.site.directory import Site
from tests.agent.delivery.whole_site import SUITE, ok, rows, states
from tests.agent.service.web.running_service import Browser, RunningService
from tests.agent.service.web.steward_tool import StewardTool
from tests.agent.service.web.test_approval_pages import make_steward_too
from tests.agent.service.web.test_outbox_pages import read
from tests.aggregator.federation import MODELS

PLAN = {
    "model": MODELS[0].name,
    "scorecard": "pilot",
    "days": "30",
    "assurance": "served_claimed",
}


def approve_and_send(running: RunningService, steward: StewardTool, key: Path) -> None:
    """Have the steward approve all drafts, and send everything."""
    stella = running.sign_in("stella")
    signed = steward.approve(stella.get("/outbox/request").content, key)
    assert stella.upload("/outbox/decision", signed, decision="signed").status_code == 303
    sent = stella.submit("/outbox/send")
    assert sent.status_code == 303, sent.text


def draft(browser: Browser, path: str, **fields: str) -> str:
    """Send a form that drafts something; return the draft's digest."""
    answer = browser.submit(path, **fields)
    assert answer.status_code == 303, read(answer.text)
    return answer.headers["location"].removeprefix("/outbox/")


def test_a_plan_is_made_sent_and_given_up(
    joined: RunningService, site: Site, steward: StewardTool, tmp_path: Path
) -> None:
    dana, key = joined.sign_in("dana"), tmp_path / "steward.key"
    assert MODELS[0].name in dana.get("/outbox/plan").text
    plan = draft(dana, "/outbox/plan", **PLAN)
    early = dana.submit(f"/outbox/{plan}/abandon", reason="failed")
    assert early.status_code == 409
    assert "The plan is not open" in read(early.text)
    approve_and_send(joined, steward, key)
    assert "Give the plan up" in dana.get(f"/outbox/{plan}").text
    assert dana.submit(f"/outbox/{plan}/abandon", reason="bored").status_code == 400
    draft(dana, f"/outbox/{plan}/abandon", reason="failed")
    approve_and_send(joined, steward, key)
    assert states(site, "abandon") == ["receipted"]
    page = read(dana.get(f"/outbox/{plan}").text)
    assert "Give the plan up" not in page
    steps = page.partition("Who did what")[2]
    assert "Drafted by dana, 20" in steps
    assert "Approved with the steward’s signature by stella, 20" in steps
    ending = steps.partition("End of the plan: the run failed accepted")[2]
    assert "Drafted by dana, 20" in ending
    assert "Sent by stella, 20" in ending


@pytest.mark.parametrize(
    "wrong",
    [
        {"days": "0"},
        {"days": "128"},
        {"days": "²"},
        {"model": "example/unknown"},
        {"assurance": "trust"},
    ],
)
def test_a_wrong_plan_is_refused_with_what_was_filled_in(
    joined: RunningService, site: Site, wrong: dict[str, str]
) -> None:
    refused = joined.sign_in("dana").submit("/outbox/plan", **{**PLAN, **wrong})
    assert refused.status_code == 409
    assert 'role="alert"' in refused.text
    assert rows(site, "plan") == []


@pytest.mark.full
def test_a_result_is_withdrawn_from_its_page(
    joined: RunningService, site: Site, steward: StewardTool, tmp_path: Path
) -> None:
    dana, key = joined.sign_in("dana"), tmp_path / "steward.key"
    result = draft(dana, "/outbox/prepare", suite=SUITE, model=MODELS[0].name)
    early = dana.submit(f"/outbox/{result}/withdraw", reason="consent")
    assert early.status_code == 409
    approve_and_send(joined, steward, key)
    withdrawal = draft(dana, f"/outbox/{result}/withdraw", reason="consent")
    page = read(joined.sign_in("stella").get(f"/outbox/{withdrawal}").text)
    assert result[:12] in page
    approve_and_send(joined, steward, key)
    assert states(site, "withdraw") == ["receipted"]


def test_a_draft_is_discarded_by_its_author_and_by_nobody_else(
    joined: RunningService, site: Site
) -> None:
    dana, dan = joined.sign_in("dana"), joined.sign_in("dan")
    plan = draft(dana, "/outbox/plan", **PLAN)
    assert dan.submit(f"/outbox/{plan}/discard").status_code == 409
    make_steward_too(site, "dan")  # now he sees it, and could reject it
    refused = dan.submit(f"/outbox/{plan}/discard")
    assert refused.status_code == 409
    assert "is not your work" in read(refused.text)
    assert states(site, "plan") == ["prepared"]
    assert dana.submit(f"/outbox/{plan}/discard").status_code == 303
    assert states(site, "plan") == []


def test_a_draft_of_the_command_line_cannot_be_discarded_by_a_stranger(
    member: RunningService, site: Site
) -> None:
    for row in rows(site, "result"):
        assert member.sign_in("dan").submit(f"/outbox/{row['digest']}/discard").status_code == 409
    assert states(site, "result") == ["prepared"] * 2
    ok(site, submission, "discard", "--digest", rows(site, "result")[0]["digest"])
