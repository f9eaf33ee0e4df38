"""What a jury gave, in a real browser: wide and narrow, light and dark, by keyboard."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from agent.io.progress import Progress
from agent.metrics import Judge
from agent.redaction.gateway.cases import Redacting
from agent.service.files import write_pages
from agent.service.pages import SitePages
from agent.vocabulary import Reason, Response
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.judged import JUDGES, add_judged, verdict
from tests.agent.service.test_in_a_browser import CONTRAST, HIDDEN, browser, pytestmark  # noqa: F401

LONG = Judge("d", "m/m", "a-judge-of-a-very-long-name-" * 4)
WORDS = "The answer names the dose, the interval and what to avoid. " * 6 + "unbroken" * 40


@pytest.fixture
def instances(filled: FilledSite, redacting: Redacting, tmp_path: Path) -> Path:
    """The page of instances of a judged run."""
    thought = Response("Hm. " + "x" * 300, "I weigh it. " * 30, "length", 1, 1, 0.1)
    add_judged(
        filled,
        [case(0, prompt="MRN: 00451234 asks of aspirin"), case(1)],
        {
            0: [[verdict(4.5, WORDS)], [thought, verdict(3, WORDS)], Reason.TIMEOUT],
            1: [["no", "no"], [verdict(1)], ["", ""]],
        },
        judges=[*JUDGES[:2], LONG],
    )
    with filled.site.store() as store:
        write_pages(SitePages("s", store, redacting), tmp_path / "out", Progress(quiet=True))
    (page,) = (tmp_path / "out").glob("runs/*/instances-1.html")
    return page


@pytest.mark.sample(2)
@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_jurys_words_fit_the_window_and_stand_out(
    browser: Browser,  # noqa: F811
    instances: Path,
    width: int,
    scheme: str,
):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    for path in (instances, instances.with_name("index.html")):
        page.goto(path.as_uri())
        for summary in page.locator("details.case > summary, .jury summary").all():
            summary.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert (page.evaluate(HIDDEN), page.evaluate(CONTRAST)) == ([], []), path
    context.close()


def test_every_reply_is_opened_by_keyboard_without_script(browser: Browser, instances: Path):  # noqa: F811
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(instances.as_uri())
    replies = page.locator(".jury details")
    assert replies.count() == 8
    page.locator("details.case > summary >> nth=0").press("Enter")
    replies.nth(1).locator("summary").focus()
    page.keyboard.press("Enter")
    assert page.get_by_text("I weigh it.").first.is_visible()
    assert not replies.nth(2).locator(".text").first.is_visible()
    context.close()
