"""A result goes from a browser to a real aggregator process: drafted, signed elsewhere, handed in, sent, receipted.

The pages are clicked through without script, and the steward's tool runs in a process of its own.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import agent.cli.main  # noqa: F401 (makes the commands known that jobs consist of)
from agent.site.directory import Site
from tests.agent.service.web.running_service import PASSWORD, RunningService, add_people
from tests.agent.service.web.test_service_in_a_browser import browser
from tests.end_to_end.life import MODEL, Life

__all__ = ["browser"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.full,
    pytest.mark.skipif(
        shutil.which("chromium") is None, reason="the distribution's chromium is not installed"
    ),
]


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    """A site that is enrolled with an aggregator in a process of its own, and has run a benchmark."""
    life = Life(tmp_path / "life")
    life.found("https://unreachable.example")
    life.evaluate()
    with life.serving_aggregator() as port:
        life.set(aggregator_url=f"http://127.0.0.1:{port}")
        life.join()
        yield life


@pytest.fixture
def service(life: Life) -> Iterator[RunningService]:
    site = Site(life.site)
    add_people(site)
    running = RunningService(site)
    yield running
    running.stop()


def sign_in(browser: Browser, service: RunningService, name: str) -> Page:
    page = browser.new_context(java_script_enabled=False, accept_downloads=True).new_page()
    page.goto(service.origin)
    page.fill("#name", name)
    page.fill("#password", PASSWORD)
    page.click("main button")
    return page


def test_a_result_goes_from_the_browser_to_the_aggregators_log(
    browser: Browser, service: RunningService, life: Life, tmp_path: Path
) -> None:
    dana = sign_in(browser, service, "dana")
    dana.click("nav >> text=Outbox")
    dana.click("main >> text=Prepare results")
    dana.select_option("#suite", life.suite)
    dana.click("text=What would it report?")
    assert "12 of" in dana.inner_text("main")
    dana.click("text=Draft 1 result")
    digest = dana.url.rsplit("/", 1)[1]
    assert life.states() == ["prepared"]

    stella = sign_in(browser, service, "stella")
    stella.click("nav >> text=Outbox")
    assert "1 draft waits for your decision" in stella.inner_text("main")
    stella.click(f"text=result {digest[:12]}")
    payload = stella.inner_text("pre")
    stella.click("nav >> text=Outbox")
    with stella.expect_download() as download:
        stella.click("text=Download the request")
    request, signed = tmp_path / "request.json", tmp_path / "signed.json"
    download.value.save_as(request)
    words = (*life.with_key, "--root", life.root_keyid(), "--out", signed)
    shown = life.as_steward("approve", request, *words, answers="y\n")
    # The tool, which breaks the line, shows the same bytes as the page did.
    assert "".join(payload.split()) in "".join(shown.split())
    stella.set_input_files("#file", signed)
    stella.click("text=Hand in signed drafts")
    assert life.states() == ["approved"]
    stella.click("text=Send what is approved")
    assert life.states() == ["receipted"]
    assert life.log_size() == 2  # the first entry is the enrolment

    stella.click("nav >> text=Receipts")
    stella.click(f"text=result {digest[:12]}")
    assert "Verified just now: this statement is entry 1" in stella.inner_text("main")
    dana.goto(f"{service.origin}/outbox/{digest}")
    assert "the site holds the receipt that proves it" in dana.inner_text("main")
    assert MODEL in dana.inner_text("main")
