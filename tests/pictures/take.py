"""Take the pictures of README.md: the board that a demo published, and an instance of its language model.

python -m tests.pictures.take intramural-demo
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).parents[2] / "docs/pictures"
SIZE = {"width": 1200, "height": 860}
"""Of the browser's window, in CSS pixels: as many of a page as a reader of README.md sees of it."""


def take_pictures(demo: Path) -> None:
    """Take both pictures. Raises FileNotFoundError if the demo has not been run to its end."""
    chromium = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as pages, sync_playwright() as playwright:
        export_pages(demo / "site", Path(pages) / "view")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        take_board(browser, demo)
        take_instance(browser, Path(pages) / "view")
        browser.close()


def export_pages(site: Path, folder: Path) -> None:
    """Write the site's pages as files, redacted as for any reader."""
    program = Path(sys.executable).parent / "intramural"
    command = [program, "--site", site, "view", "--export", folder]
    subprocess.run([str(part) for part in command], check=True)


def take_board(browser: Browser, demo: Path) -> None:
    """Take the first screen of the published board."""
    page = open_page(browser, next(demo.glob("*/index.html")))
    page.screenshot(path=FOLDER / "board.png")


def take_instance(browser: Browser, folder: Path) -> None:
    """Take a question that the language model answered rightly, opened in its run's page."""
    page = open_page(browser, find_instances(folder))
    instance = page.locator("details").filter(has=page.locator("summary", has_text="right")).first
    instance.locator("summary").first.click()
    instance.scroll_into_view_if_needed()
    page.evaluate(
        "element => window.scrollBy(0, element.getBoundingClientRect().top - 16)",
        instance.element_handle(),
    )
    page.screenshot(path=FOLDER / "instance.png")


def find_instances(folder: Path) -> Path:
    """Return the page of instances of HEAD-QA that the demo's language model answered."""
    for page in sorted(folder.glob("runs/*/instances-1.html")):
        title = page.read_text("utf-8").partition("</title>")[0]
        if "SmolLM2" in title and "HeadQA" in title:
            return page
    raise FileNotFoundError("the demo has no answers of a language model to HEAD-QA")


def open_page(browser: Browser, path: Path) -> Page:
    """Open a file in a window of its own, at twice the resolution, without animations."""
    context = browser.new_context(
        viewport=SIZE, device_scale_factor=1, color_scheme="light", reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(path.resolve().as_uri())
    return page


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Take the pictures of README.md.")
    parser.add_argument("demo", type=Path, help="the folder of a demo that was run to its end")
    take_pictures(parser.parse_args().demo)
