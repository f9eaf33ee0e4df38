"""The service in a real browser: each role's main task by keyboard and without script, narrow, dark, and under axe."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.agent.service.accessibility import find_violations
from tests.agent.service.filled_site import FilledSite, case, failed
from tests.agent.service.leaky_texts import SCRIPTS
from tests.agent.service.web.running_service import DEPLOYMENTS, PASSWORD, RunningService

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="the distribution's chromium is not installed"),
]
PAGES = {
    "dana": ("/", "/results/index.html", "/results/suites/november/index.html", "/new-run", "/jobs", "/benchmarks",
             "/models", "/outbox", "/account"),
    "ada": ("/", "/accounts", "/audit", "/account"),
}  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def filled_service(filled: FilledSite, running: RunningService) -> RunningService:
    filled.add([case(0), failed(1), *map(case, range(2, 25))])
    filled.site.deployments.write_text(DEPLOYMENTS, "utf-8")
    return running


def sign_in_by_keyboard(context: BrowserContext, service: RunningService, name: str) -> Page:
    page = context.new_page()
    page.goto(service.origin)
    page.wait_for_function("document.activeElement.id === 'name'")
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{service.origin}/")
    return page


def press_until(page: Page, selector: str, key: str = "Tab") -> None:
    """Move the focus by keyboard until it is on an element."""
    for _ in range(200):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached by keyboard")


def test_a_data_scientist_starts_a_run_and_cancels_it_by_keyboard_without_script(
    browser: Browser, filled_service: RunningService
):
    context = browser.new_context(java_script_enabled=True)
    page = sign_in_by_keyboard(context, filled_service, "dana")
    press_until(page, "a[href='/new-run']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/new-run")
    press_until(page, "input[value='local/qwen']")
    page.keyboard.press("Space")
    press_until(page, "input[value='pubmed_qa']")
    page.keyboard.press("Space")
    press_until(page, "button[value='queue']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/*")
    assert "pubmed_qa" in page.inner_text("h1")
    press_until(page, "main form[action$='/cancel'] button")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=cancelled")
    context.close()


def test_the_same_task_is_clicked_through_without_script(
    browser: Browser, filled_service: RunningService
):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(filled_service.origin)
    page.fill("#name", "dana")
    page.fill("#password", PASSWORD)
    page.click("main button")
    page.click("text=New run")
    page.click("text=Start without a forecast")
    assert "No benchmark is chosen" in page.inner_text("[role=alert]")
    page.check("input[value='pubmed_qa']")
    page.check("input[value='local/qwen']")
    page.click("text=Start without a forecast")
    assert "starts next" in page.inner_text("main")
    page.click("main >> text=Cancel")
    assert "cancelled" in page.inner_text("main")
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", sorted(PAGES))
def test_axe_finds_nothing(
    browser: Browser, filled_service: RunningService, name: str, scheme: str
):
    context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
    page = sign_in_by_keyboard(context, filled_service, name)
    faults: list[str] = []
    for path in PAGES[name]:
        page.goto(filled_service.origin + path)
        found = find_violations(page)
        faults += [f"{path}: {fault['id']}" for fault in found]
    assert faults == []
    context.close()


def test_the_sign_in_has_no_violation_and_fits_a_telephone(
    browser: Browser, filled_service: RunningService
):
    context = browser.new_context(viewport={"width": 320, "height": 640})
    page = context.new_page()
    page.goto(f"{filled_service.origin}/sign-in")
    assert find_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    context.close()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_no_page_is_wider_than_a_narrow_screen(
    browser: Browser, filled_service: RunningService, name: str
):
    context = browser.new_context(viewport={"width": 320, "height": 640})
    page = sign_in_by_keyboard(context, filled_service, name)
    wide: list[str] = []
    for path in PAGES[name]:
        page.goto(filled_service.origin + path)
        if page.evaluate("document.documentElement.scrollWidth") > 320:
            wide.append(path)
    assert wide == []
    context.close()


def test_what_a_model_wrote_runs_nothing_and_is_kept_nowhere(
    browser: Browser, filled: FilledSite, running: RunningService
):
    run_id = filled.add([case(number, answer=text) for number, text in enumerate(SCRIPTS)])
    context = browser.new_context()
    complaints: list[str] = []
    context.on("page", lambda page: page.on("dialog", lambda _: complaints.append("dialog")))
    page = sign_in_by_keyboard(context, running, "dana")
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"{running.origin}/results/runs/{run_id}/instances-1.html")
    for _ in SCRIPTS:
        page.keyboard.press("Tab")
    assert complaints == []
    assert (
        page.evaluate("Object.keys(localStorage).length + Object.keys(sessionStorage).length") == 0
    )
    assert page.evaluate("document.cookie") == ""
    context.close()
