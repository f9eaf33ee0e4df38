"""Data, models, health and settings in a real browser: by keyboard, without script, narrow, dark, and under axe."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from agent.site.settings import read_settings
from tests.agent.service.accessibility import find_violations
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.web.running_service import RunningService
from tests.agent.service.web.test_service_in_a_browser import (  # noqa: F401
    browser,
    filled_service,
    press_until,
    pytestmark,
    sign_in_by_keyboard,
)

CSV = "prompt,context,label\nIs it so?,A note.,A\nIs it so?,Another note.,B\n"
PATHS = {
    "dana": (
        "/",
        "/benchmarks",
        "/benchmarks/mimic_bhc",
        "/benchmarks/clear",
        "/benchmarks/pubmed_qa",
        "/models",
        "/models/local/qwen",
        "/new-run",
        "/health",
        "/downloads/november",
    ),
    "ada": ("/", "/models/local/qwen", "/health", "/settings"),
    "vera": ("/", "/benchmarks/mimic_bhc"),
}


def test_data_is_added_and_removed_without_script(
    browser: Browser,  # noqa: F811
    filled: FilledSite,
    filled_service: RunningService,  # noqa: F811
    tmp_path: Path,
):
    file = tmp_path / "my own name.csv"
    file.write_text(CSV.replace(",B", ",Q"), "utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(filled_service.origin)
    page.fill("#name", "dana")
    page.fill("#password", "correct horse battery")
    page.click("main button")
    page.click("nav >> text=Benchmarks")
    page.click("text=ADHD-Behavior")
    page.set_input_files("#file", file)
    page.click("text=Send and check")
    assert "row 2" in page.inner_text("[role=alert]")
    file.write_text(CSV, "utf-8")
    page.set_input_files("#file", file)
    page.click("text=Send and check")
    assert "2 instances" in page.inner_text("[role=status]")
    assert (filled.site.data / "shc_ptbm_med" / "shc_ptbm_med.csv").read_text() == CSV
    page.click("text=Remove the data")
    page.click("main >> button:has-text('Remove the data')")
    assert "Only the sample is here" in page.inner_text("main")
    context.close()


def test_a_setting_is_changed_by_keyboard(
    browser: Browser,  # noqa: F811
    filled: FilledSite,
    filled_service: RunningService,  # noqa: F811
):
    context = browser.new_context()
    page = sign_in_by_keyboard(context, filled_service, "ada")
    press_until(page, "a[href='/health']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/health")
    press_until(page, "a[href='/settings']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/settings")
    press_until(page, "#field-max_attempts")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    page.wait_for_url("**/settings#max_attempts")
    assert read_settings(filled.site.directory / "site.yaml").max_attempts == 3
    context.close()


@pytest.mark.parametrize("width", [320, 1280])
def test_words_are_searched_for_by_keyboard(
    browser: Browser,  # noqa: F811
    filled_service: RunningService,  # noqa: F811
    width: int,
):
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = sign_in_by_keyboard(context, filled_service, "vera")
    page.goto(f"{filled_service.origin}/results/suites/november/index.html")
    page.click(".matrix td a")
    page.click("text=Read the instances")
    press_until(page, "#words")
    page.keyboard.type("question 7?")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search/*")
    assert "1 contains “question 7?”" in page.inner_text("[role=status]")
    assert page.inner_text("summary mark") == "question 7?"
    assert "question" not in page.url
    page.click("summary")
    assert find_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (1280, "dark")])
@pytest.mark.parametrize("name", sorted(PATHS))
def test_axe_finds_nothing_and_nothing_is_cut_off(
    browser: Browser,  # noqa: F811
    filled_service: RunningService,  # noqa: F811
    name: str,
    width: int,
    scheme: str,
):
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page = sign_in_by_keyboard(context, filled_service, name)
    faults: list[str] = []
    for path in PATHS[name]:
        page.goto(filled_service.origin + path)
        found = find_violations(page)
        faults += [f"{path}: {fault['id']}" for fault in found]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            faults.append(f"{path}: wide")
    assert faults == []
    context.close()
