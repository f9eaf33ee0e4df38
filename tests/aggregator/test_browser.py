"""The board in a real browser, from the folder as it lies: no server, no network, with and without script."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.aggregator.test_board import federation, grouped, published

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["federation", "grouped", "published"]  # fixtures

pytestmark = pytest.mark.browser
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PAGES = ("index.html", "details.html", "sites.html", "methods.html")


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    quiet = ["--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", *quiet],
            ignore_default_args=["--hide-scrollbars"],  # most readers' take room
        )
        yield started
        started.close()


@pytest.fixture(params=["published", "grouped"])
def board(request: pytest.FixtureRequest) -> Path:
    """A board without groups, and one with."""
    made: Path = request.getfixturevalue(request.param)
    return made


def opened(browser: "Browser", path: Path, **options: object) -> "Page":
    """Open a page and collect what it complains about and asks for."""
    page = browser.new_context(**options).new_page()  # type: ignore[arg-type]
    page.set_default_timeout(10_000)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith("file:") else complaints.append(request.url))
    page.goto(path.as_uri())
    assert complaints == []
    return page


def names(page: "Page") -> list[str]:
    heads = page.locator("table.overview tbody th").all()
    return [str(head.evaluate("one => one.firstChild.textContent.trim()")) for head in heads]


def test_sorting_works_by_keyboard_and_is_announced(browser: "Browser", published: Path) -> None:
    page = opened(browser, published / "index.html")
    ranked = names(page)
    head = page.locator("table.overview thead th").nth(2)
    assert head.get_attribute("aria-sort") == "descending"
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert names(page) == ranked[::-1]
    page.locator("table.overview thead th").nth(1).locator("button").press("Space")
    assert head.get_attribute("aria-sort") is None
    assert names(page) == sorted(ranked, key=str.casefold)
    page.context.close()


def test_the_first_click_on_any_head_shows_the_best_first(browser: "Browser", published: Path) -> None:
    page = opened(browser, published / "index.html")
    heads = page.locator("table.overview thead th")
    column = page.locator("table.overview tbody tr td:first-child")
    page.locator("table.overview thead th").nth(1).locator("button").click()
    heads.nth(0).locator("button").click()
    assert heads.nth(0).get_attribute("aria-sort") == "ascending"
    assert column.all_text_contents() == ["1", "2", "3", "–"]
    heads.nth(0).locator("button").click()
    assert column.all_text_contents() == ["3", "2", "1", "–"], "a row without a rank stays last"
    heads.nth(2).locator("button").click()
    rates = page.locator("table.overview td.rate .score").all_text_contents()
    assert rates == sorted(rates, reverse=True)
    page.context.close()


CUT = """
() => [...document.querySelectorAll("caption > span")].filter((span) => {
  const [text, frame] = [span.getBoundingClientRect(), span.closest(".scroll").getBoundingClientRect()];
  return text.left < frame.left || text.right > frame.right || span.scrollWidth > span.clientWidth;
}).map((span) => span.textContent)
"""


@pytest.mark.parametrize("name", ["index.html", "details.html", "sites.html"])
@pytest.mark.parametrize("width", [400, 1280])
def test_no_caption_is_cut(browser: "Browser", board: Path, name: str, width: int) -> None:
    page = opened(browser, board / name, viewport={"width": width, "height": 900})
    assert page.evaluate(CUT) == []
    page.evaluate("document.querySelectorAll('caption > span').forEach((one) => one.prepend('x'.repeat(120)))")
    assert page.evaluate(CUT) == [], "a category's name may be one long word"
    page.context.close()


def test_everything_is_there_without_script(browser: "Browser", published: Path) -> None:
    page = opened(browser, published / "index.html", java_script_enabled=False)
    assert page.locator("table").count() == 3
    assert page.locator("thead button").count() == 0
    assert page.get_by_text("First choice").count() == 3
    page.context.close()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [400, 1280])
def test_no_page_is_wider_than_the_window(browser: "Browser", board: Path, name: str, width: int) -> None:
    """Wide tables scroll in their own frame."""
    page = opened(browser, board / name, viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


CONTRAST = """
() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const colour = parse(getComputedStyle(node).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const worst = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || ["SCRIPT", "STYLE"].includes(parent.tagName)) continue;
    const [a, b] = [light(parse(getComputedStyle(parent).color)), light(ground(parent))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) worst.push(parent.className + " " + ratio.toFixed(2));
  }
  return worst;
}
"""


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_word_has_enough_contrast(browser: "Browser", board: Path, name: str, scheme: str) -> None:
    page = opened(browser, board / name, color_scheme=scheme)
    assert page.evaluate(CONTRAST) == []
    page.context.close()


def test_a_reader_follows_a_mark_to_the_words_why_without_script(browser: "Browser", grouped: Path) -> None:
    page = opened(browser, grouped / "details.html", java_script_enabled=False)
    table = page.get_by_role("region", name="Discharge letters by sex")
    shown, withheld = table.locator("td .score").first, table.locator("td .state").first
    assert shown.is_visible()
    assert withheld.inner_text() == "suppressed"
    table.locator("td a.state-note").first.click()
    note = page.locator("li:target")
    assert note.is_visible()
    assert "could be found by subtraction" in note.inner_text()
    page.context.close()
