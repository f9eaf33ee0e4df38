"""The pages in a real browser: from files and from the server, wide and narrow, by keyboard, without script."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from agent.exchange.helm.import_runs import import_helm
from agent.exchange.helm.leaderboard import import_leaderboard
from agent.exchange.releases import make_release
from agent.io.progress import Progress
from agent.redaction import Redactor
from agent.redaction.gateway.cases import Redacting
from agent.service.files import write_pages
from agent.service.pages import SitePages
from tests.agent.exchange.conftest import DATA
from tests.agent.service.filled_site import FilledSite, case, graded, twin_metrics
from tests.agent.service.leaky_texts import SCRIPTS, leak
from tests.agent.service.test_server import Running

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="the distribution's chromium is not installed"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that notes every complaint of the browser and every request that leaves the pages."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.complaints = []  # type: ignore[attr-defined]
    page.on("console", lambda message: page.complaints.append(message.text))  # type: ignore[attr-defined]
    page.on("pageerror", lambda error: page.complaints.append(str(error)))  # type: ignore[attr-defined]
    page.on("dialog", lambda dialog: page.complaints.append("dialog"))  # type: ignore[attr-defined]
    yield page
    context.close()


@pytest.fixture(scope="module")
def folder(
    november: FilledSite, redactor: Redactor, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The pages as files. Only read."""
    folder = tmp_path_factory.mktemp("pages") / "out"
    with november.site.store() as store:
        pages = SitePages(november.site.name, store, Redacting(redactor))
        write_pages(pages, folder, Progress(quiet=True))
    return folder


def test_files_are_styled_and_linked_without_a_server(page: Page, folder: Path):
    page.goto((folder / "index.html").as_uri())
    assert page.evaluate("getComputedStyle(document.querySelector('header')).display") == "flex"
    page.click("text=november")
    page.click(".matrix td a >> nth=0")
    page.click("text=Read the instances")
    page.click("text=Next >> nth=0")
    assert "Page 2 of 3" in page.inner_text(".pager >> nth=0")
    page.click("text=Suites")
    assert page.inner_text("h1") == "Suites"
    assert page.complaints == []  # type: ignore[attr-defined]


@pytest.mark.sample(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_drawing_is_whole_on_a_wide_screen_and_moves_by_keyboard_on_a_narrow_one(
    browser: Browser, folder: Path, scheme: str
):
    for width in (1200, 400):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto((folder / "suites/november/charts.html").as_uri())
        assert page.evaluate(DRAWN) == []
        moves = "[...document.querySelectorAll('.drawing')].map(e => e.scrollWidth > e.clientWidth)"
        assert page.evaluate(moves) == [width == 400] * 2
        page.focus(".drawing >> nth=0")
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(300)
        assert (page.evaluate("document.querySelector('.drawing').scrollLeft") > 0) is (
            width == 400
        )
        context.close()


@pytest.mark.sample(1)
@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_fits_the_window_and_stands_out(
    browser: Browser, folder: Path, run_id: str, width: int, scheme: str
):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    for path in (
        "index.html",
        "suites/november/index.html",
        "suites/november/benchmarks/pubmed_qa.html",
        "suites/november/costs.html",
        f"runs/{run_id}/index.html",
        f"runs/{run_id}/instances-1.html",
    ):
        page.goto((folder / path).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        hidden, faint = page.evaluate(HIDDEN), page.evaluate(CONTRAST)
        assert (hidden, faint) == ([], []), path
    context.close()


@pytest.fixture
def joined(filled: FilledSite, redacting: Redacting, tmp_path: Path) -> Path:
    """The pages of a site with a release, imported runs, invented data, pooled runs and figures by both rules."""
    filled.add(graded(3, 40), scoring="both", metrics=twin_metrics())
    for number, subset in enumerate(("healthcaremagic", "icliniq")):
        cases = [case(100 * number + n, score=1.0) for n in range(4)]
        filled.add(cases, entry=f"med_dialog:subset={subset},model=a/b")
    import_helm(filled.site, DATA / "helm_output")
    import_leaderboard(filled.site, DATA / "helm_release", "medhelm")
    make_release(filled.site, ["november", "real", "medhelm"], "winter")
    with filled.site.store() as store:
        write_pages(SitePages("s", store, redacting), tmp_path / "out", Progress(quiet=True))
    return tmp_path / "out"


@pytest.mark.full
@pytest.mark.sample(1)
@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_releases_and_imported_runs_fit_the_window_and_stand_out(
    browser: Browser, joined: Path, width: int, scheme: str
):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    runs = sorted(joined.glob("runs/*/index.html"))
    for path in (
        joined / "index.html",
        joined / "releases/winter/index.html",
        *joined.glob("suites/*/index.html"),
        *joined.glob("*/*/benchmarks/*.html"),
        *runs,
    ):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        hidden, faint = page.evaluate(HIDDEN), page.evaluate(CONTRAST)
        assert (hidden, faint) == ([], []), path
        if width == 1200:
            assert page.evaluate(OVERLAPPING) == [], path
    context.close()


def test_pooled_runs_are_reached_by_keyboard_without_script(browser: Browser, joined: Path):
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": 1200, "height": 900}
    )
    page = context.new_page()
    page.goto((joined / "releases/winter/benchmarks/med_dialog.html").as_uri())
    page.focus("details.parts summary")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_load_state()
    assert "a/b on MedDialog" in page.inner_text("h1")
    context.close()


def test_a_narrow_leaderboard_names_every_figure_and_is_still_a_table(
    browser: Browser, folder: Path
):
    context = browser.new_context(viewport={"width": 400, "height": 800})
    page = context.new_page()
    page.goto((folder / "suites/november/benchmarks/pubmed_qa.html").as_uri())
    nodes = context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in nodes if not node.get("ignored")]
    assert roles.count("table") == 2
    assert {"row", "cell", "rowheader", "columnheader", "caption"} <= {
        role.casefold() for role in roles
    }
    headings = page.evaluate(
        "[...document.querySelectorAll('.board tbody tr:first-child td:not(.drawn)')]"
        ".map(cell => getComputedStyle(cell, '::before').content)"
    )
    assert headings == [
        f'"{text}"'
        for text in ("Mean", "95 % interval", "Floor", "Scored", "Units", "Unscored", "Notes")
    ]
    context.close()


