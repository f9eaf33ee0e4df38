"""Outbox, receipts, keys and audit in a real browser: by keyboard, under axe, narrow, and dark."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from agent.cli.submission import submission
from agent.site.directory import Site
from tests.agent.delivery.whole_site import SUITE, fill, ok, rows, states
from tests.agent.service.accessibility import find_violations
from tests.agent.service.web.running_service import RunningService
from tests.agent.service.web.test_service_in_a_browser import (
    ARGUMENTS,
    CHROMIUM,
    press_until,
    sign_in_by_keyboard,
)
from tests.aggregator.federation import CARD, MODELS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="the distribution's chromium is not installed"),
]
Pages = dict[str, tuple[str, ...]]
_NARROW = 320


@pytest.fixture
def browser(joined: RunningService) -> Iterator[Browser]:
    """A browser that starts after the commands of the site's fixtures: these run an event loop of their own."""
    del joined
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def pages(joined: RunningService, site: Site, tmp_path: Path) -> Pages:
    """Every page of this part with something on it, by the person who looks at it."""
    key = tmp_path / "steward.key"
    ok(site, submission, "prepare", "--suite", SUITE, "--model", MODELS[0].name)
    ok(site, submission, "approve", "--key", key, answer="y\n")
    ok(site, submission, "send")
    accepted = rows(site, "result")[-1]["digest"]
    ada = joined.sign_in("ada")
    assert ada.submit("/federation/rotate", role="agent").status_code == 303
    dana = joined.sign_in("dana")
    plan = dana.submit(
        "/outbox/plan",
        model=MODELS[1].name,
        scorecard="pilot",
        days="30",
        assurance="served_claimed",
    ).headers["location"]
    joined.sign_in("stella").submit(f"{plan}/reject", reason="too_much")
    for cell in CARD.cells:
        right = 30 if cell.benchmark == "pubmed_qa" else 80
        fill(site, cell.benchmark, cell.metric, MODELS[0].name, right=right, suite="later")
    own = dana.submit("/outbox/prepare", suite="later", model=MODELS[0].name)
    assert own.status_code == 303
    draft = own.headers["location"]
    receipt = f"/receipts/{accepted}"
    return {
        "dana": (
            "/outbox",
            draft,
            f"/outbox/prepare?suite={SUITE}",
            "/outbox/plan",
            "/outbox/datasets",
            "/receipts",
            receipt,
            "/receipts/ledger",
        ),
        "stella": ("/outbox", draft, f"/outbox/{accepted}"),
        "ada": ("/federation", "/federation/rotate", "/federation/reset", "/audit"),
    }


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_wider_than_a_narrow_screen(
    pages: Pages, browser: Browser, joined: RunningService, scheme: str, tmp_path: Path
) -> None:
    faults: list[str] = []
    for name, paths in pages.items():
        context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
        page = sign_in_by_keyboard(context, joined, name)
        for number, path in enumerate(paths):
            for width in (1280, _NARROW):
                page.set_viewport_size({"width": width, "height": 800})
                answer = page.goto(joined.origin + path)
                assert answer is not None
                assert answer.status == 200, path
                found = find_violations(page)
                faults += [f"{path} {fault['id']}" for fault in found]
                if page.evaluate("document.documentElement.scrollWidth") > width:
                    faults.append(f"{path} is wider than {width}")
                shot = tmp_path / f"{name}-{number}-{width}-{scheme}.png"
                page.screenshot(path=shot, full_page=True)
        context.close()
    assert faults == []


def test_a_data_scientist_prepares_and_a_steward_rejects_by_keyboard(
    browser: Browser, joined: RunningService, site: Site
) -> None:
    context = browser.new_context()
    page = sign_in_by_keyboard(context, joined, "dana")
    press_until(page, "a[href='/outbox']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/outbox")
    press_until(page, "a[href='/outbox/prepare']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/outbox/prepare")
    press_until(page, "#suite")
    page.keyboard.type(SUITE)
    press_until(page, "main button")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Draft 2 results")
    press_until(page, f"input[value='{MODELS[0].name}']")
    page.keyboard.press("Space")
    press_until(page, "form[method='get'] button")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Draft 1 result")
    press_until(page, "form[method='post'] button:not(.who button)")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/outbox/[0-9a-f]{64}$"))
    assert states(site, "result") == ["prepared"]
    draft = page.url
    context.close()
    context = browser.new_context()
    page = sign_in_by_keyboard(context, joined, "stella")
    page.goto(draft)
    press_until(page, "#reason")
    page.keyboard.type("it reveals")
    press_until(page, "form[action$='/reject'] button")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Rejected by a steward")
    assert states(site, "result") == []
    context.close()
