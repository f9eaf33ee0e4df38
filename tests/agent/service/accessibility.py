"""What axe finds on a page."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# All rules; of those that a page keeps, axe writes down less.
_OPTIONS = {"resultTypes": ["violations"]}


def find_violations(page: Page) -> list[dict[str, Any]]:
    """Return the rules of axe that a page breaks, each with the elements that break it."""
    found: list[dict[str, Any]] = Axe().run(page, options=_OPTIONS).response["violations"]
    return found
