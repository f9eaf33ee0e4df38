"""The table of a suite in a real browser: on a first screen, by keyboard, narrow, light and dark."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from agent.io.progress import Progress
from agent.redaction import Redactor
from agent.redaction.gateway.cases import Redacting
from agent.service.files import write_pages
from agent.service.pages import SitePages
from tests.agent.service.filled_site import filled_site, graded
from tests.agent.service.test_in_a_browser import CONTRAST, HIDDEN, browser, pytestmark  # noqa: F401

BENCHMARKS = (
    "med_qa",
    "med_mcqa",
    "pubmed_qa",
    "medec",
    "head_qa",
    "medbullets",
    "aci_bench",
    "ehr_sql",
)
MODELS = ("meta-llama/Llama-3.1-8B-Instruct", "qwen/qwen2.5-7b-instruct", "baseline/first-choice")  # fmt: skip
PAGES = (
    "index", "charts", "costs", "juries", "agreement", "calibration", "compare", "benchmarks/med_qa",
)  # fmt: skip


@pytest.fixture(scope="module")
def suite(redactor: Redactor, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a suite of three models and eight benchmarks. Only read."""
    folder = tmp_path_factory.mktemp("suite")
    filled = filled_site(folder)
    for benchmark in BENCHMARKS:
        for right, model in enumerate(MODELS):
            speaks = not model.startswith("baseline")
            filled.add(
                graded(12 * right, 40), entry=f"{benchmark}:model={model}", language_model=speaks
            )
    with filled.site.store() as store:
        pages = SitePages("s", store, Redacting(redactor))
        write_pages(pages, folder / "out", Progress(quiet=True))
    return folder / "out" / "suites" / "november"


def list_violations(page: Page) -> list[tuple[str, str]]:
    """Return axe's findings: the rule, and the first element that breaks it."""
    from axe_playwright_python.sync_playwright import Axe

    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    rules = {"runOnly": {"type": "tag", "values": tags}, "resultTypes": ["violations"]}
    found = Axe().run(page, options=rules).response["violations"]
    return [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_on_the_pages_of_a_suite(
    browser: Browser,  # noqa: F811
    suite: Path,
    scheme: str,
):
    for width in (320, 1280):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        pair = next(suite.glob("compare/*/*.html"))
        for path in (*(suite / f"{name}.html" for name in PAGES), pair):
            page.goto(path.as_uri())
            assert list_violations(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert (page.evaluate(HIDDEN), page.evaluate(CONTRAST)) == ([], []), path
        context.close()


def test_the_table_stands_on_the_first_screen(browser: Browser, suite: Path):  # noqa: F811
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto((suite / "index.html").as_uri())
    box = page.locator(".matrix").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900
    assert page.evaluate("document.documentElement.scrollHeight") < 1500
    context.close()


def test_a_narrow_table_scrolls_by_keyboard_and_keeps_the_names_of_its_rows(
    browser: Browser,  # noqa: F811
    suite: Path,
):
    context = browser.new_context(viewport={"width": 320, "height": 800})
    page = context.new_page()
    page.goto((suite / "index.html").as_uri())
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "matrix-region":
            break
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)
    assert page.evaluate("document.activeElement.scrollLeft") > 40
    left = page.locator(".matrix tbody th >> nth=0").bounding_box()
    assert left is not None
    assert 0 <= left["x"] < 30
    context.close()


def test_numbers_and_benchmarks_lead_on_without_script(browser: Browser, suite: Path):  # noqa: F811
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((suite / "index.html").as_uri())
    page.click("text=MedQA")
    assert page.inner_text("h1") == "MedQA in suite november"
    page.go_back()
    page.click(".matrix td a >> nth=0")
    assert "first-choice" in page.inner_text("h1")
    page.go_back()
    page.click("text=24 runs")
    assert page.locator("details.list table").is_visible()
    context.close()
