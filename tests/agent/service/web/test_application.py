"""Addresses without a page, and forms that are none: the reader sees what is wrong, and the way on."""

import pytest

from tests.agent.service.web.running_service import RunningService

ROOMS = '<nav aria-label="Main">'


@pytest.mark.parametrize("path", ["/nothing", "/jobs/x/y/z", "/results/runs/none/index.html"])
def test_a_wrong_address_leaves_the_way_to_the_other_pages(running: RunningService, path: str):
    answer = running.sign_in("vera").get(path)
    assert answer.status_code == 404
    assert ROOMS in answer.text
    assert "Sign out" in answer.text


def test_a_wrong_address_shows_nothing_of_the_site_to_strangers(running: RunningService):
    answer = running.visit().get("/nothing")
    assert answer.status_code == 404
    assert ROOMS not in answer.text


def test_a_form_that_is_none_leaves_the_way_to_the_other_pages(running: RunningService):
    browser = running.sign_in("dana")
    headers = {"Origin": browser.origin, "Content-Type": "application/json"}
    answer = browser.client.post("/new-run", content=b"{}", headers=headers)
    assert answer.status_code == 400
    assert ROOMS in answer.text
