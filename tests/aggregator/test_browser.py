"""The board in a real browser: published, from the folder as it lies, and live, from the real server."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aggregator.board.pages import render
from aggregator.home import Home
from tests.aggregator.boards import large_board, make_registry, publish_made_up, small_board
from tests.aggregator.conftest import Served, serve_in_thread
from tests.aggregator.test_board import federation, grouped, published

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["federation", "grouped", "published"]  # fixtures

pytestmark = pytest.mark.browser
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
CARD = "cards/pilot-1"


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    quiet = [
        "--disable-gpu",
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
    ]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", *quiet],
            ignore_default_args=["--hide-scrollbars"],  # most readers' take room
        )
        yield started
        started.close()


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published folder with a cell of every state, a row of every mark, two releases and public results."""
    out = tmp_path_factory.mktemp("made-up")
    registry = make_registry(out)
    publication = publish_made_up(
        small_board(), registry, earlier=[large_board(5, 2)], helm=["Example Large", "Other"]
    )
    for name, content in render(small_board(), publication).items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(content)
    return out


@pytest.fixture(scope="module")
def live(federation: Home) -> Iterator[Served]:
    with serve_in_thread(federation) as running:
        yield running


def pages_of(folder: Path) -> list[Path]:
    """Return one page of every kind, and every page made in advance."""
    kinds = [
        "*.html",
        "cards/*/by/*",
        "sites/*",
        "releases/*.html",
        "references/*.html",
        "cards/*/compare/*",
    ]
    found = [
        path for pattern in kinds for path in sorted(folder.glob(pattern)) if path.suffix == ".html"
    ]
    for kind in ("models", "benchmarks", "provenance"):
        found += sorted(folder.glob(f"cards/*/{kind}/*.html"))[:3]
    return found


def opened(browser: "Browser", address: str, **options: Any) -> "Page":
    """Open a page, and check that it complains of nothing and asks no other host for anything."""
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(10_000)
    complaints: list[str] = []
    origin = address.partition("/board/")[0]
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith(origin) else complaints.append(request.url),
    )
    page.goto(address)
    assert complaints == []
    return page


def names(page: "Page") -> list[str]:
    """Return the models in the overview's order."""
    return page.locator("table.board tbody th a").all_text_contents()


# Sorting and filtering.


def test_a_reader_sorts_by_keyboard_without_script(browser: "Browser", made_up: Path) -> None:
    page = opened(browser, (made_up / "index.html").as_uri(), java_script_enabled=False)
    ranked = names(page)
    page.get_by_role("columnheader", name="Model").get_by_role("link").first.press("Enter")
    page.wait_for_url("**/by/sort-name.html")
    assert names(page) == sorted(ranked, key=str.casefold) != ranked
    assert page.locator("thead th[aria-sort]").inner_text() == "Model"
    page.get_by_role("link", name="Mean win rate").press("Enter")
    page.wait_for_url("**/index.html")
    assert names(page) == ranked
    page.context.close()


def test_a_reader_filters_a_published_board_by_links(browser: "Browser", made_up: Path) -> None:
    page = opened(browser, (made_up / "index.html").as_uri(), java_script_enabled=False)
    page.locator("details.choices summary").press("Enter")
    page.get_by_role("link", name="Medical Research Assistance").first.click()
    page.wait_for_url("**/by/category-medical-research-assistance.html")
    assert page.locator("table.map thead tr").nth(1).locator("th").all_inner_texts() == ["PubMedQA"]
    assert "recomputed from the 1 benchmark shown" in page.locator(".notice").inner_text()
    page.get_by_role("link", name="Show everything").click()
    page.wait_for_url("**/index.html")
    page.context.close()


def test_a_reader_combines_filters_of_the_live_board_in_a_form_without_script(
    browser: "Browser", live: Served
) -> None:
    page = opened(browser, f"{live.url}/board/", java_script_enabled=False)
    everything = names(page)
    assert len(everything) == 4
    page.locator("details.choices summary").click()
    page.get_by_label("Access").select_option("private")
    page.get_by_label("Sort by").select_option("name")
    page.get_by_role("button", name="Show").press("Enter")
    page.wait_for_url("**access=private**")
    assert names(page) == sorted(everything, key=str.casefold)
    assert page.locator("table.map thead tr").nth(1).locator("th").all_inner_texts() == [
        "Ward notes"
    ]
    assert "Shown: private benchmarks." in page.locator(".notice").inner_text()
    page.context.close()


def test_a_reader_compares_any_two_models_of_the_live_board(
    browser: "Browser", live: Served
) -> None:
    page = opened(browser, f"{live.url}/board/", java_script_enabled=False)
    first = names(page)[0]
    page.get_by_role("link", name=first).first.click()
    page.get_by_label("With", exact=True).select_option(label="First choice")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/compare.html?**")
    assert page.locator("h1").inner_text() == f"{first} and First choice"
    assert page.locator("tbody tr").count() == 3
    page.context.close()


