"""Clinicians grade answers on pages: blinded, resumable, and locked when they have finished."""

import re

import pytest
from playwright.sync_api import Browser

from tests.agent.calibration.graded_site import BENCHMARK, CANARY, MODELS, add_graded
from tests.agent.service.accessibility import find_violations
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.web.running_service import Browser as Reader
from tests.agent.service.web.running_service import RunningService
from tests.agent.service.web.test_service_in_a_browser import (
    CHROMIUM,
    browser,
    press_until,
    sign_in_by_keyboard,
)

__all__ = ["browser"]
NAME = "spring-sample"
ADDRESS = f"/rating/of/{NAME}"


@pytest.fixture
def graded(filled: FilledSite, running: RunningService) -> RunningService:
    """A service with a calibration of six answers, which nobody has begun to grade."""
    add_graded(filled, count=4)
    fields = {"items": "6", "raters": "2", "seed": "1"}
    made = running.sign_in("dana").submit(
        "/rating/new", name=NAME, of=f"spring/{BENCHMARK}", **fields
    )
    assert made.status_code == 303, made.text
    return running


def begin(graded: RunningService, name: str) -> tuple[Reader, str]:
    """Begin to grade; return the reader, and the page of the first answer."""
    reader = graded.sign_in(name)
    begun = reader.submit(f"{ADDRESS}/begin")
    assert begun.status_code == 303
    return reader, begun.headers["location"].partition("#")[0]


def list_fields(page: str) -> dict[str, str]:
    """Return a grade for each question of a page."""
    return dict.fromkeys(re.findall(r'name="(grade-\d+)"', page), "4")


def test_the_page_of_an_answer_names_neither_model_nor_patient(graded: RunningService):
    vera, item = begin(graded, "vera")
    for _ in range(6):
        page = vera.get(item).text
        assert not any(model.rpartition("/")[2] in page for model in MODELS)
        assert CANARY not in page
        item = vera.submit(item, **list_fields(page)).headers["location"].partition("#")[0]
    assert item == ADDRESS


def test_grading_goes_on_where_it_was_left(graded: RunningService):
    vera, first = begin(graded, "vera")
    following = vera.submit(first, **list_fields(vera.get(first).text)).headers["location"]
    later = graded.sign_in("vera")
    assert "1 of 6 rated" in later.get(ADDRESS).text
    assert following.partition("#")[0] in later.get(ADDRESS).text
    assert 'value="4" required checked' in later.get(first).text


def test_another_clinician_sees_none_of_the_grades(graded: RunningService):
    vera, first = begin(graded, "vera")
    vera.submit(first, **list_fields(vera.get(first).text))
    dan, _ = begin(graded, "dan")
    assert "0 of 6 rated" in dan.get(ADDRESS).text
    assert " checked" not in dan.get(first).text
    third = graded.sign_in("dana")
    assert "as many clinicians as it was made for" in third.get(ADDRESS).text
    assert third.submit(f"{ADDRESS}/begin").status_code == 400


@pytest.mark.parametrize("grade", ["6", "-1", "good", "4.5.6"])
def test_a_grade_off_the_scale_is_refused_and_kept_in_the_form(graded: RunningService, grade: str):
    vera, first = begin(graded, "vera")
    fields = dict.fromkeys(list_fields(vera.get(first).text), grade)
    refused = vera.submit(first, **fields)
    assert refused.status_code == 400
    assert 'role="alert"' in refused.text
    assert "0 of 6 rated" in vera.get(ADDRESS).text


def test_grades_are_locked_by_finishing(graded: RunningService):
    vera, first = begin(graded, "vera")
    fields = list_fields(vera.get(first).text)
    vera.submit(first, **fields)
    assert "5 answers are not rated yet" in vera.get(f"{ADDRESS}/finish").text
    assert vera.submit(f"{ADDRESS}/finish").status_code == 303
    assert "finished: they no longer change" in vera.get(ADDRESS).text
    assert "Save and next" not in vera.get(first).text
    assert vera.submit(first, **dict.fromkeys(fields, "1")).status_code == 400
    assert 'value="4" required checked' in vera.get(first).text


def test_who_has_not_begun_cannot_grade(graded: RunningService):
    _, first = begin(graded, "vera")
    dan = graded.sign_in("dan")
    assert dan.get(first).status_code == 400
    assert dan.submit(first, **{"grade-0": "4"}).status_code == 400
    assert graded.sign_in("stella").get("/rating").status_code == 403


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="the distribution's chromium is not installed")
@pytest.mark.parametrize("width", [320, 1280])
def test_answers_are_graded_by_keyboard(browser: Browser, graded: RunningService, width: int):
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = sign_in_by_keyboard(context, graded, "vera")
    for selector, address in (
        ("a[href='/rating']", "**/rating"),
        (f"a[href='{ADDRESS}']", f"**{ADDRESS}"),
        ("main form button", "**/items/*"),
    ):
        press_until(page, selector)
        page.keyboard.press("Enter")
        page.wait_for_url(address)
        assert find_violations(page) == [], page.url
        assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url
    first = page.url
    for number in range(page.locator("main fieldset").count()):
        press_until(page, f"input[name='grade-{number}']")
        page.keyboard.press("ArrowRight")
    press_until(page, "main form button")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: "/items/" in address and address != first)
    page.goto(graded.origin + ADDRESS)
    assert "1 of 6 rated" in page.inner_text("main")
    context.close()
