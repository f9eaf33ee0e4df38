"""The steward's page in a real browser: nothing runs, nothing is fetched, and it fits screen and paper."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.protocol import world
from tests.steward import hospital
from tests.steward.hospital import Steward, chain

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="the distribution's chromium is not installed"),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with three statements, the last of which must not be signed, from a registry with a hostile name."""
    steward = Steward(tmp_path_factory.mktemp("steward"))
    model = replace(world.MODEL, display_name="</style><img src=//evil.example onerror=alert(1)>")
    registry = replace(hospital.registry_with(steward.signer), models={world.RESULT.model: model})
    broken = replace(chain()[2], cells={**chain()[2].cells, "ward/exact_match": 733})
    request = steward.ask(*chain()[:2], broken, registry_file=hospital.sign_registry(registry))
    assert steward.show(request, "--html", steward.folder / "page.html").code == 3
    return steward.folder / "page.html"


@pytest.fixture(scope="module")
def page(file: Path) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.events = []  # type: ignore[attr-defined]
        page.on("console", lambda message: page.events.append(message.text))  # type: ignore[attr-defined]
        page.on("dialog", lambda dialog: page.events.append("dialog"))  # type: ignore[attr-defined]
        page.on("request", lambda request: page.events.append(request.url))  # type: ignore[attr-defined]
        page.goto(file.as_uri())
        yield page
        browser.close()


def test_the_page_fetches_nothing_and_breaks_no_rule_of_its_own_policy(
    page: Page, file: Path
) -> None:
    assert page.events == [file.as_uri()]  # type: ignore[attr-defined]
    assert page.locator("img, script, link, iframe, form").count() == 0
    assert page.locator("h1").nth(2).inner_text().startswith("Figures of </style><img")


def test_its_style_is_applied(page: Page) -> None:
    """The content policy names the style by its digest; a wrong digest would leave the page bare."""
    assert (
        page.locator(".fault").first.evaluate("node => getComputedStyle(node).fontWeight") == "700"
    )


def test_a_fault_stands_above_everything_else(page: Page) -> None:
    article = page.locator("article").nth(2)
    fault = article.locator(".fault")
    assert "off_grid" in fault.inner_text()
    assert fault.bounding_box()["y"] < article.locator("dl").first.bounding_box()["y"]  # type: ignore[index]


def test_the_exact_bytes_can_be_copied(page: Page) -> None:
    shown = page.locator("pre").first.evaluate("node => node.textContent")
    assert shown == hospital.build_statement(chain()[0]).decode()


@pytest.mark.parametrize("width", [1200, 420])
def test_it_does_not_scroll_sideways(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_each_statement_begins_a_new_sheet_of_paper(page: Page) -> None:
    page.emulate_media(media="print")
    assert (
        page.locator("article").nth(1).evaluate("node => getComputedStyle(node).breakBefore")
        == "page"
    )
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="screen")
