"""Keys, a new epoch, the audit and the ledger in a real browser: by keyboard alone, under axe, and 320 pixels wide."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from agent.cli.submission import submission
from agent.site.directory import Site
from tests.agent.delivery.whole_site import SUITE, ok, states
from tests.agent.service.accessibility import find_violations
from tests.agent.service.web.running_service import RunningService
from tests.agent.service.web.steward_tool import StewardTool
from tests.agent.service.web.test_outbox_in_a_browser import browser
from tests.agent.service.web.test_service_in_a_browser import (
    CHROMIUM,
    press_until,
    sign_in_by_keyboard,
)

__all__ = ["browser"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="the distribution's chromium is not installed"),
]
_WIDTHS = (1280, 320)


def check_page(page: Page) -> None:
    """Check that axe finds nothing on a page, and that it is not wider than a narrow screen."""
    for width in _WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert find_violations(page) == [], page.url
        assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url


def go(page: Page, selector: str, address: str) -> None:
    """Go to a link or button by keyboard, press it, and check the page that follows."""
    press_until(page, selector)
    page.keyboard.press("Enter")
    page.wait_for_url(address)
    check_page(page)


def test_a_key_is_asked_for_and_handed_in_by_keyboard(
    browser: Browser, joined: RunningService, site: Site, steward: StewardTool, tmp_path: Path
) -> None:
    assert joined.sign_in("stella").submit("/outbox/send").status_code == 303
    page = sign_in_by_keyboard(browser.new_context(), joined, "ada")
    go(page, "a[href='/federation']", "**/federation")
    go(page, "a[href='/federation/rotate']", "**/federation/rotate")
    go(page, "form[action='/federation/rotate'] button", "**/federation/requests/rotate")
    page = sign_in_by_keyboard(browser.new_context(accept_downloads=True), joined, "stella")
    go(page, "a[href='/outbox']", "**/outbox")
    go(page, "main a[href='/outbox/requests/rotate']", "**/outbox/requests/rotate")
    press_until(page, "main a[href$='/file']")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    request = Path(download.value.path()).read_bytes()
    signed = tmp_path / "signed.json"
    signed.write_bytes(steward.sign_request(request, tmp_path / "steward.key"))
    press_until(page, "#file")
    page.set_input_files("#file", signed)
    press_until(page, "main form button")
    page.keyboard.press("Enter")
    page.wait_for_function("document.body.innerText.includes('waits for the central team')")
    check_page(page)
    assert states(site, "rotate") == ["sent"]


def test_a_wrong_file_for_a_key_is_an_alarm_on_the_same_page(
    browser: Browser, joined: RunningService, tmp_path: Path
) -> None:
    assert joined.sign_in("stella").submit("/outbox/send").status_code == 303
    page = sign_in_by_keyboard(browser.new_context(), joined, "ada")
    page.goto(f"{joined.origin}/federation/rotate")
    press_until(page, "input[value='agent']")
    page.keyboard.press("ArrowDown")
    assert page.is_checked("input[value='steward']")
    press_until(page, "#file")
    page.set_input_files("#file", tmp_path / "steward.key")
    press_until(page, "main form button")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=alert]")
    assert "private key" in page.inner_text("[role=alert]")
    check_page(page)


def test_a_machine_is_compared_with_the_log_by_keyboard(
    browser: Browser, joined: RunningService
) -> None:
    assert joined.sign_in("stella").submit("/outbox/send").status_code == 303
    page = sign_in_by_keyboard(browser.new_context(), joined, "ada")
    page.goto(f"{joined.origin}/federation")
    go(page, "a[href='/federation/reset']", "**/federation/reset")
    press_until(page, "button[value='compare']")
    page.keyboard.press("Enter")
    page.wait_for_selector("main [role=status]")
    assert "Nothing is lost" in page.inner_text("main [role=status]")
    check_page(page)
    press_until(page, "#reason")
    page.keyboard.type("this machine was restored")
    press_until(page, "button[value='request']")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=alert]")
    assert "there is nothing to reset" in page.inner_text("[role=alert]")
    check_page(page)


def test_results_are_computed_again_and_heads_compared_by_keyboard(
    browser: Browser, joined: RunningService, site: Site, tmp_path: Path
) -> None:
    ok(site, submission, "prepare", "--suite", SUITE)
    ok(site, submission, "approve", "--key", tmp_path / "steward.key", answer="y\ny\n")
    page = sign_in_by_keyboard(browser.new_context(), joined, "ada")
    go(page, "a[href='/audit']", "**/audit")
    head = page.inner_text("main .lead code")
    press_until(page, "#head")
    page.keyboard.type(head)
    page.keyboard.press("Enter")
    page.wait_for_url("**/audit?head=*")
    assert "still contains that event" in page.inner_text("main [role=status]")
    check_page(page)
    press_until(page, "form[action='/audit/verify'] button")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Results computed again')")
    assert "Everything matches." in page.inner_text("main [role=status]")
    check_page(page)
    page.goto(f"{joined.origin}/receipts/ledger")
    press_until(page, "#head")
    page.keyboard.type(f"1:{'0' * 64}")
    page.keyboard.press("Enter")
    page.wait_for_selector("main .alarm[role=status]")
    check_page(page)
