"""Reads drawn pages: their text, and the row of a model."""

import re

from agent.service.pages import SitePages

SUITE = "suites/november/index.html"


def draw_html(pages: SitePages, path: str) -> str:
    page = pages.draw_page(path)
    assert page is not None
    return page.content.decode()


def find_row(page: str, model: str) -> str:
    """The first row of a table that names the model, with the white space of its source folded."""
    start = page.index("<tr", page.rindex("</tr>", 0, page.index(model)))
    return re.sub(r"\s+", " ", page[start : page.index("</tr>", start)])
