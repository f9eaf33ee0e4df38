"""The review of redaction, forms of runs and schedules in a real browser: by keyboard, with and without script."""

import shutil

import pytest
from playwright.sync_api import Browser, Page

from agent.store import Account, JobProgress
from tests.agent.service.accessibility import find_violations
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.web.running_service import PASSWORD, RunningService
from tests.agent.service.web.test_job_pages import end, queue, write_log
from tests.agent.service.web.test_redaction_pages import REVIEW, WARD, note
from tests.agent.service.web.test_service_in_a_browser import (
    browser,
    press_until,
    sign_in_by_keyboard,
)

__all__ = ["browser"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        shutil.which("chromium") is None, reason="the distribution's chromium is not installed"
    ),
]
Pages = dict[str, tuple[str, ...]]


@pytest.fixture
def pages(filled: FilledSite, running: RunningService, people: dict[str, Account]) -> Pages:
    """Every page of this part with something on it, by the person who looks at it."""
    owner = people["dana"].account_id
    run_id = filled.add(
        [case(number, prompt=f"{note(number)}\n\nPlan:\n  rest. " * 3) for number in range(3)],
        access="gated",
        owner=owner,
    )
    hidden = filled.add([case(0)], suite="private-suite", owner=owner, private=True)
    open_job, ended_job = queue(filled, owner, "nightly run"), queue(filled, owner, "weekly run")
    queue(filled, owner, "the third run")
    end(filled, ended_job, 9, "some instances have no answer; queue the job again")
    write_log(filled, ended_job, "--- attempt 1 ---\nasking 20 of 20\nerror: 3 without an answer\n")
    with filled.site.store() as store:
        store.jobs.add_schedule("0 3 * * *", open_job.command, 1_800_000_000)
    stella = running.sign_in("stella")
    stella.submit("/redaction/new", name="first", suite="november", records="3", seed="1")
    stella.submit(f"{REVIEW}/records/2", words=WARD, entity="LOCATION", step="save")
    return {
        "stella": (
            "/redaction", "/redaction/new", REVIEW, f"{REVIEW}/records/1", f"{REVIEW}/records/2", f"{REVIEW}/delete",
        ),
        "dana": (
            f"/results/runs/{run_id}/index.html", f"/results/runs/{hidden}/index.html", f"/runs/{run_id}/delete",
            "/jobs", f"/jobs/{open_job.job_id}", f"/jobs/{ended_job.job_id}", f"/jobs/{ended_job.job_id}/log",
            "/jobs/schedules", "/new-run",
        ),
    }  # fmt: skip


def sign_in(page: Page, running: RunningService, name: str) -> None:
    page.goto(running.origin)
    page.fill("#name", name)
    page.fill("#password", PASSWORD)
    page.click("main button")
    page.wait_for_url(f"{running.origin}/")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_no_page_is_wider_than_a_telephone(
    browser: Browser, running: RunningService, pages: Pages, scheme: str
):
    faults: list[str] = []
    for name, paths in pages.items():
        context = browser.new_context(
            color_scheme=scheme,  # type: ignore[arg-type]
            viewport={"width": 320, "height": 640},
        )
        page = context.new_page()
        sign_in(page, running, name)
        for path in paths:
            page.goto(running.origin + path)
            found = find_violations(page)
            faults += [f"{path}: {fault['id']}" for fault in found]
            if page.evaluate("document.documentElement.scrollWidth") > 320:
                faults.append(f"{path}: wider than 320 px")
        context.close()
    assert faults == []


def test_a_steward_reviews_by_keyboard_alone(
    browser: Browser, filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    del people
    filled.add([case(number, prompt=note(number)) for number in range(2)], access="gated")
    context = browser.new_context()
    page = sign_in_by_keyboard(context, running, "stella")
    press_until(page, "a[href='/redaction']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/redaction")
    press_until(page, "main a[href='/redaction/new']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/redaction/new")
    press_until(page, "#name")
    page.keyboard.type("first")
    press_until(page, "main button")
    page.keyboard.press("Enter")
    page.wait_for_url("**/redaction/of/first")
    press_until(page, "main a.button")
    page.keyboard.press("Enter")
    page.wait_for_url("**/records/1#main")
    # The first mark is a false alarm; the ward was missed.
    press_until(page, "input[name='wrong']")
    page.keyboard.press("Space")
    press_until(page, "#words-1")
    page.keyboard.type(WARD)
    page.keyboard.press("Tab")
    page.keyboard.type("pla")
    press_until(page, "button[value='save']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/records/2#main")
    press_until(page, "button[value='save']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/redaction/of/first")
    main = page.inner_text("main")
    assert "Every record is reviewed." in main
    assert "place" in main
    with filled.site.store() as store:
        marked = [text.content for text in store.reviews.read_texts("first", 1) if text.content]
    missed = [text["text"][start:stop] for text in marked for start, stop, _ in text["missed"]]
    assert missed == [WARD]
    assert sum(len(text["wrong"]) for text in marked) == 1
    context.close()


def select_words(page: Page, start: str, end: str) -> None:
    """Select from the first occurrence of `start` in a reviewed text to that of `end` behind it, as a mouse would."""
    page.evaluate(
        """([start, end]) => {
            const text = document.querySelector(".reviewed .text");
            const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
            const range = document.createRange();
            let begun = false;
            for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                if (!begun && node.data.includes(start)) {
                    range.setStart(node, node.data.indexOf(start));
                    begun = true;
                }
                if (begun && node.data.includes(end)) {
                    range.setEnd(node, node.data.indexOf(end) + end.length);
                    break;
                }
            }
            getSelection().removeAllRanges();
            getSelection().addRange(range);
        }""",
        [start, end],
    )
    page.wait_for_timeout(50)


def test_a_miss_is_marked_by_selecting_it(
    browser: Browser, filled: FilledSite, running: RunningService, pages: Pages
):
    del pages
    context = browser.new_context()
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    sign_in(page, running, "stella")
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"{running.origin}{REVIEW}/records/1")
    button = page.locator("#take")
    assert button.is_visible()
    button.click()  # nothing is selected: only the focus moves
    assert page.input_value("#words-1") == ""
    select_words(page, "blue", "pavilion")
    button.click()
    assert page.input_value("#words-1") == WARD
    assert page.evaluate("document.activeElement.id") == "words-1"
    # Across a mark: its label is not part of the words. And by the keyboard, which moves the focus away from the text.
    select_words(page, "by ", "Kowalski")
    press_until(page, "#take", key="Shift+Tab")
    page.keyboard.press("Enter")
    assert page.input_value("#words-2") == "by Dr. Anna Kowalski"
    page.fill("#words-2", "")
    page.select_option("#entity-1", "LOCATION")
    page.click("button[value='add']")
    page.wait_for_url("**/records/1#missed")
    assert page.locator("mark.missed").count() == 3  # every occurrence in the record
    assert complaints == []
    with filled.site.store() as store:
        assert all(text.figures is None for text in store.reviews.read_texts("first", 1))
    context.close()