# Every element with text of its own that the window, or a box around it that hides what is too much, cuts off.
HIDDEN = """
() => [...document.querySelectorAll('body *:not(.skip, .unseen, thead *, thead, .drawing *, .matrix-region *)')]
  .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
  .filter(e => {
    const box = e.getBoundingClientRect();
    if (box.width === 0) return false;
    for (let around = e; around; around = around.parentElement) {
      if (getComputedStyle(around).overflowX !== 'visible') {
        const edge = around.getBoundingClientRect();
        if (box.right > edge.right + 1 || box.left < edge.left - 1) return true;
        if (around.scrollWidth > around.clientWidth + 1) return true;
      }
    }
    return box.left < 0 || box.right > innerWidth + 1;
  })
  .map(e => e.tagName + '.' + e.className + ' ' + e.textContent.trim().slice(0, 40))
"""

# Every text of a drawing that lies outside of it, and every one that is too faint (WCAG 2.2, 1.4.3).
DRAWN = """
() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const lum = c => parse(c).slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  return [...document.querySelectorAll('.plot text')].filter(e => {
    const box = e.getBoundingClientRect(), edge = e.closest('svg').getBoundingClientRect();
    const behind = e.parentElement.querySelector('rect[fill]') || e.closest('svg').querySelector('rect');
    const [a, b] = [lum(getComputedStyle(e).fill), lum(getComputedStyle(behind).fill)].sort((x, y) => y - x);
    const outside = box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 1;
    return outside || box.bottom > edge.bottom + 1 || (a + 0.05) / (b + 0.05) < 4.5;
  }).map(e => e.textContent);
}
"""

# Every heading of a column whose text runs into the next column.
OVERLAPPING = """
() => [...document.querySelectorAll('thead th')]
  .filter(e => e.scrollWidth > e.clientWidth + 1)
  .map(e => e.textContent.trim())
"""

# Every element with text of its own whose contrast with what is behind it is below 4.5 (WCAG 2.2, 1.4.3).
CONTRAST = """
() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const lum = ([r, g, b]) => [r, g, b].map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('body *')]
    .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
    .filter(e => {
      const [a, b] = [lum(parse(getComputedStyle(e).color)), lum(behind(e))].sort((x, y) => y - x);
      return (a + 0.05) / (b + 0.05) < 4.5;
    })
    .map(e => e.tagName + '.' + e.className);
}
"""


@pytest.mark.full
def test_script_in_texts_does_not_run(page: Page, filled: FilledSite, redacting: Redacting):
    run_id = leak(filled, " ".join(SCRIPTS))
    server = Running(filled.site, redacting)
    try:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"http://127.0.0.1:{server.port}/{server.secret}/runs/{run_id}/instances-1.html")
        assert "owned" not in page.title()
        assert "<script>" in page.inner_text(".start")
        page.click("details.case > summary")
        assert "<script>" in page.inner_text(".answer")
        assert all(url.startswith(f"http://127.0.0.1:{server.port}/") for url in asked)
        assert page.complaints == []  # type: ignore[attr-defined]
    finally:
        server.stop()


@pytest.mark.full
def test_everything_can_be_reached_by_keyboard(page: Page, folder: Path, run_id: str):
    page.goto((folder / "runs" / run_id / "instances-1.html").as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.includes('Instance 1\\n')"):
            page.keyboard.press("Enter")
        reached.add(
            page.evaluate(
                "document.activeElement.tagName + ' ' + document.activeElement.textContent.trim()"
            )
        )
    assert {"A Next", "A Last", "SUMMARY Prompt"} <= reached


def test_pages_work_with_scripting_off(browser: Browser, folder: Path, run_id: str):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "runs" / run_id / "instances-1.html").as_uri())
    page.click("details.case > summary >> nth=0")
    assert page.locator("details.case .answer >> nth=0").is_visible()
    page.click("text=Next >> nth=0")
    assert "Page 2 of 3" in page.inner_text(".pager >> nth=0")
    context.close()
