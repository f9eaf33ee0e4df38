"""Reads drawn pages: their text, and the row of a model."""

import re

from agent.service.pages import SitePages

SUITE = "suites/november/index.html"
BENCHMARK = "suites/november/benchmarks/pubmed_qa.html"


def draw_html(pages: SitePages, path: str) -> str:
    page = pages.draw_page(path)
    assert page is not None
    return page.content.decode()


def find_matrix_row(page: str, name: str) -> str:
    """The first row of a suite's table with this heading, with the white space of its source folded."""
    row, *_ = re.findall(
        rf"<tr><th scope=\"row\">(?:<a [^>]*>)?{re.escape(name)}.*?</tr>", page, re.DOTALL
    )
    return re.sub(r"\s+", " ", row)


def find_row(page: str, model: str) -> str:
    """The first row of a table that names the model, with the white space of its source folded."""
    start = page.index("<tr", page.rindex("</tr>", 0, page.index(model)))
    return re.sub(r"\s+", " ", page[start : page.index("</tr>", start)])