def test_a_reader_who_asks_for_nothing_that_is_there_is_led_back(
    browser: "Browser", live: Served
) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    for path in ("cards/pilot-1/models/nobody.html", "?category=nothing", "a/b/c/d.html"):
        answer = page.goto(f"{live.url}/board/{path}")
        assert answer is not None
        assert answer.status == 404
        page.get_by_role("link", name="Go to the leaderboard").click()
        page.wait_for_url("**/board/index.html")
    page.context.close()


def test_a_reader_follows_a_mark_to_the_words_why_without_script(
    browser: "Browser", grouped: Path
) -> None:
    address = (grouped / "cards/wards-1/benchmarks/discharge.html").as_uri()
    page = opened(browser, address, java_script_enabled=False)
    table = page.get_by_role("region", name="Discharge letters by sex")
    assert table.locator("td .score").first.is_visible()
    assert table.locator("td .state").first.inner_text() == "suppressed"
    table.locator("td a.state-note").first.click()
    note = page.locator("li:target")
    assert note.is_visible()
    assert "could be found by subtraction" in note.inner_text()
    page.context.close()


# Reading it on any screen, and by ear.

CUT = """
() => [...document.querySelectorAll("caption > span")].filter((span) => {
  const [text, frame] = [span.getBoundingClientRect(), span.closest(".scroll").getBoundingClientRect()];
  return text.left < frame.left || text.right > frame.right || span.scrollWidth > span.clientWidth;
}).map((span) => span.textContent)
"""


HIDDEN_WIDTH = """
() => {
  const frame = document.querySelector("table.board").parentNode;
  return frame.scrollWidth - frame.clientWidth;
}
"""


def test_a_laptop_shows_the_whole_leaderboard_with_its_marks(
    browser: "Browser", made_up: Path
) -> None:
    page = opened(
        browser, (made_up / "index.html").as_uri(), viewport={"width": 1280, "height": 900}
    )
    assert page.evaluate(HIDDEN_WIDTH) <= 0
    page.context.close()


@pytest.mark.full
@pytest.mark.sample(1)
@pytest.mark.parametrize("width", [320, 400, 1280, 2200])
def test_no_page_is_wider_than_the_window_and_no_caption_is_cut(
    browser: "Browser", made_up: Path, width: int
) -> None:
    """Wide tables scroll in their own frame. 320 pixels are a page of 1280 at four times its size."""
    page = opened(
        browser, (made_up / "index.html").as_uri(), viewport={"width": width, "height": 900}
    )
    for path in pages_of(made_up):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
        assert page.evaluate(CUT) == [], path.name
    page.context.close()


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_of_wcag_2_2_aa_on_a_published_board(
    browser: "Browser", made_up: Path, scheme: str, first: int
) -> None:
    page = opened(browser, (made_up / "index.html").as_uri(), color_scheme=scheme)
    for path in pages_of(made_up)[first::4]:
        page.goto(path.as_uri())
        assert violations(page) == [], path.name
    page.context.close()


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "path", ["", "?access=gated&sort=name", "benchmarks.html", "sites.html", "downloads.html"]
)
def test_axe_finds_no_violation_of_wcag_2_2_aa_on_the_live_board(
    browser: "Browser", live: Served, path: str
) -> None:
    page = opened(browser, f"{live.url}/board/{path}", viewport={"width": 360, "height": 800})
    page.locator("details.choices summary").click() if page.locator(
        "details.choices"
    ).count() else None
    assert violations(page) == []
    page.context.close()


def violations(page: "Page") -> list[tuple[str, str]]:
    """Return axe's findings on a page: the rule, and the first element that breaks it."""
    from axe_playwright_python.sync_playwright import Axe

    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = Axe().run(
        page, options={"runOnly": {"type": "tag", "values": tags}, "resultTypes": ["violations"]}
    )
    return [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found.response["violations"]]


def test_every_region_that_scrolls_is_reached_by_keyboard(
    browser: "Browser", made_up: Path
) -> None:
    page = opened(
        browser, (made_up / "index.html").as_uri(), viewport={"width": 400, "height": 800}
    )
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.getAttribute('aria-labelledby')"))
    assert {"overview", "map"} <= set(reached)
    page.context.close()


def test_paper_has_the_tables_and_no_navigation(browser: "Browser", made_up: Path) -> None:
    page = opened(browser, (made_up / "index.html").as_uri())
    page.emulate_media(media="print")
    assert not page.locator(".pages").is_visible()
    assert not page.locator(".choices").is_visible()
    assert page.locator("table.map").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.context.close()


def test_everything_is_there_without_script_and_no_script_is_there(
    browser: "Browser", published: Path
) -> None:
    page = opened(browser, (published / "index.html").as_uri(), java_script_enabled=False)
    assert page.locator("table").count() == 2
    assert page.get_by_text("First choice").count() == 2
    assert page.locator("script").count() == 0
    page.context.close()


def test_the_live_board_says_that_it_takes_nothing_from_elsewhere(live: Served) -> None:
    answer = live.get("/board/index.html")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in answer.headers
    again = live.get("/board/board.csv")
    assert again.headers["content-type"] == "text/csv; charset=utf-8"