def test_the_same_review_is_clicked_through_without_script(
    browser: Browser, running: RunningService, pages: Pages
):
    del pages
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, running, "stella")
    page.click("text=Redaction")
    page.click("main >> text=first")
    page.click("text=Go on with the next record")
    assert not page.locator("#take").is_visible()
    page.fill("#words-1", "no such words")
    page.click("text=Save and next")
    assert "are not in these texts" in page.inner_text("[role=alert]")
    page.fill("#words-1", WARD)
    page.click("text=Save and next")
    assert "Record 3 of 3" in page.inner_text("h1")
    page.click("text=Save and next")
    assert "Every record is reviewed." in page.inner_text("main")
    page.check("input[name='confirmed']")
    with page.expect_download() as download:
        page.click("main >> text=Download")
    assert download.value.suggested_filename == "gold.jsonl"
    page.click("text=Delete this review")
    page.check("input[name='confirmed']")
    page.click("main button")
    assert "There is no review yet." in page.inner_text("main")
    context.close()


def test_a_run_is_hidden_shown_and_deleted_without_script(
    browser: Browser, running: RunningService, pages: Pages
):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, running, "dana")
    page.goto(running.origin + pages["dana"][0])
    page.click("main >> text=Keep from others")
    assert "Only its owner sees this run" in page.inner_text("main")
    page.click("main >> text=Show to others")
    assert "Only its owner sees this run" not in page.inner_text("main")
    page.click("main >> text=Delete this run")
    assert "What stays" in page.inner_text("main")
    page.click("text=Keep it")
    page.click("main >> text=Delete this run")
    page.click("main form button")
    assert page.url == f"{running.origin}/results/index.html"
    context.close()


def test_a_schedule_is_made_and_ended_by_keyboard(
    browser: Browser, running: RunningService, pages: Pages
):
    ended_job = pages["dana"][5]
    context = browser.new_context()
    page = sign_in_by_keyboard(context, running, "dana")
    page.goto(running.origin + ended_job)
    press_until(page, "main summary")
    page.keyboard.press("Enter")
    press_until(page, "#cron")
    page.keyboard.type("0 4 * * SUN")
    press_until(page, "form[action$='/repeat'] button")
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/schedules")
    assert page.locator("main tbody tr").count() == 2
    assert "0 4 * * SUN" in page.inner_text("main")
    press_until(page, "form[action$='/end'] button")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('main tbody tr').length === 1")
    context.close()


def test_the_progress_of_a_job_is_updated_until_its_end(
    browser: Browser, filled: FilledSite, running: RunningService, pages: Pages
):
    """The page is not loaded again meanwhile: what its reader opened or entered stays."""
    job_id = pages["dana"][4].rsplit("/", 1)[1]
    context = browser.new_context()
    page = context.new_page()
    page.clock.install()
    sign_in(page, running, "dana")
    page.goto(f"{running.origin}/jobs/{job_id}")
    page.click("main summary")
    page.fill("#cron", "0 5 * * *")
    with filled.site.store() as store:
        store.jobs.begin(job_id, 1.0)
    page.clock.run_for(5_100)
    page.wait_for_selector("#progress[data-state='running']")
    page.click("main summary")
    page.fill("#cron", "0 5 * * *")
    with filled.site.store() as store:
        progress = JobProgress("PubMedQA", "asking", 3, 0, 9, 2.0, "8 s left", 1.0)
        store.jobs.report(job_id, progress)
    page.clock.run_for(5_100)
    page.wait_for_selector("text=3 of 9")
    assert page.input_value("#cron") == "0 5 * * *"
    with filled.site.store() as store:
        store.jobs.end(job_id, 0, 2.0)
    page.clock.run_for(5_100)
    page.wait_for_selector("text=Run it again")
    assert page.locator("script").count() == 0
    context.close()
