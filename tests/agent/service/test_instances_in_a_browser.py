"""Lists of instances and the page of one, in a real browser: by keyboard without script, narrow, light and dark."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from agent.redaction import Redactor
from agent.redaction.gateway.cases import Redacting
from agent.service.pages import SitePages
from tests.agent.service.filled_site import case, failed, filled_site, unscored
from tests.agent.service.leaky_texts import LEAKY
from tests.agent.service.test_in_a_browser import CONTRAST, browser, pytestmark  # noqa: F401
from tests.agent.service.test_matrix_in_a_browser import list_violations

NAMES = (
    "instances-1",
    "instances-2",
    "instances-wrong-1",
    "instances-right-1",
    "instance-1",
    "instance-2",
)


def draw_served(pages: SitePages, run_id: str, folder: Path) -> Path:
    """Write pages as the server shows them; return the folder of the run."""
    paths = ["style.css", *(f"runs/{run_id}/{name}.html" for name in NAMES)]
    for path in paths:
        page = pages.draw_page(path)
        assert page is not None, path
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(page.content)
    return folder / "runs" / run_id


@pytest.fixture(scope="module")
def run(redactor: Redactor, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run's pages. Only read."""
    folder = tmp_path_factory.mktemp("run")
    filled = filled_site(folder)
    answer = "The answer is A. " + "unbroken" * 60
    wrong = [case(number, score=0.0, answer=answer, prompt=LEAKY) for number in range(4)]
    others = [failed(4), unscored(5), *map(case, range(6, 30))]
    run_id = filled.add([*wrong, *others])
    with filled.site.store() as store:
        pages = SitePages(filled.site.name, store, Redacting(redactor))
        return draw_served(pages, run_id, folder / "out")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_in_open_and_closed_instances(
    browser: Browser,  # noqa: F811
    run: Path,
    scheme: str,
):
    for width in (320, 1280):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        for name in ("instances-1", "instances-wrong-1", "instance-1"):
            page.goto((run / f"{name}.html").as_uri())
            for summary in page.locator("details.case > summary").all()[:6]:
                summary.click()
            assert list_violations(page) == [], name
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            assert page.evaluate(CONTRAST) == [], name
        context.close()


def test_twenty_closed_instances_fit_about_one_screen(browser: Browser, run: Path):  # noqa: F811
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto((run / "instances-1.html").as_uri())
    assert page.locator("details.case").count() == 20
    assert page.evaluate("document.documentElement.scrollHeight") < 1400
    context.close()


def test_an_instance_is_filtered_opened_and_left_for_the_next_without_script(
    browser: Browser,  # noqa: F811
    run: Path,
):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((run / "instances-1.html").as_uri())
    page.click("text=Wrong 4")
    assert page.locator("details.case").count() == 4
    page.locator("details.case > summary >> nth=0").press("Enter")
    assert page.locator(".why >> nth=0").is_visible()
    page.click("text=Instance 1 on a page of its own")
    assert "[MRN-1]" in page.inner_text("article")
    page.click("text=Next")
    assert page.inner_text("h1").startswith("Instance 2 ")
    context.close()
